import type {SampleReport} from '../../estimate/sampled-run.ts';
import {count, many, riskLine, table} from './lines.ts';

/** What a sample came to, and what all rows would cost. */
export function renderSample({rows, sampled, outcome, credits, lookups}: SampleReport): string {
  const {summary, stop} = outcome;
  const risk = summary?.risk;
  const lines = Object.entries(lookups).map(([name, {calls, answered}]) => {
    const seen = summary?.lookups[name];
    return [
      name,
      ...[seen?.values ?? 0, seen?.distinct ?? 0, seen?.from_cache ?? 0, seen?.calls ?? 0].map(count),
      answered === null ? '–' : `${Math.round(answered * 100)}%`,
      count(calls),
    ];
  });
  const spent = (summary?.credits.spent ?? 0) + (summary?.credits.maybe_spent ?? 0);
  return `${stop === undefined ? '' : `Stopped: ${stop.message}\n`}A sample of ${count(sampled)} of ${count(rows)} rows:

${table([['', 'values', 'distinct', 'from store', 'calls', 'answered', 'calls for all'], ...lines])}
${risk ? `\n${riskLine(risk)}\n` : ''}
The sample cost ${many(spent, 'credit')}; its answers are kept, and not paid for again while they are fresh.
All rows cost about ${count(Math.round(credits.expected))} credits, these included (${count(credits.at_least)} at least, ${count(credits.at_most)} at most).
No output was written.
`;
}
