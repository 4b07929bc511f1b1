import type {InputPosition, InputRecord} from '../../input/row.ts';
import type {Result} from '../../ledger/lookup.ts';
import type {RepairCode} from '../../operations/cell.ts';

/** A record on its way to the output; `results` fills up as answers come. */
export interface PendingRecord {
  readonly record: InputRecord;
  readonly results: (Result | undefined)[];
  /** What was repaired of its cells, by target; undefined where nothing was. */
  readonly repairs: readonly (readonly RepairCode[])[] | undefined;
  /** How many of its results are still missing. */
  missing: number;
  /** About the memory that it holds; it grows with the answers. */
  bytes: number;
  /** How far the input had been read when it came. */
  readonly position: InputPosition;
  /** Whether it is in the window. */
  queued: boolean;
  /** Answers that were parsed already, for the conditions of other lookups. */
  answers?: readonly unknown[];
}

/** An entry that has all its results. */
export type ReadyRecord = PendingRecord & {readonly results: readonly Result[]};

/** So few that rows are gone before the garbage collector has moved them to where what lasts is. */
const TAKE_AT_ONCE = 256;
/** Where complete rows wait only for the writer, reading on would fill the memory and gain nothing. */
const AHEAD_OF_WRITER = 2 * TAKE_AT_ONCE;

/**
 * Lets entries leave in the order they came in, each once its results are complete. Bounded in bytes, so that one slow
 * value stalls the rest only when that much has gathered behind it.
 */
export class InOrder {
  readonly #maxBytes: number;
  #entries: PendingRecord[] = [];
  #head = 0;
  #bytes = 0;
  #ended = false;
  #aborted = false;
  #wakeReader: (() => void) | undefined;
  #wakeWriter: (() => void) | undefined;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(entry: PendingRecord): void {
    entry.queued = true;
    this.#entries.push(entry);
    this.#bytes += entry.bytes;
    if (entry.missing === 0 && this.#entries.length - this.#head === 1) this.#wake();
  }

  /** One result of `entry` has come. */
  complete(entry: PendingRecord, index: number, result: Result): void {
    entry.results[index] = result;
    entry.missing -= 1;
    const bytes = 'data' in result ? (result.data?.length ?? 0) : 0;
    entry.bytes += bytes;
    if (entry.queued) this.#bytes += bytes;
    if (entry.missing === 0 && entry === this.#entries[this.#head]) this.#wake();
  }

  /** What is missing by now comes to this. */
  giveUp(result: Result): void {
    for (const entry of this.#entries.slice(this.#head))
      for (let index = 0; entry.missing > 0; index++)
        if (entry.results[index] === undefined) this.complete(entry, index, result);
  }

  /** Resolves when there is room for more. */
  async room(): Promise<void> {
    while (this.full || this.#writerIsBehind) {
      await new Promise<void>(resolve => {
        this.#wakeReader = resolve;
      });
    }
  }

  /** Whether the window is used up: all that was read waits for its head. */
  get full(): boolean {
    return this.#bytes >= this.#maxBytes && !this.#aborted;
  }

  get #writerIsBehind(): boolean {
    if (this.#aborted || this.#entries.length - this.#head < AHEAD_OF_WRITER) return false;
    return this.#entries[this.#head]?.missing === 0;
  }

  /** Nothing more will be pushed. */
  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** What is not complete by now never will be: the complete entries at the head are the last ones. */
  abort(): void {
    this.#aborted = true;
    this.#wake();
    this.#wakeReader?.();
  }

  /** The complete entries at the head, once there are any; undefined after the last. */
  async take(): Promise<ReadyRecord[] | undefined> {
    for (;;) {
      const ready = this.#takeReady();
      if (ready.length > 0) return ready;
      if (this.#aborted || (this.#ended && this.#head === this.#entries.length)) return undefined;
      await new Promise<void>(resolve => {
        this.#wakeWriter = resolve;
      });
    }
  }

  #takeReady(): ReadyRecord[] {
    const ready: ReadyRecord[] = [];
    while (ready.length < TAKE_AT_ONCE) {
      const entry = this.#entries[this.#head];
      if (entry === undefined || entry.missing > 0) break;
      this.#entries[this.#head] = undefined as unknown as PendingRecord;
      this.#head += 1;
      this.#bytes -= entry.bytes;
      ready.push(entry as ReadyRecord);
    }
    if (this.#head > 10_000 || this.#head === this.#entries.length) {
      this.#entries = this.#entries.slice(this.#head);
      this.#head = 0;
    }
    if (ready.length > 0) this.#wakeReader?.();
    return ready;
  }

  #wake(): void {
    this.#wakeWriter?.();
  }
}
