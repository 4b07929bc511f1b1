import {type Operation, operationNames, operations, perOperation} from '../operations/table.ts';
import {ServiceError} from './http/reply.ts';
import type {ServiceOptions} from './options.ts';

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

/** The body of `GET /_ledger`: calls and their cost since the service started. */
export interface ServiceLedger {
  /** Credits left; null without a limit. */
  balance: number | null;
  spent: number;
  operations: Record<Operation, OperationLedger>;
}

const emptyOperation = (): OperationLedger => ({calls: 0, free: 0, unanswered: 0, credits: 0, rejected: {}});

export class Credits {
  /** Credits for one call: by default 1, since the interface states none. */
  readonly #costs: Readonly<Record<Operation, number>>;
  readonly #limit: number | undefined;
  readonly #operations = perOperation(emptyOperation);

  constructor({costs, credits}: Pick<ServiceOptions, 'costs' | 'credits'>) {
    this.#costs = {...perOperation(name => operations[name].cost), ...costs};
    this.#limit = credits;
  }

  get spent(): number {
    return operationNames.reduce((sum, name) => sum + this.#operations[name].credits, 0);
  }

  /** @throws ServiceError `out_of_credits` if the balance is below the cost */
  charge(op: Operation, free: boolean): void {
    const cost = free ? 0 : this.#costs[op];
    if (this.#limit !== undefined && this.spent + cost > this.#limit)
      throw new ServiceError('out_of_credits');
    const ledger = this.#operations[op];
    ledger.calls++;
    ledger.credits += cost;
    if (free) ledger.free++;
  }

  unanswered(op: Operation): void {
    this.#operations[op].unanswered++;
  }

  rejected(op: Operation, code: string): void {
    const {rejected} = this.#operations[op];
    rejected[code] = (rejected[code] ?? 0) + 1;
  }

  ledger(): ServiceLedger {
    const {spent} = this;
    return {
      balance: this.#limit === undefined ? null : this.#limit - spent,
      spent,
      operations: structuredClone(this.#operations),
    };
  }
}
