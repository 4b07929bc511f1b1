import {setTimeout as sleep} from 'node:timers/promises';
import {adviseRepair, isBusyError, isDamageError, sqliteCode} from '../../disk/sqlite.ts';
import {systemReason} from '../../errors.ts';
import {type Operation, operations} from '../../operations/table.ts';
import {hashKey, type LookupKey} from '../lookup-outcome.ts';
import type {Ledger} from '../run/ledger.ts';
import type {KeyedAnswer} from '../run/ledger-entry.ts';
import {Claims} from './claims.ts';
import {type StoredRow, StoreFile} from './store-file.ts';
import {chooseBestAnswer, type KnownAnswer, type ValidityJudge} from './validity.ts';

const WRITE_AT_ONCE = 500;
/** Milliseconds after which a bought answer is written for other runs, at the latest. */
const WRITE_EVERY_MS = 100;
/** Milliseconds for which this process may block while another one writes a group of answers. */
const BUSY_TIMEOUT_MS = 250;
const POLL_EVERY_MS = 250;
const RETRY_EVERY_MS = 1_000;
/** Maximum milliseconds to wait for a locked store. After that, the run pays for values that may be in it. */
const PATIENCE_MS = 30_000;

/** Name under which the ledger keeps the number of its last answer that the store has, with all before it. */
export const STORED = 'stored';

/** The answers that a run has bought. The store reads from the ledger those that it could not write at once. */
export interface RunAnswers {
  readonly ledger: Ledger;
  /** Time of the run's first start, if it notes for later runs which values it asked for. */
  readonly turn?: number | undefined;
}

export interface StoreOptions {
  /** Returns the store's directory. It may throw. */
  readonly locate: () => string;
  /** Endpoint and account of the answers, as a {@link scopeKey}. */
  readonly scope: string;
  /** The output: verdicts are kept for it alone. Undefined for an output that does not last: none are kept. */
  readonly output?: string | undefined;
  readonly judge: ValidityJudge;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Called once if the store can't be used. The run continues without the store, and tries again later. */
  readonly onTrouble: (sentence: string) => void;
  readonly own?: RunAnswers | undefined;
  /** Milliseconds to wait for another program that has the store locked. */
  readonly patienceMs?: number | undefined;
}

export interface StoreTrouble {
  readonly cause: string;
  readonly missed: number;
}

/** A use of the store's file (reading or writing): since when it fails, and when to try it again. */
interface FileUse {
  /** Time of the first failure since the last success, by `performance.now`; undefined after a success. */
  since: number | undefined;
  retryAt: number;
}

const NO_FAILURE: FileUse = {since: undefined, retryAt: 0};

/** Answers that runs share. A fault of the store never ends a run. Without options it has no answers, and keeps none. */
export class AnswerStore {
  readonly #options: StoreOptions | undefined;
  readonly #reading = {...NO_FAILURE};
  readonly #writing = {...NO_FAILURE};
  /** The values that this run is buying, and others; undefined while the store can't be used. */
  #claims: Claims | undefined;
  /** The file has the run's own answers up to this number; undefined without a store. */
  stored: number | undefined;
  #directory: string | undefined;
  #file: StoreFile | undefined;
  #waiting: KeyedAnswer[] = [];
  /** Keys of values that the run asked for, to be noted. */
  readonly #asked = new Set<string>();
  /** Number of the waiting answers that the claims' file has, for the case of a kill. */
  #kept = 0;
  /** Answers that are in the ledger alone keep their claims, until the store has them. */
  #unstored: KeyedAnswer[] = [];
  /** Number of times that this run wrote answers of a killed one. */
  #inherited = 0;
  /** Number of the run's answers that only the ledger has: 0 before the ledger is read, undefined if none. */
  #missed: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** The file's version when it was last read. */
  #seen = 0;
  #error: unknown;
  /** True once the file is damaged or could not be opened: then it is not tried again. */
  #lost = false;
  #isTold = false;
  #isClosed = false;

  constructor(options?: StoreOptions) {
    this.#options = options;
    if (options === undefined) return;
    this.stored = options.own?.ledger.getMeta<number>(STORED) ?? 0;
    // A killed session may not have written its last answers to the store. With 0, the next flush reads them
    // from the ledger.
    if (options.own !== undefined) this.#missed = 0;
    this.#attempt(this.#reading, () => true);
  }

  /** Waits for a store that another program has locked, up to the maximum; undefined if there is nothing to wait for. */
  ready(): Promise<void> | undefined {
    if (this.#options === undefined || this.#readable()) return undefined;
    if (this.#waits(this.#reading.since)) return this.#becomesReadable();
    this.#tell();
    return undefined;
  }

  /** Answers for these keys; undefined if the store can't be read now. */
  find(keys: readonly string[], operation: Operation): Map<string, KnownAnswer> | undefined {
    const known = new Map<string, KnownAnswer>();
    if (this.#options === undefined) return known;
    const {judge} = this.#options;
    const filed = keys.map(key => this.#filedKey({operation, key}) ?? '');
    const found = this.#attempt(this.#reading, file => file.find(filed));
    if (found === undefined) return undefined;
    for (const [index, key] of keys.entries()) {
      const best = chooseBestAnswer({operation, key}, found.get(filed[index] ?? '') ?? [], judge);
      if (best !== undefined) known.set(key, best);
    }
    return known;
  }

  /** The data of the latest answers, of any age, from this endpoint and account that were bought before a time. */
  latest(operation: Operation, most: number, beforeMs = Number.MAX_SAFE_INTEGER): readonly unknown[] {
    return this.#attempt(this.#reading, file => file.latest(operation, most, beforeMs)) ?? [];
  }

  boughtWithin(fromMs: number, toMs: number): readonly (readonly [Operation, number])[] {
    return this.#attempt(this.#reading, file => file.boughtWithin(fromMs, toMs)) ?? [];
  }

  /** Notes the account's key; true if it is another key than that of the last run. */
  marksOther(key: string): boolean {
    return this.#attempt(this.#writing, file => file.marksOther(key)) === true;
  }

  /** Takes an answer, to write it for other runs a moment later. */
  put(answer: KeyedAnswer): void {
    if (this.#options === undefined) return;
    this.#waiting.push(answer);
    this.#writeSoon();
  }

  #writeSoon(): void {
    if (this.#waiting.length + this.#asked.size >= WRITE_AT_ONCE) this.#writeOut();
    else this.#timer ??= setTimeout(() => this.#writeOut(), WRITE_EVERY_MS).unref();
  }

  /** Notes that the run has asked for a value for which it may get no answer. */
  noteAsked({key}: LookupKey): void {
    if (this.#options?.own?.turn === undefined) return;
    this.#asked.add(key);
    this.#writeSoon();
  }

  /** By key: the time of the run that last asked for it, in milliseconds since the epoch. */
  askedAt(keys: readonly string[]): ReadonlyMap<string, number> {
    return this.#attempt(this.#reading, file => file.askedAt(keys)) ?? new Map();
  }

  hasAskedTimes(): boolean {
    return this.#attempt(this.#reading, file => file.hasAskedTimes()) === true;
  }

  /**
   * Writes waiting answers, and answers that could not be written before. Resolves with true if the file then has
   * every answer. `patiently`: if another program has the store locked, waits for it as long as {@link ready} does.
   */
  async flush(patiently = false): Promise<boolean> {
    if (this.#options === undefined) return false;
    for (const from = performance.now(); ; await sleep(POLL_EVERY_MS)) {
      this.#writeOut(patiently);
      if (await this.#catchUp(patiently)) return this.#writeOut(patiently);
      if (!patiently || !this.#waits(from)) return false;
    }
  }

  get trouble(): StoreTrouble | undefined {
    const missed = this.#missed ?? 0;
    const fails = this.#lost || this.#reading.since !== undefined || this.#writing.since !== undefined;
    return fails || missed > 0 ? {cause: causeOf(this.#error), missed} : undefined;
  }

  /**
   * Claims values before they are bought. Returns those that no other run is buying: all without a store. Search them in
   * the store once more: another run may just have bought them. A claim of {@link put} ends when the answer is written.
   */
  claim<Value extends LookupKey>(lookups: readonly Value[]): readonly Value[] {
    return this.#unclaimed(lookups, (claims, names) => {
      const bought =
        this.#file === undefined ? [] : this.#rowsOf(this.#file, this.#waiting.slice(this.#kept));
      this.#kept = this.#waiting.length;
      return claims.claim(names, bought);
    });
  }

  findFreed<Value extends LookupKey>(lookups: readonly Value[]): readonly Value[] {
    return this.#unclaimed(lookups, (claims, names) => claims.findFreed(names));
  }

  /** Ends the claims of values for which no answer came; with `isStored`, of those whose answers are stored. */
  release(lookups: readonly LookupKey[], isStored = false): void {
    if (lookups.length > 0)
      this.#claims?.release(lookups.map(lookup => this.#claimName(lookup)).filter(isDefined), isStored);
  }

  #unclaimed<Value extends LookupKey>(
    lookups: readonly Value[],
    find: (claims: Claims, names: readonly string[]) => readonly string[],
  ): readonly Value[] {
    const {now, onTrouble} = this.#options ?? {};
    if (this.#file === undefined || this.#directory === undefined || now === undefined) return lookups;
    this.#claims ??= new Claims(this.#directory, {
      ...{now, onTrouble: onTrouble ?? (() => {})},
      inherit: answers => this.#inherit(answers),
    });
    const names = lookups.map(lookup => this.#claimName(lookup));
    const free = new Set(find(this.#claims, names.filter(isDefined)));
    return lookups.filter((_, index) => names[index] === undefined || free.has(names[index]));
  }

  /** Names a value among those of all endpoints and accounts; undefined for a verdict that no other run could use. */
  #claimName(lookup: LookupKey): string | undefined {
    const key = this.#filedKey(lookup);
    // 36 and 96 bits of hashes: short names take less time, and a claim is only advice.
    return key && `${this.#options?.scope.slice(0, 6)}${key.slice(0, 16)}`;
  }

  /** A number that changes when another run writes to the store. */
  version(): number {
    this.#readable();
    return this.#seen + this.#inherited;
  }

  #inherit(answers: readonly StoredRow[]): boolean {
    const isWritten = this.#attempt(this.#writing, file => file.write(answers) ?? true) === true;
    this.#inherited += Number(isWritten);
    return isWritten;
  }

  close(): void {
    this.#writeOut(true);
    this.#claims?.close();
    this.#isClosed = true;
    this.#file?.close();
  }

  #readable(patiently = false): boolean {
    const version = this.#attempt(this.#reading, file => file.version(), patiently);
    this.#seen = version ?? this.#seen;
    return version !== undefined;
  }

  /** True if another program has the store locked, and the maximum wait from `since` on is not over. */
  #waits(since: number | undefined): boolean {
    if (this.#isClosed || this.#lost || since === undefined || !isBusyError(this.#error)) return false;
    return performance.now() - since < (this.#options?.patienceMs ?? PATIENCE_MS);
  }

  async #becomesReadable(): Promise<void> {
    while (this.#waits(this.#reading.since)) {
      await sleep(POLL_EVERY_MS);
      if (this.#readable(true)) return;
    }
    if (!this.#isClosed) this.#tell();
  }

  /** Writes waiting answers; true if the file then has all. Counts the others, which only the ledger has. */
  #writeOut(patiently = false): boolean {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#kept = 0;
    const isWritten = waiting.length + this.#asked.size === 0 || this.#write(waiting, patiently);
    if (!isWritten) this.#missed = (this.#missed ?? 0) + waiting.length;
    if (isWritten || !isBusyError(this.#error))
      this.release(waiting, isWritten && this.#unstored.length === 0);
    else this.#unstored.push(...waiting);
    if (this.#missed !== undefined || this.#options === undefined) return false;
    // The store gets each answer as soon as the ledger has booked it, under the next number.
    this.stored = this.#options.own?.ledger.bought ?? 0;
    return true;
  }

  #write(answers: readonly KeyedAnswer[], patiently: boolean): boolean {
    const write = (file: StoreFile) => {
      file.write([...this.#rowsOf(file, answers), ...this.#askedRows(file, [...this.#asked])]);
      return true;
    };
    const isWritten = this.#attempt(this.#writing, write, patiently) === true;
    // A file that can be written can be read.
    if (isWritten) Object.assign(this.#reading, NO_FAILURE);
    this.#asked.clear();
    return isWritten;
  }

  #rowsOf(file: StoreFile, answers: readonly KeyedAnswer[]): StoredRow[] {
    return answers.flatMap(answer => {
      const key = this.#filedKey(answer);
      return key === undefined ? [] : [file.rowOf({...answer, key}), ...this.#askedRows(file, [key])];
    });
  }

  #askedRows(file: StoreFile, keys: readonly string[]): StoredRow[] {
    const {turn} = this.#options?.own ?? {};
    return turn === undefined ? [] : keys.map(key => file.askedRow(key, turn));
  }

  /** Writes answers that only the ledger has, in groups between other work. Returns true if all are written. */
  async #catchUp(patiently: boolean): Promise<boolean> {
    const missed = this.#missed;
    if (missed === undefined) return true;
    // First writes an empty group: if that fails, the ledger need not be read.
    if (!this.#write([], patiently)) return false;
    const {ledger} = this.#options?.own ?? {};
    const upTo = ledger?.bought ?? 0;
    for (const answers of ledger?.answersAfter(this.stored ?? 0) ?? []) {
      if (!this.#write(answers, true)) return false;
      await sleep(0);
    }
    this.stored = upTo;
    this.release(this.#unstored.splice(0), true);
    // Keeps the number of answers that failed to be written meanwhile; undefined if there are none.
    this.#missed = (this.#missed ?? missed) - missed || undefined;
    return this.#missed === undefined;
  }

  /** The key of an answer in the file. A verdict is bought once for an output: another output asks the service. */
  #filedKey({operation, key}: LookupKey): string | undefined {
    if (!operations[operation].isRedeeming) return key;
    const output = this.#options?.output;
    return output === undefined ? undefined : hashKey(`${key}\0${output}`);
  }

  /** Returns the result of `work`; undefined if the file can't be used now. Later calls try it again. */
  #attempt<T>(use: FileUse, work: (file: StoreFile) => T, patiently = false): T | undefined {
    if (this.#options === undefined || this.#isClosed || this.#lost) return undefined;
    if (!patiently && performance.now() < use.retryAt) return undefined;
    const {locate, scope, now} = this.#options;
    try {
      this.#directory ??= locate();
      this.#file ??= new StoreFile(this.#directory, scope, now, BUSY_TIMEOUT_MS);
      const result = work(this.#file);
      Object.assign(use, NO_FAILURE);
      return result;
    } catch (error) {
      this.#error = error;
      const time = performance.now();
      use.since ??= time;
      use.retryAt = time + RETRY_EVERY_MS;
      if (!isBusyError(error)) this.#giveUp(error);
      return undefined;
    }
  }

  /** Closes the file after an error. Later calls open it again, unless that is pointless (`#lost`). */
  #giveUp(error: unknown): void {
    this.#lost = this.#file === undefined || isDamageError(error);
    this.#file?.close();
    this.#file = undefined;
    this.#tell();
  }

  #tell(): void {
    const where = this.#directory === undefined ? '' : ` in ${this.#directory}`;
    if (!this.#isTold)
      this.#options?.onTrouble(
        `The answer store${where} can't be used (${causeOf(this.#error)}), so lookups that it could have saved will cost credits. ${adviseRepair(this.#error)}`,
      );
    this.#isTold = true;
  }
}

const isDefined = (name: string | undefined) => name !== undefined;

function causeOf(error: unknown): string {
  return sqliteCode(error) ?? systemReason(error);
}
