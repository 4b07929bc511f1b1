import {logEvent} from '../../job/log-events.ts';
import {toCredits} from '../../job/settings/cost.ts';
import {totalOverOperations} from '../../ledger/run/tally.ts';
import type {Pause} from '../../lookup/call.ts';
import {formatCount, formatDuration} from '../../report/format.ts';
import type {AnnouncePhase, PhaseProgress} from '../../run/io.ts';
import type {Session} from '../../run/session.ts';
import type {Console} from '../console.ts';
import {formatOpening} from './opening.ts';
import {canRedraw, print} from './printable.ts';

const BAR_EVERY_MS = 250;
const LINE_EVERY_MS = 30_000;

/** Calls per second below which the status line says that the run waits, unless a call is in flight. */
const IDLE_BELOW = 0.5;

export function hasBar({quiet, forMachine}: Console): boolean {
  return !quiet && !forMachine && canRedraw(process.env.CI);
}

/** Shows slow steps before and after the calls on a redrawn line. A step of less than 0.25 s is not shown. */
export function showPhases(console: Console): AnnouncePhase {
  return (what, reached) =>
    hasBar(console)
      ? repeat(() => console.draw(formatPhase(what, reached(), console.width)), BAR_EVERY_MS, console)
      : () => {};
}

function repeat(work: () => void, everyMs: number, console: Console): () => void {
  const timer = setInterval(work, everyMs);
  timer.unref();
  return () => {
    clearInterval(timer);
    console.draw('');
  };
}

/**
 * Shows a run's progress: on a redrawn line at a terminal, elsewhere on a new line every 30 s, and on SIGUSR1 at once, as
 * dd does. Returns a function that ends this. `counted`: the number of calls left at the start, if it was counted.
 */
export function startProgress(session: Session, console: Console, counted?: number): () => void {
  for (const sentence of formatOpening(session)) console.say(sentence);
  const bar = hasBar(console);
  const speed = new Speedometer();
  speed.read(0, session.clock());
  const tell = () => {
    const status = statusOf(session, speed, counted);
    if (console.forMachine) logProgress(status, console);
    else print('stderr', `${formatStatus(status)}\n`);
  };
  process.on('SIGUSR1', tell);
  const endTelling = () => void process.off('SIGUSR1', tell);
  if (console.quiet) return endTelling;
  const draw = () => {
    const {position, bytesTotal} = session.input.source;
    const share = bytesTotal === undefined ? undefined : position.bytes / Math.max(1, bytesTotal);
    console.draw(
      isCatchingUp(session)
        ? formatPhase('catching up', {share}, console.width)
        : formatStatus(statusOf(session, speed, counted), console.width),
    );
  };
  if (bar) draw();
  const endDrawing = bar ? repeat(draw, BAR_EVERY_MS, console) : repeat(tell, LINE_EVERY_MS, console);
  return () => {
    endTelling();
    endDrawing();
  };
}

/** True while a resumed run writes rows of which it knows all answers. */
function isCatchingUp({asking: {executor, ledger}}: Session): boolean {
  const {inFlight, waiting} = executor.pace();
  return ledger.isResumed && totalOverOperations(ledger.tally, 'calls') === 0 && inFlight + waiting === 0;
}

function logProgress(status: ProgressFigures, {log}: Console): void {
  const {rows, total, callsPerSecond, leftMs, credits} = status;
  const fields = {
    rows,
    rows_total: total,
    calls_per_second: Math.round(callsPerSecond * 10) / 10,
    left_ms: leftMs === undefined ? undefined : Math.round(leftMs),
    credits,
  };
  logEvent(log, 'run_progress', fields, formatStatus(status));
}

const SPEED_OVER_MS = 10_000;

/** Measures how fast a growing number has grown in the last 10 seconds. */
export class Speedometer {
  readonly #readings: {readonly at: number; readonly value: number}[] = [];

  /** Records the value at `now` (ms), and returns its growth per second; 0 for the first value. */
  read(value: number, now: number): number {
    this.#readings.push({at: now, value});
    while (this.#readings.length > 2 && (this.#readings[1]?.at ?? now) <= now - SPEED_OVER_MS)
      this.#readings.shift();
    const {at = now, value: before = value} = this.#readings[0] ?? {};
    return at === now ? 0 : ((value - before) / (now - at)) * 1_000;
  }
}

export type ProgressFigures = ReturnType<typeof statusOf>;

function statusOf(session: Session, speed: Speedometer, counted: number | undefined) {
  const {startedAt, job, input, asking, output} = session;
  const now = session.clock();
  const {tally, budget} = asking.ledger;
  const {written, rejected} = output.writer.counters.rows;
  const rows = written + rejected;
  const total = totalRows(input.source, job.settings.limit);
  const {pause, current, limit, inFlight} = asking.executor.pace();
  const made = totalOverOperations(tally, 'calls');
  // Each value is counted once, however often it was sent.
  const calls =
    counted === undefined ? undefined : {made: made - totalOverOperations(tally, 'retries'), total: counted};
  const callsPerSecond = speed.read(made, now);
  const rowsLeft = total === undefined ? undefined : total - rows;
  const perRow = rows === 0 ? 0 : made / rows;
  const callsLeft = calls ? calls.total - calls.made : rowsLeft && rowsLeft * perRow;
  const rowsPerSecond = now === startedAt ? 0 : (rows * 1_000) / (now - startedAt);
  const isSlowed = current !== undefined && (limit === undefined || current < 0.95 * limit);
  return {
    now,
    /** Rows written or rejected in this session, which begins at the first row. */
    rows,
    /** Estimated during reading; undefined if the input's size is unknown. */
    total,
    /** Values that this session has looked up, and has to look up (`total`); undefined if that was not counted. */
    calls,
    callsPerSecond,
    leftMs: estimateTimeLeft(
      {left: callsLeft, perSecond: callsPerSecond},
      {left: rowsLeft, perSecond: rowsPerSecond},
    ),
    credits: toCredits(budget.committed),
    maxCredits: job.settings.maxCredits,
    pause,
    /** Calls per second to which throttling lowered the rate. */
    slowedTo: isSlowed ? current : undefined,
    /** No call has been made for a while: all values left have failed, and wait for their next try. */
    idle: made > 0 && inFlight === 0 && callsPerSecond < IDLE_BELOW,
    /** The run reads no more rows for now: it holds its maximum of rows, which wait for a slow value. */
    windowFull: output.window.full,
  };
}

/** Estimated number of records, at most `limit`, if unread records are as long on average as those read. */
function totalRows(
  {recordsRead, position, bytesTotal}: Session['input']['source'],
  limit: number | undefined,
): number | undefined {
  if (bytesTotal === undefined || position.bytes === 0) return limit;
  const total = Math.ceil(recordsRead * Math.max(1, bytesTotal / position.bytes));
  return Math.min(total, limit ?? total);
}

/** A number that is left to do, and how much of it is done in a second. */
interface Left {
  readonly left: number | undefined;
  readonly perSecond: number;
}

/** Estimated milliseconds to the end: by the calls left, or by the rows if no calls are left or being made. */
export function estimateTimeLeft(calls: Left, rows: Left): number | undefined {
  const {left, perSecond} = (calls.left ?? 0) > 0 && calls.perSecond > 0 ? calls : rows;
  return left === undefined || perSecond === 0 ? undefined : (left / perSecond) * 1_000;
}

/** One line: progress, cost, speed and time left, or the reason why no calls are made. */
export function formatStatus(status: ProgressFigures, width?: number): string {
  const {calls, rows, total, credits, maxCredits, pause} = status;
  // Below 1 as long as rows are known to remain.
  const most = total === undefined || rows >= total ? 1 : 0.99;
  const [share, of] =
    calls !== undefined && calls.total > 0
      ? [Math.min(most, calls.made / calls.total), 'calls']
      : [total ? Math.min(1, rows / total) : undefined, 'rows'];
  const parts = [
    ...(share === undefined ? [] : [`${Math.floor(share * 100)}% of ${of}`]),
    `${formatCount(rows)} rows`,
    `${formatCount(credits)}${maxCredits === undefined ? '' : ` of ${formatCount(maxCredits)}`} credits`,
    ...(pause === undefined ? speedWords(status) : [pauseWords(pause, status.now)]),
  ];
  return barLine(share, parts, width);
}

/** The line of a long step before the first call or after the last: its finished share and rows, as far as known. */
export function formatPhase(what: string, {share, rows}: PhaseProgress, width?: number): string {
  const percent = share === undefined ? [] : [`${Math.floor(Math.min(1, share) * 100)}%`];
  return barLine(
    share,
    [...percent, what, ...(rows === undefined ? [] : [`${formatCount(rows)} rows`])],
    width,
  );
}

/** Possible lengths of the bar in characters. The longest that fits is used. */
const BAR_LENGTHS = [20, 10, 5];

/**
 * Joins the bar and the parts in a line of at most `width` characters. To fit, the bar gets shorter, then the first part
 * (`45% of calls` becomes `45%`), then the bar goes, then the parts between the first and the last.
 */
function barLine(share: number | undefined, parts: string[], width = Number.POSITIVE_INFINITY): string {
  const spaceLeft = () => width - parts.join(' · ').length;
  const fittingBar = () => BAR_LENGTHS.find(length => length < spaceLeft());
  if (fittingBar() === undefined && share !== undefined) parts[0] = parts[0]?.split(' ')[0] ?? '';
  const length = fittingBar();
  if (share !== undefined && length !== undefined) {
    const full = '█'.repeat(Math.floor(Math.min(1, share) * length));
    return `${full.padEnd(length, '░')} ${parts.join(' · ')}`;
  }
  while (spaceLeft() < 0 && parts.length > 2) parts.splice(1, 1);
  return parts.join(' · ').slice(0, width);
}

function speedWords({callsPerSecond, leftMs = 0, slowedTo, idle, windowFull}: ProgressFigures): string[] {
  if (idle) return ['waiting to retry values that got no answer'];
  return [
    `${formatCount(Math.round(callsPerSecond))} calls/s`,
    ...(leftMs > 0 ? [`about ${formatDuration(Math.max(1_000, leftMs))} left`] : []),
    ...(slowedTo === undefined ? [] : [`slowed down to ${formatCount(Math.round(slowedTo * 10) / 10)}/s`]),
    ...(windowFull ? ['all rows read wait for one value'] : []),
  ];
}

const PAUSES = {throttled: 'throttled', quota: 'quota used up', outage: 'service down'};

function pauseWords({reason, detail, untilMs}: Pause, now: number): string {
  if (reason === 'fleet') return `waiting: ${detail}`;
  return `waiting: ${PAUSES[reason]} (${detail}), next try in ${formatDuration(Math.max(0, untilMs - now))}`;
}
