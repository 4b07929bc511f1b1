import {listRepairs, type PlannedCell} from '../../columns/plan-row.ts';
import {CodedError} from '../../errors.ts';
import type {InputRecord, Row} from '../../input/row.ts';
import {type CellResult, type Lookup, makeInternalFailure} from '../../ledger/lookup-outcome.ts';
import type {Waiter} from '../../lookup/call.ts';
import type {Lookups} from '../../lookup/lookups.ts';
import {RowsError} from '../io.ts';
import type {Layout} from '../layout/layout.ts';
import {makeErrorStop, type Stopper} from '../stop.ts';
import {parseAnswer} from './answer-parser.ts';
import type {PendingRecord, ReorderBuffer} from './reorder-buffer.ts';

interface Stages {
  readonly layout: Layout;
  readonly window: ReorderBuffer;
  readonly lookups: Lookups;
  readonly stopper: Stopper;
}

/** A row of which some lookups have conditions. The conditions are decided stage by stage, as answers arrive. */
interface WaitingRow {
  readonly entry: PendingRecord;
  readonly planned: readonly PlannedCell[];
  /** Index of the stage whose conditions are decided next. */
  stage: number;
  open: number;
  /** Decides the next stage once no lookup is open. */
  readonly advance: () => void;
}

/** A cell that is looked up. The class has few fields, since a full window has very many of these objects. */
class AskedCell implements Waiter {
  readonly lookup: Lookup;
  readonly #stages: Stages;
  readonly #entry: PendingRecord;
  readonly #index: number;
  /** Undefined if no lookup of the row has a condition. */
  readonly #row: WaitingRow | undefined;

  constructor(
    stages: Stages,
    entry: PendingRecord,
    index: number,
    lookup: Lookup,
    row: WaitingRow | undefined,
  ) {
    this.lookup = lookup;
    this.#stages = stages;
    this.#entry = entry;
    this.#index = index;
    this.#row = row;
    if (row !== undefined) row.open += 1;
  }

  get row(): number {
    return this.#entry.record.record;
  }

  tell(result: CellResult): void {
    this.#stages.window.complete(this.#entry, this.#index, result);
    if (this.#row === undefined) return;
    this.#row.open -= 1;
    if (this.#row.open === 0) this.#row.advance();
  }
}

/**
 * plan → lookups: rows enter the window in input order, and their lookups go to {@link Lookups}. A lookup with a
 * condition waits until the row's lookups before it are answered. No condition depends on another row.
 */
export class RowAdmission {
  readonly #stages: Stages;
  /** Cells whose condition is true. They are submitted together, at the end of this turn of the event loop. */
  #second: Waiter[] = [];
  #turn: NodeJS.Immediate | undefined;

  constructor(stages: Stages) {
    this.#stages = stages;
  }

  /** Puts as many records into the window as it has room for, and submits their lookups. Resolves with their number. */
  async admit(given: readonly InputRecord[]): Promise<number> {
    const {window, lookups} = this.#stages;
    const records = given.slice(0, await window.waitForRoom());
    const waiters: Waiter[] = [];
    try {
      for (const record of records) this.#admitRecord(record, waiters);
    } finally {
      // Reading a program's row may throw. The rows before it are in the window, so their lookups are submitted.
      await lookups.ask(waiters);
    }
    await this.#askSecond();
    return records.length;
  }

  #admitRecord(record: InputRecord, waiters: Waiter[]): void {
    const {layout, window} = this.#stages;
    const {targets} = layout.mapping;
    const planned = record.type === 'reject' ? [] : this.#plan(record);
    const results = planned.map(plan => (plan.status === 'ask' ? undefined : plan));
    const entry: PendingRecord = {
      record,
      results,
      repairs: listRepairs(planned),
      missing: results.filter(result => result === undefined).length,
      bytes: sizeOf(record, planned),
      queued: false,
    };
    const row = layout.lookupConditions && this.#waitingRow(entry, planned);
    planned.forEach((plan, index) => {
      if (plan.status === 'ask' && targets[index]?.when === undefined)
        waiters.push(this.#asked(entry, index, plan.lookup, row));
    });
    if (row?.open === 0) this.#advance(row);
    window.push(entry);
  }

  #plan(row: Row): readonly PlannedCell[] {
    try {
      return this.#stages.layout.mapping.planRow(row);
    } catch (error) {
      throw row.type === 'object' ? new RowsError(error) : error;
    }
  }

  #asked(entry: PendingRecord, index: number, lookup: Lookup, row: WaitingRow | undefined): AskedCell {
    return new AskedCell(this.#stages, entry, index, lookup, row);
  }

  #waitingRow(entry: PendingRecord, planned: readonly PlannedCell[]): WaitingRow {
    const row: WaitingRow = {entry, planned, stage: 0, open: 0, advance: () => this.#advance(row)};
    return row;
  }

  /** Checks the conditions of the row's next stages, until it has to wait for the results of a stage. */
  #advance(row: WaitingRow): void {
    const {layout, window} = this.#stages;
    const {entry, planned} = row;
    const stages = layout.lookupConditions?.stages ?? [];
    while (row.open === 0 && row.stage < stages.length && entry.record.type !== 'reject') {
      const known = this.#knownBefore(row.stage, entry);
      const stage = stages[row.stage] ?? [];
      row.stage += 1;
      const open = stage.flatMap(index => {
        const plan = planned[index];
        return plan?.status === 'ask' ? [{index, plan}] : [];
      });
      if (open.length === 0) continue;
      const refusal = this.#condition(entry.record, entry, known);
      for (const {index, plan} of open) {
        const result = refusal(index);
        if (result === undefined) this.#second.push(this.#asked(entry, index, plan.lookup, row));
        else window.complete(entry, index, result);
      }
    }
    if (this.#second.length > 0) this.#turn ??= setImmediate(() => void this.#askSecond());
  }

  /** Returns a function that gives the result of a cell whose condition is false; undefined for a true one. */
  #condition(
    row: Row,
    entry: PendingRecord,
    results: readonly (CellResult | undefined)[],
  ): (index: number) => CellResult | undefined {
    const {mapping, lookupConditions, facts} = this.#stages.layout;
    try {
      entry.answers = mapping.targets.map(
        ({operation}, index) => entry.answers?.[index] ?? parseAnswer(results[index], operation),
      );
      const asks = lookupConditions?.asks({row, results, answers: entry.answers, shared: facts?.of(row)});
      return index => (asks?.(index) === true ? undefined : {status: 'skipped', error: 'condition'});
    } catch (thrown) {
      if (thrown instanceof CodedError) throw thrown;
      return () => makeInternalFailure(thrown);
    }
  }

  /** The row's results, without those of this stage and of later ones: no condition may depend on them. */
  #knownBefore(stage: number, {results}: PendingRecord): (CellResult | undefined)[] {
    const {layout} = this.#stages;
    const later = new Set(layout.lookupConditions?.stages.slice(stage).flat());
    return layout.mapping.targets.map((_, index) => (later.has(index) ? undefined : results[index]));
  }

  /** Submits the cells whose condition is true. If the run has stopped, drops them. */
  async #askSecond(): Promise<void> {
    const {lookups, stopper} = this.#stages;
    clearImmediate(this.#turn);
    this.#turn = undefined;
    const waiters = this.#second;
    this.#second = [];
    if (waiters.length === 0 || stopper.reason !== undefined) return;
    try {
      await lookups.ask(waiters);
    } catch (error) {
      stopper.stop(makeErrorStop(error));
    }
  }
}

/**
 * Bytes that a row in the window needs besides its text: for the row, each field and each lookup. Measured with a
 * window full of unanswered rows: 1.6 kB for three short cells with two lookups.
 */
const BESIDE = {row: 400, field: 48, question: 450} as const;

function sizeOf(record: InputRecord, planned: readonly PlannedCell[]): number {
  const waiters = planned.reduce((sum, {status}) => sum + (status === 'ask' ? BESIDE.question : 0), 0);
  if (record.type === 'object') return record.bytes + waiters;
  const fields = record.type === 'csv' ? record.fields : [record.raw];
  return fields.reduce((sum, {length}) => sum + length + BESIDE.field, BESIDE.row + waiters);
}
