import {extname} from 'node:path';
import {type ExitCode, exitCodes, OutputError, systemCode} from '../../errors.ts';
import {withoutCompression} from '../../job/file-names.ts';
import type {Job} from '../../job/job.ts';
import {logEvent} from '../../job/log-events.ts';
import {rejectionAgeMs} from '../../job/setting-types.ts';
import type {Settings} from '../../job/settings.ts';
import {codeAdvice, codeMeaning} from '../../report/code-meanings.ts';
import {
  formatCount,
  formatDuration,
  formatMoment,
  formatMoney,
  pluralize,
  storeTroubleSentence,
} from '../../report/format.ts';
import {lookupTotal} from '../../report/run-record.ts';
import type {Summary} from '../../report/summary.ts';
import {isCompleteRun, type RunOutcome, type Stop} from '../../run/exit.ts';
import {undercountSentence} from '../../run/open/account.ts';
import {storesRejections} from '../../run/open/answer-store.ts';
import {capitalize, type Said, shellWord} from '../../sentence.ts';
import type {Console} from '../console.ts';
import {type CommandLine, commandForOtherList, commandToContinue, commandToRetry} from './command-line.ts';
import {breakLines, formatTable, wrapText} from './lines.ts';
import {print} from './printable.ts';

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
    printEnd(outcome, console);
    return;
  }
  const shown = details(job, summary, console.width);
  // A blank line is between the details and the result.
  if (shown.length > 0 && shown.at(-1) !== '') shown.push('');
  for (const line of shown) console.say(line);
  if (stop === undefined) printEnd(outcome, console);
  else {
    const stopped = console.paint(stop.reason === 'signal' ? 'yellow' : 'red', 'Stopped:');
    print('stderr', `${breakLines(`${stopped} ${message}`)}\n`);
  }
  console.say(breakLines(formatCost(summary)));
  for (const step of stop === undefined ? nextSteps(run) : afterStop(run, stop)) console.say(step);
}

function details(job: Job, summary: Summary, width: number): string[] {
  const {settings, paths} = job;
  const {lookups, risk, rows, repairs, errors} = summary;
  const table = lookupTable(lookups);
  const allIn = paths.summary ?? 'the summary';
  const lines = table === '' ? [] : ['', table, ''];
  if (risk !== null && rows.written > 0) {
    const levels = (['high', 'medium', 'low', 'unknown'] as const).map(
      level => `${formatCount(risk[level])} ${level}`,
    );
    lines.push(`Risk: ${levels.join(', ')}`);
  }
  if (repairs.length > 0)
    lines.push(breakLines(`Repaired before the lookup: ${repairKinds(repairs).join(', ')}.`));
  lines.push(
    ...formatTroubles({heading: 'Problems, most frequent first:', most: 5, allIn, settings}, errors, width),
  );
  const refused = countKeptRefusals(job, summary);
  if (refused > 0) {
    const keptMs = rejectionAgeMs(settings.maxAge);
    const age = keptMs < DAY_MS ? formatDuration(keptMs) : pluralize(keptMs / DAY_MS, 'day');
    lines.push(
      breakLines(
        `${pluralize(refused, 'lookup')} made no call, or no more: two runs got the same refusal, which is kept for ${age} (--max-age rejected=7d). --force looks up all of these again.`,
      ),
    );
  }
  return lines;
}

const DAY_MS = 86_400_000;

/** Number of lookups that the next run does not make: the store has the refusal of two runs. */
function countKeptRefusals(job: Job, summary: Summary): number {
  return storesRejections(job) ? lookupTotal(summary, 'rejected') : 0;
}

/** The number of repairs of each kind. The rows are in the summary. */
function repairKinds(repairs: Summary['repairs']): string[] {
  const kinds = new Map<string, number>();
  for (const {code, count: times} of repairs) {
    const words = code.slice(code.lastIndexOf('.') + 1).replaceAll('_', ' ');
    kinds.set(words, (kinds.get(words) ?? 0) + times);
  }
  return [...kinds].map(([words, times]) => `${formatCount(times)} × ${words}`);
}

/** With `--quiet`, prints how the run ended only if it failed, or if rows, answers or counts lack something. */
function printEnd({message, exitCode, summary}: RunOutcome<Said>, console: Console): void {
  const colour = colourOf(exitCode);
  const gaps = gapsSentence(summary);
  const cut = summary.errors.some(({code}) => code === 'rejected.cut_off') ? CUT : '';
  const shown = breakLines(console.paint(colour, `${message}${gaps}${cut}`));
  const isHeard =
    colour === 'red' ||
    isMostlyStale(summary) ||
    gaps + cut + storeTroubleSentence(summary) + undercountSentence(summary) !== '';
  if (isHeard) print('stderr', `${shown}\n`);
  else console.say(shown);
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

function formatCost({credits, endpoint, calls, ...summary}: Summary): string {
  const {spent, maybe_spent: maybe, account} = credits;
  const perhaps =
    maybe === 0 ? '' : ` and ${formatCount(maybe)} that may have been charged without an answer`;
  const money = account.price === undefined ? '' : ` (${formatMoney(spent, account.price)})`;
  const cost =
    endpoint.kind === 'embedded'
      ? `Nothing was spent: the embedded service is free. A live service would have cost ${pluralize(spent, 'credit')}${perhaps}`
      : `${pluralize(spent, 'credit')}${money} spent${perhaps}`;
  const {times} = summary.resumed;
  // A resumed run may have paused for days, so it shows its start instead of its time.
  const time =
    times === 0
      ? formatDuration(summary.duration_ms)
      : `${pluralize(times + 1, 'session')} since ${formatMoment(summary.started_at)}`;
  return `${cost}.${savedSentence(credits)} ${pluralize(calls.total, 'call')} in ${time}.`;
}

/** ` Saved: 881 for repeated values, 33 for values that need no call.`; empty if nothing was saved. */
function savedSentence({saved}: Summary['credits']): string {
  const conditions =
    saved.by_condition === 0 ? '' : `, ${formatCount(saved.by_condition)} of them by condition`;
  const reasons = [
    [saved.dedupe, 'for repeated values'],
    [saved.store, 'for values in the store'],
    [saved.prefilter, `for values that need no call${conditions}`],
  ] as const;
  const parts = reasons.flatMap(([count, how]) => (count > 0 ? [`${formatCount(count)} ${how}`] : []));
  return parts.length === 0 ? '' : ` Saved: ${parts.join(', ')}.`;
}

/** Lines on the work that is saved of a run that stopped, and on the command that continues it. */
function afterStop({job, outcome, line, need}: EndedRun, stop: Stop<Said>): string[] {
  const {spent, maybe_spent: maybe} = outcome.summary.credits;
  const next = commandToContinue(line, job, stop, need);
  const lines = spent + maybe > 0 ? [breakLines(safeLine(job, outcome))] : [];
  return next === undefined ? lines : [...lines, `To continue${next.first}: ${next.command}`];
}

function nextSteps({job, outcome: {summary}, line}: EndedRun): string[] {
  const {rows, reason, risk} = summary;
  const {paths, output} = job;
  const failed = lookupTotal(summary, 'failed', 'unknown') - countKeptRefusals(job, summary);
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
    const cost = job.settings.store === false ? ', paying for all again (--no-store)' : '';
    steps.push(`To ${what}${cost}: ${commandToRetry(line, job.date)}`);
  }
  return steps;
}

/** True if all rejected rows are texts in another encoding: an editor can't fix them. */
function areAllUnread({errors, rows}: Summary): boolean {
  return errors.some(({code, count}) => code === 'rejected.invalid_encoding' && count === rows.rejected);
}

/** The command with which the user edits the rejected rows, or names their encoding, and then runs only those. */
function repairStep(job: Job, line: CommandLine, rejects: string, isUnread: boolean): string {
  // The new list is read in the input's format. A .json input, an array, becomes .ndjson: one object a line.
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
    to_continue: commandToContinue(line, job, stop, need)?.command,
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
function lookupTable(lookups: Summary['lookups']): string {
  const operations = Object.entries(lookups);
  const shown = COLUMNS.filter(name => operations.some(([, counts]) => counts[name] > 0));
  if (shown.length === 0) return '';
  const head = ['', ...shown.map(name => name.replace('_', ' '))];
  const rows = operations.map(([name, counts]) => [
    name,
    ...shown.map(column => formatCount(counts[column])),
  ]);
  return formatTable([head, ...rows]);
}

function safeLine({output, paths, settings}: Job, {stop, lostAnswers}: RunOutcome<Said>): string {
  const paidFor = lostAnswers === true ? 'every answer that could be written' : 'every answer paid for';
  const safe = !output.lasts && settings.store === false ? 'nothing' : paidFor;
  if (stop?.reason === 'publish_lost') return `Missing: ${paths.state}, which has ${safe}.`;
  return `Safe: ${safe}${output.lasts && paths.state !== undefined ? ` (in ${paths.state})` : ''}.`;
}

const NAMED_ROWS = 5;

interface TroubleList {
  readonly heading: string;
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
    const advice = codeAdvice(code, settings, service);
    const sentences = [codeMeaning(code, service), advice && `${capitalize(advice)}.`].filter(Boolean);
    const words = sentences.length === 0 ? '' : `: ${sentences.join(' ')}`;
    const line = `${formatCount(times)} × ${code}, row${times === 1 ? '' : 's'} ${named}${words}`;
    return wrapText(line, width - 4).map((part, index) => `${index === 0 ? '  ' : '    '}${part}`);
  });
  const left = errors.length - shown;
  return [heading, ...lines, ...(left > 0 ? [`  ${formatCount(left)} more codes are in ${allIn}.`] : [])];
}
