import {extname} from 'node:path';
import {type ExitCode, exitCodes, OutputError, systemCode} from '../../errors.ts';
import type {Job} from '../../job/job.ts';
import {logEvent} from '../../job/monitoring/log-events.ts';
import {withoutCompression} from '../../job/name-endings.ts';
import type {Summary} from '../../report/summary.ts';
import {storeSentence} from '../../run/end/finish.ts';
import type {RunOutcome} from '../../run/run-outcome.ts';
import type {Stop} from '../../run/stop.ts';
import type {Console} from '../console.ts';
import {goOn, runAgain} from './go-on.ts';
import {broken, count, duration, many, moment, riskLine, shellWord, table} from './lines.ts';
import {print} from './printable.ts';
import {troubleLines} from './trouble.ts';

/** What a person wants to know at the end: what became of the rows, of the money, and what to do next. */
export function renderOutcome(job: Job, outcome: RunOutcome, console: Console): void {
  const {summary, stop} = outcome;
  if (console.forMachine) {
    if (stop !== undefined) logStopped(job, outcome, stop, console);
    return;
  }
  // Whoever pipes the rows into `head` has what was asked for.
  if (stop?.error instanceof OutputError && systemCode(stop.error.cause) === 'EPIPE') {
    print('stderr', `${outcome.message}\n`);
    return;
  }
  if (summary !== undefined) {
    const lookups = lookupTable(summary);
    console.say(lookups === '' ? '' : `\n${lookups}\n`);
    console.say(creditLine(summary));
    if (summary.risk !== null && summary.rows.written > 0) console.say(riskLine(summary.risk));
    const {settings} = job;
    for (const line of troubleLines({...REPAIRED, settings}, summary.repairs, console.width))
      console.say(line);
    for (const line of troubleLines({...WRONG, settings}, summary.errors, console.width)) console.say(line);
  }
  if (stop === undefined) {
    const said = console.paint(colourOf(outcome.exitCode), outcome.message);
    // What is paid for again is told also where nothing else is.
    if (summary !== undefined && storeSentence(summary) !== '') print('stderr', `${said}\n`);
    else console.say(said);
    const repair = summary !== undefined && summary.rows.rejected > 0 ? repairLine(job) : '';
    if (repair !== '') console.say(repair);
    return;
  }
  const stopped = console.paint(stop.reason === 'signal' ? 'yellow' : 'red', 'Stopped:');
  print('stderr', `${broken(`${stopped} ${outcome.message}`)}\n`);
  if (summary === undefined) return;
  console.say(safeLine(job, outcome, summary));
  const next = goOn(job, outcome, stop);
  if (next !== undefined) console.say(`To go on${next.first}: ${next.command}`);
}

/** How the rows that could not be read are run again, and no others. */
function repairLine(job: Job): string {
  const {
    inputs,
    paths: {rejects},
  } = job;
  if (rejects === undefined) return '';
  // By its own ending the list is read as it was; the objects of an array stand in lines of their own.
  const ending = extname(withoutCompression(inputs[0] ?? '')).replace(/^\.json$/i, '.ndjson') || '.csv';
  const path = `${rejects.replace(/(\.rejects)?\.ndjson$/, '')}.again${ending}`;
  const list = shellWord(path);
  return `To put right and run only those: bulk-enrich rejects ${shellWord(rejects)} > ${list} && \${EDITOR:-vi} ${list} && ${runAgain(job, path)}`;
}

const REPAIRED = {heading: 'Repaired before it was asked about:', allIn: 'the summary'};
/** Its end is an event of its own already. */
function logStopped(job: Job, outcome: RunOutcome, stop: Stop, {log}: Console): void {
  const {reason, comeBackMs} = stop;
  const comeBack = comeBackMs === undefined ? {} : {come_back_at: new Date(comeBackMs).toISOString()};
  const next = goOn(job, outcome, stop);
  const command = next === undefined ? {} : {to_go_on: next.command};
  logEvent(log, 'run_stopped', {reason, exit_code: outcome.exitCode, ...comeBack, ...command}, stop.message);
}

const WRONG = {heading: 'Where something was wrong:', allIn: 'the summary'};

function colourOf(exitCode: ExitCode): 'green' | 'yellow' | 'red' {
  if (exitCode === exitCodes.ok) return 'green';
  return exitCode === exitCodes.incomplete ? 'yellow' : 'red';
}

const COLUMNS = [
  ...(['values', 'distinct', 'from_cache', 'answered', 'empty', 'invalid'] as const),
  ...(['failed', 'unknown', 'skipped', 'stale', 'calls', 'retries'] as const),
];

/** Columns of nothing but zeros are left out; empty where there are no others. */
function lookupTable(summary: Summary): string {
  const found = Object.entries(summary.lookups);
  const shown = COLUMNS.filter(name => found.some(([, lookups]) => lookups[name] > 0));
  if (shown.length === 0) return '';
  const head = ['', ...shown.map(name => (name === 'from_cache' ? 'from store' : name))];
  return table([
    head,
    ...found.map(([name, lookups]) => [name, ...shown.map(column => count(lookups[column]))]),
  ]);
}

function creditLine({credits, calls, duration_ms, started_at, resumed}: Summary): string {
  const {dedupe, cache, prefilter, by_condition: byCondition} = credits.saved;
  const maybe =
    credits.maybe_spent === 0
      ? ''
      : ` and ${count(credits.maybe_spent)} that may have been charged without an answer`;
  const {spent, maybe_spent: maybeSpent} = credits.earlier.counted;
  const earlier =
    spent + maybeSpent === 0 ? '' : ` (${count(spent + maybeSpent)} of them before it started over)`;
  const conditions = byCondition === 0 ? '' : `, ${count(byCondition)} of them by condition`;
  // A run that was interrupted may have lain for days in between.
  const time =
    resumed.times === 0
      ? `in ${duration(duration_ms)}`
      : `in ${many(resumed.times + 1, 'session')} since ${moment(started_at)}`;
  return `${many(credits.spent, 'credit')} spent${maybe}${earlier}, ${count(dedupe + cache + prefilter)} saved (${count(dedupe)} repeated, ${count(cache)} known from the store, ${count(prefilter)} not worth asking${conditions}); ${many(calls.total, 'call')} ${time}.`;
}

/** What need not be done again; a stream has no place to go on from. */
function safeLine({output, paths, settings}: Job, {safeRows, stop}: RunOutcome, {credits}: Summary): string {
  const rows = output.lasts ? [many(safeRows, 'row')] : [];
  const answers = !output.lasts && settings.store === false ? [] : ['every answer paid for'];
  const safe = [...rows, ...answers].join(' and ') || 'nothing';
  const where = output.lasts && paths.state !== undefined ? ` (in ${paths.state})` : '';
  const maybe =
    credits.maybe_spent === 0
      ? ''
      : ` Not known: ${many(credits.maybe_spent, 'credit')} that may have been charged without an answer.`;
  if (stop?.reason === 'publish_lost')
    return `Not there any more: ${paths.state}, which has ${safe}.${maybe}`;
  return `Safe: ${safe}${where}.${maybe}`;
}
