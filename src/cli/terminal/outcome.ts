import {type ExitCode, exitCodes} from '../../job/errors.ts';
import type {Job} from '../../job/job.ts';
import type {RunOutcome} from '../../run/finish.ts';
import type {Summary} from '../../run/summary.ts';
import type {Console} from '../console.ts';
import {count, duration, shellWord, table} from './format.ts';

/** What a person wants to know at the end: what became of the rows, of the money, and what to do next. */
export function renderOutcome(job: Job, outcome: RunOutcome, console: Console): void {
  const {summary, stop} = outcome;
  if (summary !== undefined) {
    console.say(`\n${lookupTable(summary, console.width)}\n`);
    console.say(creditLine(summary));
    for (const line of troubleLines(summary)) console.say(line);
  }
  if (stop === undefined) {
    console.say(console.paint(colourOf(outcome.exitCode), outcome.message));
    return;
  }
  const stopped = console.paint(stop.reason === 'signal' ? 'yellow' : 'red', 'Stopped:');
  process.stderr.write(`${stopped} ${outcome.message}\n`);
  if (summary === undefined) return;
  console.say(safeLine(job, summary));
  if (outcome.exitCode !== 2 && job.paths.output !== undefined)
    console.say(`To go on: ${commandLine(job.date)}`);
}

function colourOf(exitCode: ExitCode): 'green' | 'yellow' | 'red' {
  if (exitCode === exitCodes.ok) return 'green';
  return exitCode === exitCodes.incomplete ? 'yellow' : 'red';
}

/** Where the terminal is too narrow for all of it, columns of nothing but zeros are left out. */
function lookupTable(summary: Summary, width: number): string {
  const head = [
    '',
    'values',
    'distinct',
    'from store',
    'answered',
    'empty',
    'invalid',
    'failed',
    'unknown',
    'skipped',
    'calls',
    'retries',
  ];
  const rows = Object.entries(summary.lookups).map(([name, lookups]) => [
    name,
    ...[
      lookups.values,
      lookups.distinct,
      lookups.from_cache,
      lookups.answered,
      lookups.empty,
      lookups.invalid,
      lookups.failed,
      lookups.unknown,
      lookups.skipped,
      lookups.calls,
      lookups.retries,
    ].map(count),
  ]);
  const all = [head, ...rows];
  const whole = table(all);
  if (whole.split('\n').every(line => line.length <= width)) return whole;
  const telling = head.map((_, column) => rows.some(row => row[column] !== '0'));
  return table(all.map(row => row.filter((_, column) => telling[column])));
}

function creditLine({credits, calls, duration_ms}: Summary): string {
  const {dedupe, cache, prefilter} = credits.saved;
  const maybe =
    credits.maybe_spent === 0
      ? ''
      : ` and ${count(credits.maybe_spent)} that may have been charged without an answer`;
  return `${count(credits.spent)} credits spent${maybe}, ${count(dedupe + cache + prefilter)} saved (${count(dedupe)} repeated, ${count(cache)} known from the store, ${count(prefilter)} not worth asking); ${count(calls.total)} calls in ${duration(duration_ms)}.`;
}

function troubleLines({errors}: Summary): string[] {
  const shown = errors
    .slice(0, 8)
    .map(
      ({code, count: times, rows}) =>
        `  ${count(times)} × ${code}: row${rows.length === 1 ? '' : 's'} ${rows.slice(0, 5).join(', ')}${times > 5 ? ', …' : ''}`,
    );
  return shown.length === 0 ? [] : ['Where something was wrong:', ...shown];
}

function safeLine(job: Job, {rows, credits}: Summary): string {
  const where = job.paths.state === undefined ? '' : ` (in ${job.paths.state})`;
  return `Safe: ${count(rows.written)} rows and every answer paid for${where}. Not known: ${count(credits.maybe_spent)} credits that may have been charged without an answer.`;
}

/** The very command that was given, quoted for a shell; a day that is not today's tomorrow is named. */
function commandLine(date: string | undefined): string {
  const given = process.argv.slice(2).filter(argument => argument !== '--restart');
  if (date !== undefined && !given.includes('--date')) given.push('--date', date);
  return ['bulk-enrich', ...given.map(shellWord)].join(' ');
}
