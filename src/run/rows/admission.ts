import type {Batch, InputRecord} from '../../input/row.ts';
import type {Answers, Waiter} from '../../lookup/answers.ts';
import type {PlannedCell} from '../../lookup/plan-row.ts';
import type {Layout} from '../layout/layout.ts';
import {type Stopper, stopFor} from '../stop.ts';
import {answerOf} from './enriched-row.ts';
import type {InOrder, PendingRecord} from './in-order.ts';

interface Stages {
  readonly layout: Layout;
  readonly window: InOrder;
  readonly answers: Pick<Answers, 'ask'>;
  readonly stopper: Stopper;
}

type ToAsk = Extract<PlannedCell, {status: 'ask'}>;

/**
 * plan → answers: rows enter the window in input order, and their lookups go to the chain. Lookups that have a
 * condition wait until the row's others are answered; whether they are asked depends on that row alone.
 */
export class Admission {
  readonly #stages: Stages;
  /** Cells whose condition holds, until their lookups are asked together. */
  #second: Waiter[] = [];
  #turn: NodeJS.Immediate | undefined;

  constructor(stages: Stages) {
    this.#stages = stages;
  }

  /** Takes these records; resolves when it may take more. */
  async admit({records, position}: Batch): Promise<void> {
    const {window, answers} = this.#stages;
    await window.room();
    const waiters: Waiter[] = [];
    for (const record of records) this.#admitRecord(record, position, waiters);
    await answers.ask(waiters);
    await this.#askSecond();
  }

  #admitRecord(record: InputRecord, position: PendingRecord['position'], waiters: Waiter[]): void {
    const {layout, window} = this.#stages;
    const planned: readonly PlannedCell[] = record.type === 'reject' ? [] : layout.mapping.planRow(record);
    const bytes = sizeOf(record, planned);
    const missing = planned.length;
    const entry: PendingRecord = {record, results: [], missing, bytes, position, queued: false};
    const later = layout.mapping.targets.flatMap(({when}, index) => {
      const plan = planned[index];
      return when !== undefined && plan?.status === 'ask' ? [{index, plan}] : [];
    });
    const isLater = (index: number) => later.some(some => some.index === index);
    let open = planned.length - later.length;
    const answered = () => {
      open -= 1;
      if (open === 0 && later.length > 0) this.#decide(entry, later);
    };
    for (const [index, plan] of planned.entries()) {
      if (isLater(index)) continue;
      if (plan.status === 'ask') {
        waiters.push({
          lookup: plan.lookup,
          tell: outcome => {
            window.complete(entry, index, outcome);
            answered();
          },
        });
      } else {
        window.complete(entry, index, plan);
        answered();
      }
    }
    if (planned.length === later.length && later.length > 0) this.#decide(entry, later);
    window.push(entry);
  }

  /** All that a row's conditions depend on is known. */
  #decide(entry: PendingRecord, later: readonly {readonly index: number; readonly plan: ToAsk}[]): void {
    const {layout, window} = this.#stages;
    const {record, results} = entry;
    if (record.type === 'reject' || layout.askWhich === undefined) return;
    const first = layout.mapping.targets.map(({when}, index) =>
      when === undefined ? results[index] : undefined,
    );
    entry.answers = first.map(answerOf);
    const asks = layout.askWhich({row: record, results: first, answers: entry.answers});
    for (const {index, plan} of later) {
      if (!asks(index)) window.complete(entry, index, {status: 'skipped', error: 'condition'});
      else this.#second.push({lookup: plan.lookup, tell: outcome => window.complete(entry, index, outcome)});
    }
    if (this.#second.length > 0) this.#turn ??= setImmediate(() => void this.#askSecond());
  }

  /** Asks what has gathered; a stopped run asks nothing more. */
  async #askSecond(): Promise<void> {
    const {answers, stopper} = this.#stages;
    clearImmediate(this.#turn);
    this.#turn = undefined;
    const waiters = this.#second;
    this.#second = [];
    if (waiters.length === 0 || stopper.reason !== undefined) return;
    try {
      await answers.ask(waiters);
    } catch (error) {
      stopper.stop(stopFor(error));
    }
  }
}

/**
 * What a row holds of memory while it waits: its text, and what JavaScript keeps beside it, as measured with a window
 * full of rows that had no answer (1.6 kB for three short cells of which two were asked).
 */
const BESIDE = {row: 400, field: 48, question: 450} as const;

function sizeOf(record: InputRecord, planned: readonly PlannedCell[]): number {
  const fields = record.type === 'csv' ? record.fields : [record.raw];
  const questions = planned.reduce((sum, {status}) => sum + (status === 'ask' ? BESIDE.question : 0), 0);
  return fields.reduce((sum, {length}) => sum + length + BESIDE.field, BESIDE.row + questions);
}
