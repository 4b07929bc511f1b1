import {extname} from 'node:path';
import {type ExitCode, exitCodes, OutputError, systemCode} from '../../errors.ts';
import {withoutCompression} from '../../job/file-names.ts';
import type {Job} from '../../job/job.ts';
import {logEvent} from '../../job/monitoring/log-events.ts';
import {rejectionAgeMs} from '../../job/setting-types.ts';
import type {Settings} from '../../job/settings.ts';
import {codeAdvice, codeMeaning} from '../../lookup/code-meanings.ts';
import {formatCount, pluralize, storeTroubleSentence} from '../../report/format.ts';
import {lookupTotal} from '../../report/run-record.ts';
import type {Summary} from '../../report/summary.ts';
import {isCompleteRun, type RunOutcome, type Stop} from '../../run/exit.ts';
import {undercountSentence} from '../../run/open/account.ts';
import {type Said, shellWord} from '../../sentence.ts';
import type {Console} from '../console.ts';
import {type CommandLine, commandForOtherList, commandToContinue, commandToRetry} from './command-line.ts';
import {formatCost} from './cost.ts';
import {breakLines, wrapText} from './lines.ts';
import {print} from './printable.ts';
import {formatTable} from './table.ts';

/** A run that ended, and the command that began it. */
export interface EndedRun {
  readonly job: Job;
  readonly outcome: RunOutcome<Said>;
  readonly line: CommandLine;
  /** The credit limit that all rows need, for a run that stopped at a lower one. */
  readonly need?: number | undefined;
}

/** Prints how a run ended: details first; then the result, the cost and the next step, which matter most. */
export function renderOutcome(run: EndedRun, console: Console): void {
  const {job, outcome} = run;
  const {summary, stop, message, found} = outcome;
  if (console.forMachine) {
    if (stop !== undefined) logStopped(run, stop, console);
    return;
  }
  // If the reader of the rows closed the pipe, as `head` does, only the run's message is printed.
  if (stop?.error instanceof OutputError && systemCode(stop.error.cause) === 'EPIPE') {
    print('stderr', `${message}\n`);
    return;
  }
  if (found === 'complete') {
    tellEnd(outcome, console);
    return;
  }
  const told = details(job, summary, console.width);
  // Prints a blank line between the details and the result.
  for (const line of told.length === 0 || told.at(-1) === '' ? told : [...told, '']) console.say(line);
  if (stop === undefined) tellEnd(outcome, console);
  else {
    const stopped = console.paint(stop.reason === 'signal' ? 'yellow' : 'red', 'Stopped:');
    print('stderr', `${breakLines(`${stopped} ${message}`)}\n`);
  }
  console.say(breakLines(formatCost(summary)));
  for (const step of stop === undefined ? nextSteps(run) : afterStop(run, stop)) console.say(step);
}

/** The table of lookups, and lines on the risk, repairs and errors of the rows. */
function details({settings, paths}: Job, summary: Summary, width: number): string[] {
  const lookups = lookupTable(summary);
  const {risk, rows, repairs, errors} = summary;
  const allIn = paths.summary ?? 'the summary';
  return [
    ...(lookups === '' ? [] : ['', lookups, '']),
    ...(risk !== null && rows.written > 0 ? [formatRisk(risk)] : []),
    ...repairedLine(repairs),
    ...formatTroubles({heading: 'Problems, most frequent first:', most: 5, allIn, settings}, errors, width),
    ...keptRefusals(settings, summary),
  ];
}

/** How long refusals are kept, and what looks their values up again. */
function keptRefusals({maxAge = {}}: Partial<Settings>, summary: Summary): string[] {
  const kept = lookupTotal(summary, 'rejected');
  if (kept === 0) return [];
  const days = pluralize(rejectionAgeMs(maxAge) / DAY_MS, 'day');
  return [
    breakLines(
      `${pluralize(kept, 'lookup')} made no call, or no more: two runs got the same refusal, which is kept for ${days} (--max-age rejected=7d). --force looks up all of these again.`,
    ),
  ];
}

const DAY_MS = 86_400_000;

function formatRisk({high, medium, low, unknown}: NonNullable<Summary['risk']>): string {
  return `Risk: ${formatCount(high)} high, ${formatCount(medium)} medium, ${formatCount(low)} low, ${formatCount(unknown)} unknown`;
}

/** The number of repairs of each kind, in one line. The rows are in the summary. */
function repairedLine(repairs: Summary['repairs']): string[] {
  const kinds = new Map<string, number>();
  for (const {code, count: times} of repairs) {
    const words = code.slice(code.lastIndexOf('.') + 1).replaceAll('_', ' ');
    kinds.set(words, (kinds.get(words) ?? 0) + times);
  }
  const told = [...kinds].map(([words, times]) => `${formatCount(times)} × ${words}`);
  return told.length === 0 ? [] : [breakLines(`Repaired before the lookup: ${told.join(', ')}.`)];
}

/**
 * Prints how the run ended. With `--quiet`, prints it only if the run failed, if many rows have gaps, if the list is
 * cut off, if answers were not stored, so that they cost again, or if the account's count lacked credits.
 */
function tellEnd({message, exitCode, summary}: RunOutcome<Said>, console: Console): void {
  const colour = colourOf(exitCode);
  const gaps = gapsSentence(summary);
  const cut = summary.errors.some(({code}) => code === 'rejected.cut_off') ? CUT : '';
  const said = breakLines(console.paint(colour, `${message}${gaps}${cut}`));
  const isHeard =
    colour === 'red' ||
    isMostlyStale(summary) ||
    gaps + cut + storeTroubleSentence(summary) + undercountSentence(summary) !== '';
  if (isHeard) print('stderr', `${said}\n`);
  else console.say(said);
}

const CUT = ' The list ends in the middle of a row, so it may lack others. Get it whole, and run it again.';

/** Share of rows with gaps from which even `--quiet` reports them: a nightly run with so many needs a person. */
const MANY_GAPS = 0.05;

function isMostlyStale(summary: Summary): boolean {
  return lookupTotal(summary, 'stale') > MANY_GAPS * lookupTotal(summary, 'answered');
}

function gapsSentence({exit_code, reason, rows: {read, rejected, with_errors}}: Summary): string {
  const gaps = rejected + with_errors;
  if (exit_code !== exitCodes.incomplete || gaps <= MANY_GAPS * read) return '';
  return ` ${pluralize(gaps, 'row')} of ${formatCount(read)} ${gaps === 1 ? 'has' : 'have'} gaps (${reason}).`;
}

/** Lines on the work that is saved of a run that stopped, and on the command that continues it. */
function afterStop({job, outcome, line, need}: EndedRun, stop: Stop<Said>): string[] {
  const {spent, maybe_spent: maybe} = outcome.summary.credits;
  const next = commandToContinue(line, job, outcome.exitCode, stop, need);
  return [
    ...(spent + maybe > 0 ? [breakLines(safeLine(job, outcome))] : []),
    ...(next === undefined ? [] : [`To continue${next.first}: ${next.command}`]),
  ];
}

/** Commands for the next steps; none if all is well. */
function nextSteps({job, outcome: {summary}, line}: EndedRun): string[] {
  const {rows, lookups, reason, risk} = summary;
  const {paths, output} = job;
  const all = Object.values(lookups);
  const failed = all.reduce((sum, counts) => sum + counts.failed + counts.unknown - counts.rejected, 0);
  const steps: string[] = [];
  const high = risk?.high ?? 0;
  if (high > 0 && output.lasts)
    steps.push(
      `To list the ${pluralize(high, 'row')} of high risk: bulk-enrich explain ${shellWord(output.name)} --level high`,
    );
  if (rows.rejected > 0 && paths.rejects !== undefined)
    steps.push(repairStep(job, line, paths.rejects, areAllUnread(summary)));
  const what = !isCompleteRun(summary)
    ? 'look up its values'
    : reason === 'refused_in_a_row'
      ? 'ask for the refused values again'
      : reason === 'lookups_failed' && failed > 0
        ? `retry ${pluralize(failed, 'failed lookup')}`
        : undefined;
  if (what !== undefined && output.lasts && !job.inputs.includes('-')) {
    const again = job.settings.store === false ? ', paying for all again (--no-store)' : '';
    steps.push(`To ${what}${again}: ${commandToRetry(line, job.date)}`);
  }
  return steps;
}

/** True if all rejected rows are texts in another encoding: an editor can't fix them. */
function areAllUnread({errors, rows}: Summary): boolean {
  return errors.some(({code, count}) => code === 'rejected.invalid_encoding' && count === rows.rejected);
}

/** The command with which the user edits the rejected rows, or names their encoding, and then runs only those. */
function repairStep(job: Job, line: CommandLine, rejects: string, isUnread: boolean): string {
  // The new list gets the ending of the input's name, so that it is read in the same format. A .json input, an
  // array of objects, becomes .ndjson: one object a line.
  const ending = extname(withoutCompression(job.inputs[0] ?? '')).replace(/^\.json$/i, '.ndjson') || '.csv';
  const path = `${rejects.replace(/(\.rejects)?\.ndjson$/, '')}.again${ending}`;
  const list = shellWord(path);
  const write = `bulk-enrich rejects ${shellWord(rejects)} > ${list}`;
  const run = commandForOtherList(line, job, path);
  if (isUnread && job.settings.encoding === 'auto')
    return `To run just these rows in their encoding, such as windows-1252: ${write} && ${run} --encoding windows-1252`;
  return `To fix and rerun just these rows: ${write} && \${EDITOR:-vi} ${list} && ${run}`;
}

/** Logs `run_stopped`, with the command that continues the run. The run itself logs its end as another event. */
function logStopped({job, outcome, line, need}: EndedRun, stop: Stop<Said>, {log}: Console): void {
  const {reason, comeBackMs} = stop;
  const fields = {
    reason,
    exit_code: outcome.exitCode,
    come_back_at: comeBackMs === undefined ? undefined : new Date(comeBackMs).toISOString(),
    to_continue: commandToContinue(line, job, outcome.exitCode, stop, need)?.command,
  };
  logEvent(log, 'run_stopped', fields, String(stop.message));
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
  const head = ['', ...shown.map(name => name.replace('_', ' '))];
  return formatTable([
    head,
    ...found.map(([name, lookups]) => [name, ...shown.map(column => formatCount(lookups[column]))]),
  ]);
}

/** A sentence on the work that is saved. */
function safeLine({output, paths, settings}: Job, {stop, lostAnswers}: RunOutcome<Said>): string {
  const paidFor = lostAnswers === true ? 'every answer that could be written' : 'every answer paid for';
  const safe = !output.lasts && settings.store === false ? 'nothing' : paidFor;
  if (stop?.reason === 'publish_lost') return `Missing: ${paths.state}, which has ${safe}.`;
  return `Safe: ${safe}${output.lasts && paths.state !== undefined ? ` (in ${paths.state})` : ''}.`;
}

const NAMED_ROWS = 5;

interface TroubleList {
  readonly heading: string;
  /** The number of codes that are shown. */
  readonly most: number;
  /** The file or the command that has all codes. */
  readonly allIn: string;
  /** The run's settings. The advice never suggests a setting that is already set. */
  readonly settings: Partial<Settings>;
}

/** Explains the problems of a list's rows and values, by code, with the first rows. Empty without problems. */
export function formatTroubles(
  {heading, most, allIn, settings}: TroubleList,
  errors: Summary['errors'],
  width = Number.POSITIVE_INFINITY,
): string[] {
  if (errors.length === 0) return [];
  // If only one code is left over, it is shown too: the line "1 more codes are in …" would take as much room.
  const shown = errors.length === most + 1 ? errors.length : most;
  const lines = errors.slice(0, shown).flatMap(({code, count: times, rows, service}) => {
    const named = `${rows.slice(0, NAMED_ROWS).join(', ')}${times > NAMED_ROWS ? ', …' : ''}`;
    const line = `${formatCount(times)} × ${code}, row${times === 1 ? '' : 's'} ${named}${inWords(code, settings, service)}`;
    return wrapText(line, width - 4).map((part, index) => `${index === 0 ? '  ' : '    '}${part}`);
  });
  const left = errors.length - shown;
  return [heading, ...lines, ...(left > 0 ? [`  ${formatCount(left)} more codes are in ${allIn}.`] : [])];
}

/** The code's meaning and advice; empty for a code that only the service defines. */
function inWords(code: string, settings: Partial<Settings>, isService?: boolean): string {
  const [meaning, advice] = [codeMeaning(code, isService), codeAdvice(code, settings, isService)];
  const words = [
    ...(meaning === '' ? [] : [meaning]),
    ...(advice === undefined ? [] : [`${capital(advice)}.`]),
  ];
  return words.length === 0 ? '' : `: ${words.join(' ')}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
