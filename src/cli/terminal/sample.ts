import type {SampleReport} from '../../estimate/sampled-run.ts';
import type {Job} from '../../job/job.ts';
import {count, many, riskLine} from './lines.ts';
import {table} from './table.ts';

/** Shows a sample's outcome, and the cost of all rows. `next`: the command that runs the whole list. */
export function renderSample(report: SampleReport, job: Job, next: string | undefined): string {
  const {rows, sampled, outcome, lookups} = report;
  const {summary, stop} = outcome;
  const risk = summary?.risk;
  const lines = Object.entries(lookups).map(([name, {calls, answered}]) => {
    const seen = summary?.lookups[name];
    return [
      name,
      ...[seen?.values ?? 0, seen?.distinct ?? 0, seen?.from_store ?? 0, seen?.calls ?? 0].map(count),
      answered === null ? '–' : `${Math.round(answered * 100)}%`,
      count(calls),
    ];
  });
  return `\n${table([['', 'values', 'distinct', 'from store', 'calls', 'answered', 'calls for all'], ...lines])}
${risk ? `\n${riskLine(risk)}` : ''}
${stop === undefined ? '' : `Stopped: ${stop.message}\n`}Sampled ${count(sampled)} of ${many(rows, 'row')}. No output was written.
${priceOf(report, job)} ${keptOf(report, job)}
${allRowsOf(report, job)}${next === undefined ? '' : `\nTo look up all rows: ${next}`}
`;
}

function priceOf({paid}: SampleReport, {endpoint}: Job): string {
  const credits = many(paid.once, 'credit');
  return endpoint.kind === 'embedded'
    ? `Nothing was spent: the embedded service is free. A live service would have cost ${credits}.`
    : `The sample cost ${credits}.`;
}

function keptOf({paid}: SampleReport, {settings}: Job): string {
  if (paid.again === 0)
    return 'Its answers are kept: a run does not pay for them again while they are fresh.';
  const why = settings.store === false ? ' (--no-store)' : '';
  if (paid.again === paid.once) return `Its answers are not kept${why}: a run pays for them again.`;
  return `Answers for ${many(paid.again, 'credit')} of it are not kept: a run pays for them again.`;
}

function allRowsOf({credits, paid: {once, again}}: SampleReport, {endpoint}: Job): string {
  if (credits.at_most === 0) return 'The answers of all rows are stored, so all rows cost nothing.';
  const sample =
    again === 0 ? `the sample's ${count(once)} included` : `plus ${count(again)} spent on the sample`;
  const where = endpoint.kind === 'embedded' ? 'At a live service all' : 'All';
  return `${where} rows cost about ${many(Math.round(credits.expected), 'credit')} (${count(credits.at_most)} at worst), ${sample}.`;
}
