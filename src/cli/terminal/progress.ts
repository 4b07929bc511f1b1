import {logEvent} from '../../job/monitoring/log-events.ts';
import {toCredits} from '../../job/settings/cost.ts';
import {totalOverOperations} from '../../ledger/run/tally.ts';
import type {AnnouncePhase} from '../../run/io.ts';
import type {Session} from '../../run/session.ts';
import type {Console} from '../console.ts';
import {formatOpening} from './opening.ts';
import {canRedraw, print} from './printable.ts';
import {
  estimateTimeLeft,
  formatPhase,
  formatStatus,
  type ProgressFigures,
  Speedometer,
} from './status-line.ts';

const BAR_EVERY_MS = 250;
const LINE_EVERY_MS = 30_000;

/** Calls per second below which the status line says that the run waits, unless a call is in flight. */
const IDLE_BELOW = 0.5;

/** True if progress is shown on a line that is redrawn. */
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
 * Shows a run's progress: on a redrawn line at a terminal, elsewhere on a new line every 30 s. Returns a function
 * that ends the display. SIGUSR1 tells it at once, as of dd. `counted`: the number of calls left at the start, if it was counted.
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
    if (bar && isCatchingUp(session)) {
      const {position, bytesTotal} = session.input.source;
      const share = bytesTotal === undefined ? undefined : position.bytes / Math.max(1, bytesTotal);
      console.draw(formatPhase('catching up', {share}, console.width));
      return;
    }
    if (bar) console.draw(formatStatus(statusOf(session, speed, counted), console.width));
    else tell();
  };
  if (bar) draw();
  const endDrawing = repeat(draw, bar ? BAR_EVERY_MS : LINE_EVERY_MS, console);
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

function statusOf(session: Session, speed: Speedometer, counted: number | undefined): ProgressFigures {
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
  const callsLeft = calls === undefined ? rowsLeft && rowsLeft * perRow : calls.total - calls.made;
  const rowsPerSecond = now === startedAt ? 0 : (rows * 1_000) / (now - startedAt);
  return {
    now,
    rows,
    total,
    calls,
    callsPerSecond,
    leftMs: estimateTimeLeft(
      {left: callsLeft, perSecond: callsPerSecond},
      {left: rowsLeft, perSecond: rowsPerSecond},
    ),
    credits: toCredits(budget.committed),
    maxCredits: job.settings.maxCredits,
    pause,
    slowedTo: current !== undefined && (limit === undefined || current < 0.95 * limit) ? current : undefined,
    idle: made > 0 && inFlight === 0 && callsPerSecond < IDLE_BELOW,
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
