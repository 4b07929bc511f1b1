import {type Operation, operationNames, perOperation} from '../operations/table.ts';
import {ServiceError} from './http/error-body.ts';

/**
 * Price of one call of each operation, in credits. The price is a setting (1 by default), since the service's interface
 * does not state it.
 */
export type Costs = Record<Operation, number>;

/** Counts of one operation's calls, by how they ended. */
export interface OperationLedger {
  /** Calls that were charged, or free by a test action id. */
  calls: number;
  /** The part of `calls` that was free by a test action id. */
  free: number;
  /** The part of `calls` without a usable answer: a practice fault came after the charge. */
  unanswered: number;
  credits: number;
  /** Rejected calls, by error code; they are free. */
  rejected: Record<string, number>;
}

/** The body of `GET /_ledger`: calls and their cost, since the service's state began. */
export interface ServiceLedger {
  /** Credits left; null without a limit. */
  balance: number | null;
  spent: number;
  operations: Record<Operation, OperationLedger>;
}

/** A change of the service's ledger, as the journal keeps it. */
export type LedgerEvent =
  | {op: Operation; cost: number; free?: boolean}
  | {op: Operation; unanswered: true}
  | {op: Operation; rejected: string};

const emptyOperation = (): OperationLedger => ({calls: 0, free: 0, unanswered: 0, credits: 0, rejected: {}});

export class Credits {
  readonly #costs: Costs;
  readonly #limit: number | undefined;
  readonly #keep: (event: LedgerEvent) => void;
  readonly #operations = perOperation(emptyOperation);

  /**
   * @param limit credits at the start; unlimited if left out
   *
   * @param keep receives each change before the answer is sent
   */
  constructor(costs: Costs, limit: number | undefined, keep: (event: LedgerEvent) => void) {
    this.#costs = costs;
    this.#limit = limit;
    this.#keep = keep;
  }

  get spent(): number {
    return operationNames.reduce((sum, name) => sum + this.#operations[name].credits, 0);
  }

  /**
   * Subtracts a call's cost from the balance.
   *
   * @throws ServiceError `out_of_credits` if the balance is below the cost.
   */
  charge(op: Operation, free: boolean): void {
    const cost = free ? 0 : this.#costs[op];
    if (this.#limit !== undefined && this.spent + cost > this.#limit)
      throw new ServiceError('out_of_credits');
    this.#record({op, cost, ...(free && {free})});
  }

  unanswered(op: Operation): void {
    this.#record({op, unanswered: true});
  }

  rejected(op: Operation, code: string): void {
    this.#record({op, rejected: code});
  }

  /** Restores the sums of an earlier process from the journal. */
  restore(operations: ServiceLedger['operations']): void {
    Object.assign(this.#operations, operations);
  }

  /** Adds an event to the sums: a new event, or one from the journal. */
  replay(event: LedgerEvent): void {
    const ledger = this.#operations[event.op];
    if ('rejected' in event) ledger.rejected[event.rejected] = (ledger.rejected[event.rejected] ?? 0) + 1;
    else if ('unanswered' in event) ledger.unanswered++;
    else {
      ledger.calls++;
      ledger.credits += event.cost;
      if (event.free) ledger.free++;
    }
  }

  ledger(): ServiceLedger {
    const {spent} = this;
    return {
      balance: this.#limit === undefined ? null : this.#limit - spent,
      spent,
      operations: structuredClone(this.#operations),
    };
  }

  #record(event: LedgerEvent): void {
    this.#keep(event);
    this.replay(event);
  }
}
