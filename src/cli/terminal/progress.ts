import {inCredits} from '../../job/money.ts';
import {logEvent} from '../../job/monitoring/log-events.ts';
import {totalOf} from '../../ledger/tally.ts';
import type {Pause} from '../../lookup/pace/pause.ts';
import {operationNames} from '../../operations/table.ts';
import type {Session} from '../../run/session.ts';
import type {Console} from '../console.ts';
import {count, duration} from './lines.ts';

const BAR_EVERY_MS = 250;
const LINE_EVERY_MS = 30_000;
const HINT_EVERY_MS = 500;
/** How long the bar may be: what there is room for. */
const CELLS = [20, 10, 5];
/** The speed shown is that of so long a time: what was faster or slower before says little of what is to come. */
const SPEED_OVER_MS = 10_000;

/** Slower than this, in calls a second, and nothing in flight: nobody is being asked. */
const IDLE_BELOW = 0.5;

/** Shows how the run goes: a line that is redrawn on a terminal, a line now and then elsewhere. Returns its end. */
export function startProgress(session: Session, console: Console): () => void {
  for (const sentence of opening(session)) console.say(sentence);
  const stopHinting = hintOfAddress(session, console);
  const style = styleFor(session.job.settings.progress, console);
  if (style === 'none') return stopHinting;
  const bar = style === 'bar';
  const speed = new Speedometer();
  const callsBefore = totalOf(session.ledger.tally, 'calls');
  const draw = () => {
    const status = statusOf(session, speed, session.clock(), callsBefore);
    if (console.forMachine) logProgress(status, console);
    else if (bar) console.draw(statusLine(status, console.width));
    else console.say(statusLine(status));
  };
  if (bar) draw();
  const timer = setInterval(draw, bar ? BAR_EVERY_MS : LINE_EVERY_MS);
  timer.unref();
  return () => {
    stopHinting();
    clearInterval(timer);
    console.draw('');
  };
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

/** A service that was never reached in this run may not be down: its address may be wrong. Said once. */
function hintOfAddress({executor, ledger, job}: Session, console: Console): () => void {
  const timer = setInterval(() => {
    const {pause} = executor.pace();
    if (totalOf(ledger.tally, 'calls') > 0) clearInterval(timer);
    else if (pause?.reason === 'outage') {
      clearInterval(timer);
      console.warn(
        `The service can't be reached (${pause.detail}). The run waits for it, ${duration(job.settings.maxOutage)} at most; if the address may be wrong, stop, and see bulk-enrich doctor.`,
      );
    }
  }, HINT_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** What is looked up where, how fast, and what was done before. */
function opening({job, layout, executor, checkpoint, ledger}: Session): string[] {
  const columns = operationNames.flatMap(operation => {
    const some = layout.mapping.targets.filter(target => target.operation === operation);
    return some.length === 0 ? [] : [`${operation} in ${some.map(({column}) => column).join(' and ')}`];
  });
  const {limit} = executor.pace();
  const pace = limit === undefined ? 'without a rate limit' : `at most ${count(limit)} calls/s`;
  const service = job.endpoint.kind === 'embedded' ? 'the embedded service' : 'the service';
  const asking = `Asking ${service} about ${columns.join(', ')}, ${pace}.`;
  if (checkpoint === undefined) return [asking];
  const lost =
    ledger.interrupted === 0
      ? ''
      : `; ${count(ledger.interrupted)} were in flight when the last session ended and may have been charged`;
  const made = count(totalOf(ledger.tally, 'calls'));
  return [
    asking,
    `Going on from row ${count(checkpoint.record + 1)}: ${made} calls were made before and are not made again${lost}.`,
  ];
}

function styleFor(asked: 'auto' | 'bar' | 'plain' | 'none', console: Console): 'bar' | 'plain' | 'none' {
  if (console.quiet || asked === 'none') return 'none';
  if (console.forMachine) return 'plain';
  const canRedraw = process.stderr.isTTY === true && process.env.TERM !== 'dumb';
  if (asked === 'auto') return canRedraw && (process.env.CI ?? '') === '' ? 'bar' : 'plain';
  return canRedraw ? asked : 'plain';
}

/** How fast something grows, over the last seconds. */
export class Speedometer {
  readonly #readings: {readonly at: number; readonly value: number}[] = [];

  /** Notes a reading, and returns the growth a second since the oldest that counts; 0 at first. */
  read(value: number, now: number): number {
    this.#readings.push({at: now, value});
    while (this.#readings.length > 2 && (this.#readings[1]?.at ?? now) <= now - SPEED_OVER_MS)
      this.#readings.shift();
    const [oldest] = this.#readings;
    if (oldest === undefined || oldest.at === now) return 0;
    return ((value - oldest.value) / (now - oldest.at)) * 1_000;
  }
}

/** What the status line says. */
export interface Status {
  readonly now: number;
  /** Rows that are written or rejected, those of earlier sessions included. */
  readonly rows: number;
  /** How many there will be; estimated while the input is being read, undefined where its size is not known. */
  readonly total: number | undefined;
  readonly callsPerSecond: number;
  /** How long still, in milliseconds, if it goes on like this. */
  readonly leftMs: number | undefined;
  readonly credits: number;
  readonly maxCredits: number | undefined;
  readonly pause: Pause | undefined;
  /** Calls a second, where throttling has brought the rate down. */
  readonly slowedTo: number | undefined;
  /** Nothing is in flight, and has not been for a while: what is left failed before, and waits for its next try. */
  readonly idle: boolean;
  /** No more rows fit behind one that waits for its answer. */
  readonly windowFull: boolean;
}

/**
 * How long the rest takes, in milliseconds: the calls that it needs, if its rows need as many as those before, at the
 * speed of the last seconds. Where rows need none, as the store knows them, it goes by rows.
 */
export function timeLeft({
  rowsLeft,
  callsPerRow,
  callsPerSecond,
  rowsPerSecond,
}: {
  readonly rowsLeft: number | undefined;
  readonly callsPerRow: number;
  readonly callsPerSecond: number;
  readonly rowsPerSecond: number;
}): number | undefined {
  if (rowsLeft === undefined) return undefined;
  if (callsPerRow > 0 && callsPerSecond > 0) return ((rowsLeft * callsPerRow) / callsPerSecond) * 1_000;
  return rowsPerSecond === 0 ? undefined : (rowsLeft / rowsPerSecond) * 1_000;
}

function statusOf(session: Session, speed: Speedometer, now: number, callsBefore: number): Status {
  const {writer, ledger, source, startedAt, job, executor, window, checkpoint} = session;
  const {written, rejected} = writer.counters.rows;
  const rows = written + rejected;
  const total = rowsIn(source, job.settings.limit);
  const done = rows - (checkpoint?.record ?? 0);
  const {pause, current, limit, inFlight} = executor.pace();
  const calls = totalOf(ledger.tally, 'calls');
  const callsPerSecond = speed.read(calls, now);
  return {
    now,
    rows,
    total,
    callsPerSecond,
    leftMs: timeLeft({
      rowsLeft: total === undefined ? undefined : total - rows,
      callsPerRow: done === 0 ? 0 : (calls - callsBefore) / done,
      callsPerSecond,
      rowsPerSecond: now === startedAt ? 0 : (done * 1_000) / (now - startedAt),
    }),
    credits: inCredits(ledger.budget.committed),
    maxCredits: job.settings.maxCredits,
    pause,
    slowedTo: current !== undefined && (limit === undefined || current < 0.95 * limit) ? current : undefined,
    idle: calls > 0 && inFlight === 0 && callsPerSecond < IDLE_BELOW,
    windowFull: window.full,
  };
}

/** How many records there will be, if those to come are as long as those that were read. */
function rowsIn(
  {recordsRead, position, bytesTotal}: Session['source'],
  limit: number | undefined,
): number | undefined {
  if (bytesTotal === undefined || position.bytes === 0) return limit;
  const total = Math.ceil(recordsRead * Math.max(1, bytesTotal / position.bytes));
  return Math.min(total, limit ?? total);
}

/**
 * One line: how far, how fast, how long still, what it cost, and why nothing moves if nothing does. Where the terminal
 * is too narrow for it, the bar gets shorter; then parts are left out, but for how far it is and what is said last.
 */
export function statusLine(status: Status, width = Number.POSITIVE_INFINITY): string {
  const {rows, total, credits, maxCredits, pause} = status;
  const share = total === undefined || total === 0 ? undefined : Math.min(1, rows / total);
  const parts = [
    ...(share === undefined ? [] : [`${Math.floor(share * 100)}%`]),
    `${count(rows)} rows`,
    `${count(credits)}${maxCredits === undefined ? '' : ` of ${count(maxCredits)}`} credits`,
    ...(pause === undefined ? moving(status) : [waiting(pause, status.now)]),
  ];
  const room = () => width - parts.join(' · ').length;
  const cells = CELLS.find(count => count < room());
  if (share !== undefined && cells !== undefined) return `${barOf(share, cells)} ${parts.join(' · ')}`;
  while (room() < 0 && parts.length > 2) parts.splice(1, 1);
  return parts.join(' · ').slice(0, width);
}

function barOf(share: number, cells: number): string {
  return '█'.repeat(Math.floor(share * cells)).padEnd(cells, '░');
}

function moving({callsPerSecond, leftMs, slowedTo, idle, windowFull}: Status): string[] {
  if (idle) return ['waiting to ask values again that got no answer'];
  return [
    `${count(Math.round(callsPerSecond))} calls/s`,
    ...(leftMs === undefined || leftMs <= 0 ? [] : [`about ${duration(Math.max(1_000, leftMs))} left`]),
    ...(slowedTo === undefined ? [] : [`slowed down to ${count(Math.round(slowedTo * 10) / 10)}/s`]),
    ...(windowFull ? ['all rows read wait for one value'] : []),
  ];
}

function waiting({reason, detail, untilMs}: Pause, now: number): string {
  if (reason === 'fleet') return `waiting: ${detail}`;
  const what = {throttled: 'throttled', quota: 'quota used up', outage: 'service down'}[reason];
  return `waiting: ${what} (${detail}), next try in ${duration(Math.max(0, untilMs - now))}`;
}
