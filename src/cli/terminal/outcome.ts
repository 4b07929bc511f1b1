import {extname} from 'node:path';
import {type ExitCode, exitCodes, OutputError, systemCode} from '../../errors.ts';
import type {Job} from '../../job/job.ts';
import {logEvent} from '../../job/monitoring/log-events.ts';
import {withoutCompression} from '../../job/name-endings.ts';
import type {Summary} from '../../report/summary.ts';
import {storeSentence} from '../../run/end/finish.ts';
import {isComplete} from '../../run/exit.ts';
import {lackedSentence} from '../../run/open/budgets.ts';
import type {RunOutcome} from '../../run/run-outcome.ts';
import type {Stop} from '../../run/stop.ts';
import type {Said} from '../../sentence.ts';
import type {Console} from '../console.ts';
import {costLine} from './cost.ts';
import {broken, count, many, riskLine, shellWord} from './lines.ts';
import {runAgain, toContinue, toRetry} from './next-command.ts';
import {print} from './printable.ts';
import {table} from './table.ts';
import {troubleLines} from './trouble.ts';

/**
 * Prints how a run ended: details first; then the result, the cost and the next step, which matter most.
 * `need`: the credit limit that all rows need, for a run that stopped at a lower one.
 */
export function renderOutcome(job: Job, outcome: RunOutcome<Said>, console: Console, need?: number): void {
  const {summary, stop, found} = outcome;
  if (console.forMachine) {
    if (stop !== undefined) logStopped(job, outcome, stop, console, need);
    return;
  }
  // If the reader of the rows closed the pipe, as `head` does, only the run's message is printed.
  if (stop?.error instanceof OutputError && systemCode(stop.error.cause) === 'EPIPE') {
    print('stderr', `${outcome.message}\n`);
    return;
  }
  if (found === 'complete') {
    tellEnd(outcome, console);
    return;
  }
  const told = details(job, summary, console.width);
  // Prints a blank line between the details and the result.
  for (const line of told.length === 0 || told.at(-1) === '' ? told : [...told, '']) console.say(line);
  if (stop === undefined) renderEnd(job, outcome, console);
  else renderStop(job, outcome, stop, console, need);
}

/** The table of lookups, and lines on the risk, repairs and errors of the rows. */
function details({settings, paths}: Job, summary: Summary, width: number): string[] {
  const lookups = lookupTable(summary);
  const {risk, rows, repairs, errors} = summary;
  const allIn = paths.summary ?? 'the summary';
  return [
    ...(lookups === '' ? [] : ['', lookups, '']),
    ...(risk !== null && rows.written > 0 ? [riskLine(risk)] : []),
    ...repairedLine(repairs),
    ...troubleLines({heading: 'Problems, most frequent first:', most: 5, allIn, settings}, errors, width),
  ];
}

/** The number of repairs of each kind, in one line. The rows are in the summary. */
function repairedLine(repairs: Summary['repairs']): string[] {
  const kinds = new Map<string, number>();
  for (const {code, count: times} of repairs) {
    const words = code.slice(code.lastIndexOf('.') + 1).replaceAll('_', ' ');
    kinds.set(words, (kinds.get(words) ?? 0) + times);
  }
  const told = [...kinds].map(([words, times]) => `${count(times)} × ${words}`);
  return told.length === 0 ? [] : [broken(`Repaired before the lookup: ${told.join(', ')}.`)];
}

/**
 * Prints how the run ended. With `--quiet`, prints it only if the run failed, if many rows have gaps, if the list is
 * cut off, if answers were not stored, so that they cost again, or if the account's count lacked credits.
 */
function tellEnd({message, exitCode, summary}: RunOutcome<Said>, console: Console): void {
  const colour = colourOf(exitCode);
  const gaps = gapsSentence(summary);
  const cut = summary.errors.some(({code}) => code === 'rejected.cut_off') ? CUT : '';
  const said = broken(console.paint(colour, `${message}${gaps}${cut}`));
  const isHeard = colour === 'red' || gaps + cut + storeSentence(summary) + lackedSentence(summary) !== '';
  if (isHeard) print('stderr', `${said}\n`);
  else console.say(said);
}

const CUT = ' The list ends in the middle of a row, so it may lack others. Get it whole, and run it again.';

/** Share of rows with gaps from which even `--quiet` reports them: a nightly run with so many needs a person. */
const MANY_GAPS = 0.05;

function gapsSentence({exit_code, reason, rows: {read, rejected, with_errors}}: Summary): string {
  const gaps = rejected + with_errors;
  if (exit_code !== exitCodes.incomplete || gaps <= MANY_GAPS * read) return '';
  return ` ${many(gaps, 'row')} of ${count(read)} ${gaps === 1 ? 'has' : 'have'} gaps (${reason}).`;
}

function renderEnd(job: Job, outcome: RunOutcome<Said>, console: Console): void {
  const {summary} = outcome;
  tellEnd(outcome, console);
  console.say(broken(costLine(summary)));
  for (const line of nextSteps(job, summary)) console.say(line);
}

function renderStop(
  job: Job,
  outcome: RunOutcome<Said>,
  stop: Stop<Said>,
  console: Console,
  need: number | undefined,
): void {
  const {summary, message} = outcome;
  const stopped = console.paint(stop.reason === 'signal' ? 'yellow' : 'red', 'Stopped:');
  print('stderr', `${broken(`${stopped} ${message}`)}\n`);
  console.say(broken(costLine(summary)));
  const {spent, maybe_spent} = summary.credits;
  if (spent > 0 || maybe_spent > 0) console.say(broken(safeLine(job, outcome)));
  const next = toContinue(job, outcome.exitCode, stop, need);
  if (next !== undefined) console.say(`To continue${next.first}: ${next.command}`);
}

/** Commands for the next steps; none if all is well. */
function nextSteps(job: Job, summary: Summary): string[] {
  const {rows, lookups, reason, risk} = summary;
  const {paths, output} = job;
  const all = Object.values(lookups);
  const failed = all.reduce((sum, counts) => sum + counts.failed + counts.unknown - counts.rejected, 0);
  const steps: string[] = [];
  const high = risk?.high ?? 0;
  if (high > 0 && output.lasts)
    steps.push(
      `To list the ${many(high, 'row')} of high risk: bulk-enrich explain ${shellWord(output.name)} --level high`,
    );
  if (rows.rejected > 0 && paths.rejects !== undefined)
    steps.push(`To fix and rerun just these rows: ${repairCommand(job, paths.rejects)}`);
  const isRefused = reason === 'refused_in_a_row';
  const isUnanswered = !isComplete(summary);
  if (
    (isRefused || isUnanswered || (reason === 'lookups_failed' && failed > 0)) &&
    output.lasts &&
    !job.inputs.includes('-')
  ) {
    const again = job.settings.store === false ? ', paying for all again (--no-store)' : '';
    const what = isUnanswered
      ? 'look up its values'
      : isRefused
        ? 'ask for the refused values again'
        : `retry ${many(failed, 'failed lookup')}`;
    steps.push(`To ${what}${again}: ${toRetry(job.date)}`);
  }
  return steps;
}

/** The command with which the user edits the rejected rows, and then runs only those. */
function repairCommand(job: Job, rejects: string): string {
  // The new list gets the ending of the input's name, so that it is read in the same format. A .json input, an
  // array of objects, becomes .ndjson: one object a line.
  const ending = extname(withoutCompression(job.inputs[0] ?? '')).replace(/^\.json$/i, '.ndjson') || '.csv';
  const path = `${rejects.replace(/(\.rejects)?\.ndjson$/, '')}.again${ending}`;
  const list = shellWord(path);
  return `bulk-enrich rejects ${shellWord(rejects)} > ${list} && \${EDITOR:-vi} ${list} && ${runAgain(job, path)}`;
}

/** Logs `run_stopped`, with the command that continues the run. The run itself logs its end as another event. */
function logStopped(
  job: Job,
  outcome: RunOutcome<Said>,
  stop: Stop<Said>,
  {log}: Console,
  need: number | undefined,
): void {
  const {reason, comeBackMs} = stop;
  const comeBack = comeBackMs === undefined ? {} : {come_back_at: new Date(comeBackMs).toISOString()};
  const next = toContinue(job, outcome.exitCode, stop, need);
  const command = next === undefined ? {} : {to_continue: next.command};
  logEvent(
    log,
    'run_stopped',
    {reason, exit_code: outcome.exitCode, ...comeBack, ...command},
    String(stop.message),
  );
}

function colourOf(exitCode: ExitCode): 'green' | 'yellow' | 'red' {
  if (exitCode === exitCodes.ok) return 'green';
  return exitCode === exitCodes.incomplete ? 'yellow' : 'red';
}

const COLUMNS = [
  ...(['values', 'distinct', 'from_store', 'answered', 'empty', 'invalid'] as const),
  ...(['failed', 'unknown', 'skipped', 'stale', 'calls', 'retries'] as const),
];

/** The table of lookups, without columns of zeros; empty if all columns are zeros. */
function lookupTable(summary: Summary): string {
  const found = Object.entries(summary.lookups);
  const shown = COLUMNS.filter(name => found.some(([, lookups]) => lookups[name] > 0));
  if (shown.length === 0) return '';
  const head = ['', ...shown.map(name => (name === 'from_store' ? 'from store' : name))];
  return table([
    head,
    ...found.map(([name, lookups]) => [name, ...shown.map(column => count(lookups[column]))]),
  ]);
}

/** A sentence on the work that is saved. */
function safeLine({output, paths, settings}: Job, {stop, lostAnswers}: RunOutcome<Said>): string {
  const paidFor = lostAnswers === true ? 'every answer that could be written' : 'every answer paid for';
  const safe = !output.lasts && settings.store === false ? 'nothing' : paidFor;
  if (stop?.reason === 'publish_lost') return `Missing: ${paths.state}, which has ${safe}.`;
  return `Safe: ${safe}${output.lasts && paths.state !== undefined ? ` (in ${paths.state})` : ''}.`;
}
