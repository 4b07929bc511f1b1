import {count, many, percent} from '../format.ts';
import type {Section} from '../model.ts';
import type {Drift, Summary} from '../summary.ts';

/** Figures that differ from the job's last runs; undefined if none does. */
export function driftSection({drift}: Summary): Section | undefined {
  if (drift.length === 0) return undefined;
  return {
    title: 'Unlike the last runs',
    note: `Compared with the median of ${many(drift[0]?.runs ?? 0, 'earlier run')} of this job.`,
    blocks: [
      {
        caption: 'What jumped',
        head: ['What', 'this run', 'usually'],
        rows: drift.map(({what, now, usual}) => [
          driftName(what),
          driftValue(what, now),
          driftValue(what, usual),
        ]),
      },
    ],
  };
}

const names: Readonly<Record<string, string>> = {
  rows: 'Rows',
  credits: 'Credits',
  hit_rate: 'Share known from the store',
  'risk.mean': 'Mean risk score',
  'risk.high': 'Share of high risk',
  failed: 'Share of failed lookups',
  invalid: 'Share of invalid values',
};

function driftName(what: string): string {
  return names[what] ?? what;
}

/** Rows, credits and scores are numbers; all other figures are shares. */
function driftValue(what: string, value: number): string {
  if (what === 'rows' || what === 'credits') return count(Math.round(value));
  return what === 'risk.mean' ? count(Math.round(value * 10) / 10) : percent(value, 1);
}

/** One changed figure as part of a sentence: `share of high risk 12% (usually 3.1%)`. */
export function driftSentence({what, now, usual}: Drift): string {
  const name = driftName(what);
  return `${name.slice(0, 1).toLowerCase()}${name.slice(1)} ${driftValue(what, now)} (usually ${driftValue(what, usual)})`;
}
