import type {Job} from '../job/job.ts';
import {thousandths} from '../job/money.ts';
import {ofOperation} from '../job/values.ts';
import type {Lookup} from '../ledger/lookup.ts';
import {type Operation, operations} from '../operations/table.ts';

/** What one call costs, in thousandths of a credit; verdicts with a test action id are free. */
export function costOf({settings}: Job): (lookup: Lookup) => number {
  return ({operation, params}) =>
    operations[operation].isFree(params)
      ? 0
      : thousandths(ofOperation(settings.cost, operation, operations[operation].cost));
}

/** The same for any call of an operation. */
export function priceOf(job: Job): (operation: Operation) => number {
  const params = {action_id: job.endpoint.actionId ?? ''};
  return operation => costOf(job)({operation, key: '', params});
}
