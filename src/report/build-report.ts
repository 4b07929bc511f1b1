import {basename} from 'node:path';
import {driftSection} from './drift.ts';
import {
  formatCount,
  formatDuration,
  formatMoment,
  formatMoney,
  formatPercent,
  pluralize,
  refusalStreaksSentence,
  staleSentence,
} from './format.ts';
import type {KeyFigure, Report, Section} from './model.ts';
import {lookupTotal, savedTotal} from './run-record.ts';
import {RISK_TITLE, riskSection} from './sections/risk-section.ts';
import {errorsSection, fieldsSection, rowsSection, topCountsSection} from './sections/rows-section.ts';
import {moneySection, paceSection, runSection} from './sections/run-section.ts';
import type {Summary} from './summary.ts';

/** Makes the report of a run from its summary alone: it reads no other file, and no clock. */
export function buildReport(summary: Summary): Report {
  const sections = [
    driftSection(summary),
    riskSection(summary),
    moneySection(summary),
    rowsSection(summary),
    errorsSection(summary),
    fieldsSection(summary),
    topCountsSection(summary),
    paceSection(summary),
    runSection(summary),
  ];
  return {
    title: titleOf(summary),
    status: summary.exit_code === 0 ? {tone: 'good', text: 'Complete'} : statuses[summary.status],
    lead: leadOf(summary),
    facts: factsOf(summary),
    sections: sections.filter((section): section is Section => (section?.blocks.length ?? 0) > 0),
  };
}

function titleOf({job, input: {paths}}: Summary): string {
  const [first, ...others] = paths;
  if (first === undefined) return job ?? 'Enrichment run';
  const name = first === '-' ? 'stdin' : basename(first);
  const list = others.length === 0 ? name : `${name} and ${formatCount(others.length)} more`;
  return job === null ? list : `${job} (${list})`;
}

/** The status of runs that did not end with exit code 0. */
const statuses: Readonly<Record<Summary['status'], Report['status']>> = {
  completed: {tone: 'warn', text: 'Complete, limit passed'},
  partial: {tone: 'warn', text: 'Complete, with gaps'},
  interrupted: {tone: 'warn', text: 'Interrupted'},
  failed: {tone: 'bad', text: 'Failed'},
};

function leadOf(summary: Summary): string {
  const {rows, status, reason, exit_code, come_back_at, started_at, failed_if} = summary;
  const written = `${pluralize(rows.written, 'row')} written`;
  const when = `Started ${formatMoment(started_at)}, ran for ${formatDuration(summary.duration_ms)}.`;
  if (status === 'completed' || status === 'partial') {
    const rejected = rows.rejected === 0 ? '' : `, ${formatCount(rows.rejected)} rejected as unreadable`;
    const why = exit_code === 0 ? '' : ` Exit code ${exit_code} (${words(reason)}).`;
    const limits = failed_if.map(condition => ` Limit passed: ${condition}.`).join('');
    return `${written}${rejected}.${why}${limits}${staleSentence(summary)}${refusalStreaksSentence(summary)} ${when}`;
  }
  const back =
    come_back_at === undefined
      ? 'The same command resumes it.'
      : `Run again after ${formatMoment(come_back_at)}.`;
  return `Stopped: ${words(reason)} (exit code ${exit_code}), with ${written} so far. ${back} ${when}`;
}

function factsOf(summary: Summary): KeyFigure[] {
  const {rows, credits, risk, endpoint} = summary;
  const answered = lookupTotal(summary, 'answered');
  const asked = lookupTotal(summary, 'answered', 'failed', 'unknown');
  const spent = formatCount(credits.spent);
  const facts: (KeyFigure | false)[] = [
    {
      label: 'Rows written',
      value: formatCount(rows.written),
      note: rows.rejected === 0 ? undefined : `${formatCount(rows.rejected)} unreadable`,
    },
    risk !== null &&
      risk.scored > 0 && {
        label: 'High risk',
        value: formatCount(risk.high),
        section: RISK_TITLE,
        note: `${formatPercent(risk.high, risk.scored)} of scored rows`,
      },
    {
      label: 'Lookups answered',
      value: formatPercent(answered, asked),
      note: `${formatCount(answered)} of ${formatCount(asked)}`,
    },
    endpoint.kind === 'embedded'
      ? {label: 'Credits spent', value: '0', note: `a live service: ${spent}`}
      : {label: 'Credits spent', value: spent, note: spentNote(credits)},
    {label: 'Credits saved', value: formatCount(savedTotal(credits))},
  ];
  return facts.filter(fact => fact !== false);
}

function spentNote({spent, maybe_spent, limit, account}: Summary['credits']): string | undefined {
  const notes = [
    account.price && formatMoney(spent, account.price),
    maybe_spent > 0 && `${formatCount(maybe_spent)} more perhaps`,
    limit !== null && `limit ${formatCount(limit)}`,
  ].filter(Boolean);
  return notes.length === 0 ? undefined : notes.join(', ');
}

/** A code as words: `lookups_failed` → `lookups failed`. */
function words(code: string): string {
  return code.replaceAll('_', ' ');
}
