import {operationName} from '../display-names.ts';
import {count} from '../format.ts';
import type {Section} from '../model.ts';
import {amountOf, moneyOf} from '../money.ts';
import type {Summary} from '../summary.ts';

export function moneySection({credits, lookups, endpoint}: Summary): Section | undefined {
  if (Object.keys(lookups).length === 0) return undefined;
  const {spent, maybe_spent: maybe, saved} = credits;
  const isFree = endpoint.kind === 'embedded';
  const {price} = credits.account;
  const money =
    price === undefined || isFree
      ? ''
      : ` At ${amountOf(price.per_credit, price.currency)} a credit that is ${moneyOf(spent, price)}${maybe === 0 ? '' : `, and perhaps ${moneyOf(maybe, price)}`}.`;
  const limit = credits.limit === null ? '' : ` The limit was ${count(credits.limit)}.`;
  const perhaps =
    maybe === 0 ? '' : ` ${count(maybe)} more may have been charged for calls that brought no answer.`;
  const conditions =
    saved.by_condition === 0 ? '' : ` ${count(saved.by_condition)} of them by conditions on lookups.`;
  return {
    title: 'Money',
    note: `${isFree ? `The embedded service is free. At a live service: ${count(spent)} credits` : `${count(spent)} credits were`} spent, ${count(saved.dedupe + saved.store + saved.prefilter)} were saved.${conditions}${perhaps}${money}${limit}`,
    blocks: [
      {
        kind: 'stacks',
        caption: 'Credits: what all lookups would have cost, one by one',
        what: 'Credits',
        keys: [
          {name: 'spent', tone: 'warn'},
          {name: 'perhaps spent', tone: 'bad'},
          {name: 'saved: asked once for repeats', tone: 'repeat'},
          {name: 'saved: known from the store', tone: 'known'},
          {name: 'saved: not worth a call', tone: 'quiet'},
        ],
        rows: [{name: 'All lookups', counts: [spent, maybe, saved.dedupe, saved.store, saved.prefilter]}],
      },
      {
        kind: 'table',
        caption: 'Calls and credits by operation',
        head: [
          'Operation',
          'distinct values',
          'from the store',
          'calls',
          'retries',
          'spent',
          'perhaps spent',
        ],
        rows: Object.entries(lookups).map(([name, {distinct, from_store, calls, retries}]) => {
          const {spent = 0, maybe_spent: perhaps = 0} = credits.by_operation[name] ?? {};
          return [operationName(name), ...[distinct, from_store, calls, retries, spent, perhaps].map(count)];
        }),
      },
    ],
  };
}
