import {countReject} from '../../books/counters.ts';
import {BulkEnrichError} from '../../errors.ts';
import {objectRecord} from '../../input/objects.ts';
import type {InputPosition, InputRecord, ObjectRow, Reject} from '../../input/row.ts';
import type {Result} from '../../ledger/lookup.ts';
import type {EnrichedRow} from '../../output/encoder.ts';
import {logTrouble} from '../log.ts';
import type {Session} from '../session.ts';
import {stopFor} from '../stop.ts';
import {Admission} from './admission.ts';
import {InOrder} from './in-order.ts';

/** A row that a program passed to the run, with its result. */
export interface FedRow {
  readonly given: unknown;
  readonly row: EnrichedRow<ObjectRow> | Reject;
}

/**
 * Takes the rows of one caller through the stages plan → answers → in order. Callers share the session's answers,
 * pace and counts. Each caller has its own order and end.
 */
export class Feed {
  readonly #session: Session;
  readonly #window = new InOrder();
  readonly #admission: Admission;
  readonly #position: InputPosition;
  /** The caller's rows that are in the window, in input order. */
  readonly #given: unknown[] = [];
  #left = false;

  /** `isRequest`: the program waits for each single row, not for a list of rows. */
  constructor(session: Session, isRequest: boolean) {
    this.#session = session;
    const {stopper, input, asking} = session;
    this.#position = input.source.position;
    this.#admission = new Admission({
      layout: input.layout,
      answers: asking.answers,
      stopper,
      window: this.#window,
      isWanted: () => !this.#left,
      isRequest,
    });
  }

  /** Adds rows. Their numbers in the session begin at `first`. Resolves when the caller may give more rows. */
  async give(rows: readonly unknown[], first: number): Promise<void> {
    const {job, stopper} = this.#session;
    const {maxRecordSize} = job.settings;
    const records: InputRecord[] = [];
    try {
      try {
        for (const row of rows) records.push(objectRecord(row, first + records.length, maxRecordSize));
      } finally {
        this.#given.push(...rows.slice(0, records.length));
        await this.#admission.admit({records, position: this.#position});
      }
    } catch (error) {
      // An error of the ledger stops the run for all callers. A row's own error, thrown by a getter, does not.
      if (error instanceof BulkEnrichError) stopper.stop(stopFor(error));
      throw error;
    }
  }

  /** Resolves with finished rows from the head of the window, once there are any; undefined after the last row. */
  async take(): Promise<FedRow[] | undefined> {
    const {writer} = this.#session.output;
    const ready = await this.#window.take();
    if (ready === undefined) return undefined;
    logTrouble(this.#session, ready);
    return ready.map(entry => {
      const {record} = entry;
      const given = this.#given.shift();
      if (record.type === 'object') return {given, row: writer.judge(record, entry)};
      if (record.type !== 'reject') throw new Error('a feed has objects only');
      countReject(writer.counters, record);
      return {given, row: record};
    });
  }

  /** Number of rows that the caller gave, and whose results it has not taken. */
  get open(): number {
    return this.#given.length;
  }

  /** Notes that no more rows follow. */
  end(): void {
    this.#window.end();
  }

  /** Gives all missing results this value, and drops their calls unless they were sent. */
  giveUp(result: Result): void {
    this.#window.giveUp(result);
    this.#session.asking.executor.dropUnwanted();
  }

  /** The caller left: drops the calls of unfinished rows. Finished rows can still be taken. */
  leave(): void {
    this.#left = true;
    this.#window.abort();
    if (this.open > 0) this.#session.asking.executor.dropUnwanted();
  }
}
