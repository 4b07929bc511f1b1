import {BulkEnrichError} from '../../errors.ts';
import {objectRecord} from '../../input/objects.ts';
import type {InputRecord, ObjectRow, Reject} from '../../input/row.ts';
import type {EnrichedRow} from '../../output/encoder.ts';
import {countReject} from '../counts/counters.ts';
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

/** Takes a program's rows through the stages plan → answers → in order, and gives them back. */
export class Feed {
  readonly #session: Session;
  readonly #window = new InOrder();
  readonly #admission: Admission;
  /** The program's rows that are in the window, in input order. */
  readonly #given: unknown[] = [];

  constructor(session: Session) {
    this.#session = session;
    const {stopper, input, asking} = session;
    this.#admission = new Admission({
      layout: input.layout,
      lookups: asking.lookups,
      stopper,
      window: this.#window,
    });
  }

  /** Adds rows. Their numbers in the session begin at `first`. Resolves when the caller may give more rows. */
  async give(rows: readonly unknown[], first: number): Promise<void> {
    const {stopper} = this.#session;
    const records: InputRecord[] = [];
    try {
      try {
        for (const row of rows) records.push(objectRecord(row, first + records.length));
      } finally {
        this.#given.push(...rows.slice(0, records.length));
        await this.#admission.admit(records);
      }
    } catch (error) {
      // An error of the ledger stops the run. A row's own error, thrown by a getter, comes after the rows before it.
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

  /** The caller left, or the run ended. Finished rows can still be taken. */
  leave(): void {
    this.#window.abort();
  }
}
