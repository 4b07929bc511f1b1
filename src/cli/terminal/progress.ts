import {operationNames} from '../../client/wire.ts';
import type {PaceReport} from '../../lookup/executor.ts';
import type {Session} from '../../run/session.ts';
import type {Console} from '../console.ts';
import {count, duration} from './format.ts';

const BAR_EVERY_MS = 200;
const LINE_EVERY_MS = 30_000;
const CELLS = 20;

/** Shows how the run goes: a line that is redrawn on a terminal, a line now and then elsewhere. Returns its end. */
export function startProgress(session: Session, console: Console): () => void {
  const {job, checkpoint, ledger} = session;
  const style = styleFor(job.settings.progress, console);
  if (checkpoint !== undefined) {
    console.say(
      `Going on from row ${count(checkpoint.record + 1)}: ${count(callsMade(session))} calls were made before and are not made again${ledger.interrupted === 0 ? '' : `; ${count(ledger.interrupted)} were in flight when the last session ended and may have been charged`}.`,
    );
  }
  if (style === 'none') return () => {};
  const bar = style === 'bar';
  const draw = () => {
    const text = statusLine(session, session.executor.pace());
    process.stderr.write(
      bar ? `\r\u001B[2K${text.slice(0, (process.stderr.columns ?? 80) - 1)}` : `${text}\n`,
    );
  };
  const timer = setInterval(draw, bar ? BAR_EVERY_MS : LINE_EVERY_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    if (bar) process.stderr.write('\r\u001B[2K');
  };
}

function styleFor(asked: 'auto' | 'bar' | 'plain' | 'none', console: Console): 'bar' | 'plain' | 'none' {
  if (console.quiet) return 'none';
  if (asked !== 'auto') return asked;
  return process.stderr.isTTY === true && process.env.TERM !== 'dumb' && (process.env.CI ?? '') === ''
    ? 'bar'
    : 'plain';
}

function callsMade({ledger}: Session): number {
  return operationNames.reduce((sum, name) => sum + ledger.tally.operations[name].calls, 0);
}

/** One line: how far, how fast, how long still, what it cost, and why nothing moves if nothing does. */
export function statusLine(session: Session, pace: PaceReport, now = Date.now()): string {
  const {writer, ledger, source, startedAt, job} = session;
  const {written, rejected} = writer.counters.rows;
  const share =
    source.bytesTotal === undefined || source.bytesTotal === 0
      ? undefined
      : Math.min(1, source.position.bytes / source.bytesTotal);
  const elapsed = Math.max(1, now - startedAt);
  const done = written + rejected - (session.checkpoint?.record ?? 0);
  const parts = [
    ...(share === undefined
      ? []
      : [`${'█'.repeat(Math.round(share * CELLS)).padEnd(CELLS, '░')} ${Math.floor(share * 100)}%`]),
    `${count(written + rejected)} rows`,
    `${count(Math.round((callsMade(session) / elapsed) * 1_000))} calls/s`,
    ...eta(share, done, elapsed),
    `${count(ledger.committed)}${job.settings.maxCredits === undefined ? '' : ` of ${count(job.settings.maxCredits)}`} credits`,
    ...stall(session, pace, now),
  ];
  return parts.join(' · ');
}

function eta(share: number | undefined, done: number, elapsed: number): string[] {
  if (share === undefined || share <= 0.01 || share >= 1 || done === 0) return [];
  return [`about ${duration((elapsed / share) * (1 - share))} left`];
}

function stall({window}: Session, {pause, current, limit}: PaceReport, now: number): string[] {
  if (pause !== undefined) {
    const what = {throttled: 'throttled', quota: 'quota used up', outage: 'service down'}[pause.reason];
    return [`waiting: ${what} (${pause.detail}), next try in ${duration(Math.max(0, pause.untilMs - now))}`];
  }
  const slowed =
    current !== undefined && (limit === undefined || current < 0.95 * limit)
      ? [`slowed down to ${count(Math.round(current * 10) / 10)}/s`]
      : [];
  return window.full ? [...slowed, 'the window is full: all rows read wait for one value'] : slowed;
}
