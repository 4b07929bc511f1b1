import type {Source} from '../../input/source.ts';
import {inCredits} from '../../job/money.ts';
import {logEvent} from '../../job/monitoring/log-events.ts';
import {totalOf} from '../../ledger/run/tally.ts';
import type {Phase} from '../../run/io.ts';
import type {Session} from '../../run/session.ts';
import type {Console} from '../console.ts';
import {opening} from './opening.ts';
import {canRedraw} from './printable.ts';
import {phaseLine, Speedometer, type Status, statusLine, timeLeft} from './status-line.ts';

const BAR_EVERY_MS = 250;
const LINE_EVERY_MS = 30_000;

/** Calls per second below which the status line says that the run waits, unless a call is in flight. */
const IDLE_BELOW = 0.5;

/** True if progress is shown on a line that is redrawn. */
export function hasBar({quiet, forMachine}: Console): boolean {
  return !quiet && !forMachine && canRedraw(process.env.CI);
}

/** Shows slow steps before and after the calls on a redrawn line. A step of less than 0.25 s is not shown. */
export function phasesOn(console: Console): Phase {
  return (what, reached) => {
    if (!hasBar(console)) return () => {};
    const draw = () => console.draw(phaseLine(what, reached(), console.width));
    return repeating(draw, BAR_EVERY_MS, () => console.draw(''));
  };
}

function repeating(work: () => void, everyMs: number, atEnd: () => void): () => void {
  const timer = setInterval(work, everyMs);
  timer.unref();
  return () => {
    clearInterval(timer);
    atEnd();
  };
}

/**
 * Shows a run's progress: on a redrawn line at a terminal, elsewhere on a new line every 30 s. Returns a function
 * that ends the display. `counted`: the number of calls left at the start, if it was counted.
 */
export function startProgress(session: Session, console: Console, counted?: number): () => void {
  for (const sentence of opening(session)) console.say(sentence);
  if (console.quiet) return () => {};
  const bar = hasBar(console);
  const speed = new Speedometer();
  speed.read(0, session.clock());
  const draw = () => {
    if (bar && isCatchingUp(session)) {
      const {position, bytesTotal} = session.input.source;
      const share = bytesTotal === undefined ? undefined : position.bytes / Math.max(1, bytesTotal);
      console.draw(phaseLine('catching up', {share}, console.width));
      return;
    }
    const status = statusOf(session, speed, counted);
    if (console.forMachine) logProgress(status, console);
    else if (bar) console.draw(statusLine(status, console.width));
    else console.say(statusLine(status));
  };
  if (bar) draw();
  return repeating(draw, bar ? BAR_EVERY_MS : LINE_EVERY_MS, () => console.draw(''));
}

/** True while a resumed run writes rows of which it knows all answers. */
function isCatchingUp({asking: {gate, ledger}}: Session): boolean {
  const {inFlight, waiting} = gate.pace();
  return ledger.isResumed && totalOf(ledger.tally, 'calls') === 0 && inFlight + waiting === 0;
}

/** Calls that this session has made so far, and the number of values that these calls looked up. */
function madeIn({asking: {ledger}}: Session): {readonly calls: number; readonly values: number} {
  const calls = totalOf(ledger.tally, 'calls');
  return {calls, values: calls - totalOf(ledger.tally, 'retries')};
}

function logProgress(status: Status, {log}: Console): void {
  const {rows, total, callsPerSecond, leftMs, credits} = status;
  const fields = {
    rows,
    rows_total: total,
    calls_per_second: Math.round(callsPerSecond * 10) / 10,
    left_ms: leftMs === undefined ? undefined : Math.round(leftMs),
    credits,
  };
  logEvent(log, 'run_progress', fields, statusLine(status));
}

function statusOf(session: Session, speed: Speedometer, counted: number | undefined): Status {
  const {startedAt, job, input, asking, output} = session;
  const now = session.clock();
  const {source} = input;
  const {ledger, gate} = asking;
  const {writer, window} = output;
  const {written, rejected} = writer.counters.rows;
  const rows = written + rejected;
  const total = rowsIn(source, job.settings.limit);
  const {pause, current, limit, inFlight} = gate.pace();
  const made = madeIn(session);
  const calls = counted === undefined ? undefined : {made: made.values, total: counted};
  const callsPerSecond = speed.read(made.calls, now);
  const rowsLeft = total === undefined ? undefined : total - rows;
  const perRow = rows === 0 ? 0 : made.calls / rows;
  return {
    now,
    rows,
    total,
    calls,
    callsPerSecond,
    leftMs: timeLeft({
      callsLeft: calls === undefined ? rowsLeft && rowsLeft * perRow : calls.total - calls.made,
      callsPerSecond,
      rowsLeft,
      rowsPerSecond: now === startedAt ? 0 : (rows * 1_000) / (now - startedAt),
    }),
    credits: inCredits(ledger.budget.committed),
    maxCredits: job.settings.maxCredits,
    pause,
    slowedTo: current !== undefined && (limit === undefined || current < 0.95 * limit) ? current : undefined,
    idle: made.calls > 0 && inFlight === 0 && callsPerSecond < IDLE_BELOW,
    windowFull: window.full,
  };
}

/** Estimated number of records, at most `limit`, if unread records are as long on average as those read. */
function rowsIn({recordsRead, position, bytesTotal}: Source, limit: number | undefined): number | undefined {
  if (bytesTotal === undefined || position.bytes === 0) return limit;
  const total = Math.ceil(recordsRead * Math.max(1, bytesTotal / position.bytes));
  return Math.min(total, limit ?? total);
}
