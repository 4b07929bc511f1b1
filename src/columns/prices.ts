import type {Job} from '../job/job.ts';
import {thousandths} from '../job/money.ts';
import {ofOperation} from '../job/values.ts';
import type {Lookup} from '../ledger/lookup.ts';
import {type Operation, operations} from '../operations/table.ts';

/** Makes a function that gives a call's cost in thousandths of a credit. Verdicts for test actions are free. */
export function costOf({settings}: Pick<Job, 'settings'>): (lookup: Lookup) => number {
  return ({operation, params}) =>
    operations[operation].isFree(params)
      ? 0
      : thousandths(ofOperation(settings.cost, operation, operations[operation].cost));
}

/** Makes a function that gives the cost of one call of an operation, in thousandths of a credit. */
export function priceOf(job: Pick<Job, 'endpoint' | 'settings'>): (operation: Operation) => number {
  const params = {action_id: job.endpoint.actionId ?? ''};
  return operation => costOf(job)({operation, key: '', params});
}
