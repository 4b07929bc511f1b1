import {formatCount, formatDuration, formatMoment, formatMoney, pluralize} from '../../report/format.ts';
import type {Price, Summary} from '../../report/summary.ts';
import type {PlanReport} from '../../run/estimate.ts';

/** The forecast of a run: `655 calls, 655 credits (1,965 at worst), about 33 s at 20/s`. */
export function formatForecast(plan: PlanReport, kind: 'embedded' | 'live'): string {
  const {credits, time_ms: ms, rate_per_second: rate, price: each} = plan;
  const {at_least: least, all_sent_once: most, at_most: worst} = credits;
  const price = between(least, most, 'credit');
  const atWorst = worst === most ? '' : `${formatCount(worst)} at worst`;
  const ofLive = `at a live service: ${price}${atWorst === '' ? '' : `, ${atWorst}`}`;
  return [
    between(sumPlannedCalls(plan) - sumConditionalCalls(plan), sumPlannedCalls(plan), 'call'),
    kind === 'embedded'
      ? `free with the embedded service (${ofLive})`
      : `${price}${atWorst === '' ? '' : ` (${atWorst})`}`,
    ...(each === undefined || kind === 'embedded' ? [] : [inMoney(most, worst, each)]),
    ...(ms === null || ms === 0 ? [] : [`about ${formatDuration(ms)} at ${formatCount(rate ?? 0)}/s`]),
  ].join(', ');
}

/** The forecast in money: `2.62 EUR (7.86 EUR at worst)`. */
function inMoney(most: number, worst: number, price: Price): string {
  const atWorst = worst === most ? '' : ` (${formatMoney(worst, price)} at worst)`;
  return formatMoney(most, price) + atWorst;
}

/** `4 calls`; `2 to 4 calls` if the number depends on conditions of lookups (`when`). */
function between(least: number, most: number, one: string): string {
  return least === most ? pluralize(most, one) : `${formatCount(least)} to ${pluralize(most, one)}`;
}

export function sumPlannedCalls({lookups}: PlanReport): number {
  return Object.values(lookups).reduce((sum, {calls}) => sum + calls, 0);
}

export function sumConditionalCalls({lookups}: PlanReport): number {
  return Object.values(lookups).reduce((sum, {conditional}) => sum + conditional, 0);
}

/** The credits spent and saved, with the number of calls and the time. */
export function formatCost(summary: Summary): string {
  const {credits, endpoint} = summary;
  const {spent, maybe_spent: maybe} = credits;
  const perhaps =
    maybe === 0 ? '' : ` and ${formatCount(maybe)} that may have been charged without an answer`;
  const {price} = credits.account;
  const spentMoney = price === undefined ? '' : ` (${formatMoney(spent, price)})`;
  const cost =
    endpoint.kind === 'embedded'
      ? `Nothing was spent: the embedded service is free. A live service would have cost ${pluralize(spent, 'credit')}${perhaps}`
      : `${pluralize(spent, 'credit')}${spentMoney} spent${perhaps}`;
  return `${cost}.${savedOf(summary)} ${callsAndTime(summary)}.`;
}

/** ` Saved: 881 for repeated values, 33 for values that need no call.`; empty if nothing was saved. */
function savedOf({credits: {saved}}: Summary): string {
  const conditions =
    saved.by_condition === 0 ? '' : `, ${formatCount(saved.by_condition)} of them by condition`;
  const parts = [
    [saved.dedupe, 'for repeated values'],
    [saved.store, 'for values in the store'],
    [saved.prefilter, `for values that need no call${conditions}`],
  ] as const;
  const found = parts.filter(([credits]) => credits > 0);
  if (found.length === 0) return '';
  return ` Saved: ${found.map(([credits, how]) => `${formatCount(credits)} ${how}`).join(', ')}.`;
}

/** The calls and their time. A resumed run may have paused for days, so it shows its start instead. */
function callsAndTime({calls, duration_ms: ms, started_at: start, resumed: {times}}: Summary): string {
  const time =
    times === 0
      ? `in ${formatDuration(ms)}`
      : `in ${pluralize(times + 1, 'session')} since ${formatMoment(start)}`;
  return `${pluralize(calls.total, 'call')} ${time}`;
}
