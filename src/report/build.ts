import {basename} from 'node:path';
import {driftSection} from './drift.ts';
import {count, duration, many, moment, moneyOf, percent} from './format.ts';
import type {Fact, Report, Section, Tone} from './model.ts';
import {moneySection} from './sections/money-section.ts';
import {RISK, riskSection} from './sections/risk-section.ts';
import {fieldsSection, originsSection, rowsSection, troubleSection} from './sections/rows-section.ts';
import {paceSection, runSection} from './sections/run-section.ts';
import {streaksSentence} from './sentences.ts';
import type {Summary} from './summary.ts';

/** Makes the report of a run from its summary alone: it reads no other file, and no clock. */
export function buildReport(summary: Summary): Report {
  const sections = [
    driftSection(summary),
    riskSection(summary),
    moneySection(summary),
    rowsSection(summary),
    troubleSection(summary),
    fieldsSection(summary),
    originsSection(summary),
    paceSection(summary),
    runSection(summary),
  ];
  return {
    title: titleOf(summary),
    status: statusOf(summary),
    lead: leadOf(summary),
    facts: factsOf(summary),
    sections: sections.filter((section): section is Section => section !== undefined),
  };
}

function titleOf({job, input: {paths}}: Summary): string {
  const [first, ...others] = paths;
  if (first === undefined) return job ?? 'Enrichment run';
  const name = first === '-' ? 'stdin' : basename(first);
  const list = others.length === 0 ? name : `${name} and ${count(others.length)} more`;
  return job === null ? list : `${job} (${list})`;
}

function statusOf({status, exit_code}: Summary): {tone: Tone; text: string} {
  if (exit_code === 0) return {tone: 'good', text: 'Complete'};
  switch (status) {
    case 'completed':
      return {tone: 'warn', text: 'Complete, limit passed'};
    case 'partial':
      return {tone: 'warn', text: 'Complete, with gaps'};
    case 'interrupted':
      return {tone: 'warn', text: 'Interrupted'};
    case 'failed':
      return {tone: 'bad', text: 'Failed'};
    default:
      return status satisfies never;
  }
}

function leadOf(summary: Summary): string {
  const {rows, status, reason, exit_code, come_back_at, started_at, failed_if} = summary;
  const written = `${many(rows.written, 'row')} written`;
  const when = `Started ${moment(started_at)}, ran for ${duration(summary.duration_ms)}.`;
  if (status === 'completed' || status === 'partial') {
    const rejected = rows.rejected === 0 ? '' : `, ${count(rows.rejected)} rejected as unreadable`;
    const why = exit_code === 0 ? '' : ` Exit code ${exit_code} (${words(reason)}).`;
    const limits = failed_if.map(condition => ` Limit passed: ${condition}.`).join('');
    return `${written}${rejected}.${why}${limits}${streaksSentence(summary)} ${when}`;
  }
  const back =
    come_back_at === undefined ? 'The same command resumes it.' : `Run again after ${moment(come_back_at)}.`;
  return `Stopped: ${words(reason)} (exit code ${exit_code}), with ${written} so far. ${back} ${when}`;
}

function factsOf({rows, lookups, credits, risk, endpoint}: Summary): Fact[] {
  const all = Object.values(lookups);
  const answered = all.reduce((sum, {answered: some}) => sum + some, 0);
  const asked = all.reduce((sum, {failed, unknown}) => sum + failed + unknown, answered);
  const {saved} = credits;
  return [
    {
      label: 'Rows written',
      value: count(rows.written),
      note: rows.rejected === 0 ? undefined : `${count(rows.rejected)} unreadable`,
    },
    ...(risk === null || risk.scored === 0
      ? []
      : [
          {
            label: 'High risk',
            value: count(risk.high),
            section: RISK,
            note: `${percent(risk.high, risk.scored)} of scored rows`,
          },
        ]),
    {
      label: 'Lookups answered',
      value: percent(answered, asked),
      note: `${count(answered)} of ${count(asked)}`,
    },
    {
      label: 'Credits spent',
      ...(endpoint.kind === 'embedded'
        ? {value: '0', note: `a live service: ${count(credits.spent)}`}
        : {value: count(credits.spent), note: spentNote(credits)}),
    },
    {label: 'Credits saved', value: count(saved.dedupe + saved.store + saved.prefilter)},
  ];
}

function spentNote({spent, maybe_spent, limit, account}: Summary['credits']): string | undefined {
  const notes = [
    ...(account.price === undefined ? [] : [moneyOf(spent, account.price)]),
    ...(maybe_spent === 0 ? [] : [`${count(maybe_spent)} more perhaps`]),
    ...(limit === null ? [] : [`limit ${count(limit)}`]),
  ];
  return notes.length === 0 ? undefined : notes.join(', ');
}

/** A code as words: `lookups_failed` → `lookups failed`. */
function words(code: string): string {
  return code.replaceAll('_', ' ');
}
