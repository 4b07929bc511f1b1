import type {Job} from '../job/job.ts';
import {toThousandths} from '../job/money.ts';
import {valueForOperation} from '../job/setting-types.ts';
import type {Lookup} from '../ledger/lookup-outcome.ts';
import {type Operation, operations} from '../operations/table.ts';

/** Makes a function that gives a call's cost in thousandths of a credit. Verdicts for test actions are free. */
export function createLookupPricer({settings}: Pick<Job, 'settings'>): (lookup: Lookup) => number {
  return ({operation, params}) =>
    operations[operation].isFree(params)
      ? 0
      : toThousandths(valueForOperation(settings.cost, operation, operations[operation].cost));
}

/** Makes a function that gives the cost of one call of an operation, in thousandths of a credit. */
export function createOperationPricer(
  job: Pick<Job, 'endpoint' | 'settings'>,
): (operation: Operation) => number {
  const params = {action_id: job.endpoint.actionId ?? ''};
  return operation => createLookupPricer(job)({operation, key: '', params});
}
