import {type Operation, operationNames, perOperation} from '../operations/table.ts';
import {ServiceError} from './http/error-body.ts';

/**
 * Price of one call of each operation, in credits. The user sets the prices (1 by default), since the interface of
 * the paid service states none.
 */
export type Costs = Record<Operation, number>;

/** Counts of one operation's calls, by how they ended. */
export interface OperationLedger {
  /** Calls that were not rejected: charged calls, and free calls of `/verify` with a test action id. */
  calls: number;
  /** The part of `calls` that was free: `/verify` with a test action id. */
  free: number;
  /** The part of `calls` whose answer was lost by a fault that the option `errorRate` causes. */
  unanswered: number;
  credits: number;
  /** Rejected calls, by error code; they are free. */
  rejected: Record<string, number>;
}

/** The body of `GET /_ledger`: calls and their cost since the service first started with its state directory. */
export interface ServiceLedger {
  /** Credits left; null without a limit. */
  balance: number | null;
  spent: number;
  operations: Record<Operation, OperationLedger>;
}

/** A change of the service's ledger, as the {@link Journal} stores it. */
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
   * @param keep stores each change of the ledger, before the client gets its answer
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

  /** Sets the counts to those that an earlier process stored in the journal. */
  restore(operations: ServiceLedger['operations']): void {
    Object.assign(this.#operations, operations);
  }

  /** Adds an event, which is new or comes from the journal, to the counts. */
  count(event: LedgerEvent): void {
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
    this.count(event);
  }
}
