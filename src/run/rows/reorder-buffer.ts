import type {InputRecord} from '../../input/row.ts';
import type {CellResult} from '../../ledger/lookup-outcome.ts';
import type {RepairCode} from '../../operations/cell.ts';

/** A record on its way to the output. `results` fills as answers arrive. */
export interface PendingRecord {
  readonly record: InputRecord;
  readonly results: (CellResult | undefined)[];
  /** Repairs of the record's cells, by target; undefined if there are none. */
  readonly repairs: readonly (readonly RepairCode[])[] | undefined;
  missing: number;
  /** Approximate bytes of memory of the record; they grow with its answers. */
  bytes: number;
  /** True once the record is in the window, which counts its bytes. A lookup that is excluded may have its result earlier. */
  queued: boolean;
  /** Answers that were parsed for the conditions of the record's other lookups, by target. */
  answers?: readonly unknown[];
}

export type ReadyRecord = PendingRecord & {readonly results: readonly CellResult[]};

/** Maximum bytes of records in the window. Behind one slow value, reading continues until this size. */
const WINDOW_BYTES = 64 * 1_048_576;
/** Maximum records taken at once. More would live so long that the garbage collector moves them to old space. */
const TAKE_AT_ONCE = 256;
/** Maximum records in the window and with the writer: those that it uses, and two groups that wait for it. */
const AHEAD = 3 * TAKE_AT_ONCE;

/** Maximum records taken at once if the window has a limit of its own: the next ones are looked up while these are used. */
const TAKE_FEW = 16;
/** Records that such a window has besides those whose calls may be in flight. */
export const BESIDE_CALLS = 2 * TAKE_FEW;

/** The window: releases records in input order, each once its results are complete. */
export class ReorderBuffer {
  #entries: PendingRecord[] = [];
  #head = 0;
  #bytes = 0;
  #open = 0;
  /** Number of records that the writer has taken and still uses. */
  #used = 0;
  readonly #most: (() => number) | undefined;
  #ended = false;
  #aborted = false;
  #wakeReader: (() => void) | undefined;
  #wakeWriter: (() => void) | undefined;

  /**
   * `most`: returns the maximum of records in the window and with the writer, {@link AHEAD} by default. While the writer
   * waits for a slow record, that many may lack results; by default any number.
   */
  constructor(most?: () => number) {
    this.#most = most;
  }

  push(entry: PendingRecord): void {
    entry.queued = true;
    if (entry.missing > 0) this.#open += 1;
    this.#entries.push(entry);
    this.#bytes += entry.bytes;
    if (entry.missing === 0 && this.#entries.length - this.#head === 1) this.#wakeWriter?.();
  }

  complete(entry: PendingRecord, index: number, result: CellResult): void {
    entry.results[index] = result;
    entry.missing -= 1;
    const bytes = 'data' in result ? (result.data?.length ?? 0) : 0;
    entry.bytes += bytes;
    if (entry.queued) this.#bytes += bytes;
    if (entry.queued && entry.missing === 0) {
      this.#open -= 1;
      if (this.#most !== undefined) this.#wakeReader?.();
    }
    if (entry.missing === 0 && entry === this.#entries[this.#head]) this.#wakeWriter?.();
  }

  /** Resolves when the window has room for more records, with their number. */
  async waitForRoom(): Promise<number> {
    while (this.full || this.#left <= 0) {
      await new Promise<void>(resolve => {
        this.#wakeReader = resolve;
      });
    }
    return this.#left;
  }

  get #left(): number {
    const isWaitedFor = this.#used === 0 && this.#entries[this.#head]?.missing !== 0;
    if (this.#aborted || (isWaitedFor && this.#most === undefined)) return Number.POSITIVE_INFINITY;
    const held = isWaitedFor ? this.#open : this.#entries.length - this.#head + this.#used;
    return (this.#most?.() ?? AHEAD) - held;
  }

  /** True if the window is full: reading pauses until the first record leaves. */
  get full(): boolean {
    return this.#bytes >= WINDOW_BYTES && !this.#aborted;
  }

  end(): void {
    this.#ended = true;
    this.#wakeWriter?.();
  }

  /** Notes that unfinished entries will never be complete. `take` still returns finished entries at the head. */
  abort(): void {
    this.#aborted = true;
    this.#wakeWriter?.();
    this.#wakeReader?.();
  }

  /** Resolves with the complete entries at the head, once there are any; with undefined after the last entry. */
  async take(): Promise<ReadyRecord[] | undefined> {
    this.#used = 0;
    this.#wakeReader?.();
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
    const most = this.#most === undefined ? TAKE_AT_ONCE : TAKE_FEW;
    while (ready.length < most) {
      const entry = this.#entries[this.#head];
      if (entry === undefined || entry.missing > 0) break;
      this.#entries[this.#head] = undefined as unknown as PendingRecord;
      this.#head += 1;
      this.#bytes -= entry.bytes;
      ready.push(entry as ReadyRecord);
    }
    this.#used = ready.length;
    if (this.#head > 10_000 || this.#head === this.#entries.length) {
      this.#entries = this.#entries.slice(this.#head);
      this.#head = 0;
    }
    if (ready.length > 0) this.#wakeReader?.();
    return ready;
  }
}
