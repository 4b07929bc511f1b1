import {operationTitle} from '../../operations/table.ts';
import {formatAmount, formatCount, formatMoney} from '../format.ts';
import type {Section} from '../model.ts';
import {savedTotal} from '../run-record.ts';
import type {Summary} from '../summary.ts';

export function moneySection({credits, lookups, endpoint}: Summary): Section | undefined {
  if (Object.keys(lookups).length === 0) return undefined;
  const {spent, maybe_spent: maybe, saved} = credits;
  const isFree = endpoint.kind === 'embedded';
  const {price} = credits.account;
  const money =
    price === undefined || isFree
      ? ''
      : ` At ${formatAmount(price.per_credit, price.currency)} a credit that is ${formatMoney(spent, price)}${maybe === 0 ? '' : `, and perhaps ${formatMoney(maybe, price)}`}.`;
  const limit = credits.limit === null ? '' : ` The limit was ${formatCount(credits.limit)}.`;
  const perhaps =
    maybe === 0 ? '' : ` ${formatCount(maybe)} more may have been charged for calls that brought no answer.`;
  const conditions =
    saved.by_condition === 0 ? '' : ` ${formatCount(saved.by_condition)} of them by conditions on lookups.`;
  const parts = [
    ['spent', 'warn', spent],
    ['perhaps spent', 'bad', maybe],
    ['saved: asked once for repeats', 'repeat', saved.dedupe],
    ['saved: known from the store', 'known', saved.store],
    ['saved: not worth a call', 'quiet', saved.prefilter],
  ] as const;
  return {
    title: 'Money',
    note: `${isFree ? `The embedded service is free. At a live service: ${formatCount(spent)} credits` : `${formatCount(spent)} credits were`} spent, ${formatCount(savedTotal(credits))} were saved.${conditions}${perhaps}${money}${limit}`,
    blocks: [
      {
        caption: 'Credits: what all lookups would have cost, one by one',
        head: ['Credits', ...parts.map(([name]) => name)],
        rows: [['All lookups', ...parts.map(([, , credits]) => credits)]],
        chart: {kind: 'stacks', tones: parts.map(([, tone]) => tone)},
      },
      {
        caption: 'Calls and credits by operation',
        head: 'Operation,distinct values,from the store,calls,retries,spent,perhaps spent'.split(','),
        rows: Object.entries(lookups).map(([name, {distinct, from_store, calls, retries}]) => {
          const {spent = 0, maybe_spent: perhaps = 0} = credits.by_operation[name] ?? {};
          return [operationTitle(name), distinct, from_store, calls, retries, spent, perhaps];
        }),
      },
    ],
  };
}
