import {existsSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {exitCodes} from '../errors.ts';
import {isReadOnce} from '../input/bytes/raw.ts';
import type {Job, UnfinishedDay} from '../job/job.ts';
import type {Summary} from '../report/summary.ts';
import {type Said, say, setting} from '../sentence.ts';
import type {RunOutcome} from './exit.ts';
import type {RunIo} from './io.ts';
import {GIVEN_UP_FILE} from './state/job-files.ts';
import {closeRunDirectory, isEnded, openRunDirectory, peekState} from './state/run-directory.ts';
import {makeErrorStop, type Stopper} from './stop.ts';

/** Days for which an unfinished day is tried again every night. */
const TRIED_DAYS = 7;

/**
 * Finishes the runs of earlier days first, the oldest first. A failure of theirs never fails today's run. Returns the
 * job with the days that are still unfinished. With `--date`, tries none.
 */
export async function finishEarlierDays(
  job: Job,
  io: RunIo,
  stopper: Stopper,
  finish: (job: Job) => Promise<RunOutcome<Said>>,
): Promise<Job> {
  if (job.unfinished === undefined) return job;
  const ended = job.unfinished.filter(isEnded);
  const unfinished = job.unfinished.filter(day => !ended.includes(day));
  const recent = unfinished.filter(({date}) => ageInDays(date) <= TRIED_DAYS);
  if (job.settings.date !== undefined) return {...job, unfinished: recent};
  for (const day of unfinished) if (!recent.includes(day)) giveUp(day, io);
  for (const day of ended) removeEnded(day, io);
  const left: UnfinishedDay[] = [];
  for (const [nth, day] of recent.entries()) {
    const {isDone, stopsOthers} = await tryDay(day, job, io, stopper, finish);
    if (!isDone) left.push(day);
    if (!stopsOthers) continue;
    const others = recent.slice(nth + 1);
    if (others.length > 0)
      io.warn(
        `What it met would stop the other days, too: ${others.map(({date}) => date).join(', ')} wait for the next night.`,
      );
    return {...job, unfinished: [...left, ...others]};
  }
  return {...job, unfinished: left};
}

interface DayEnd {
  readonly isDone: boolean;
  /** True if it met what no other day could pass either, such as an outage of `max_outage`. */
  readonly stopsOthers: boolean;
}

function ageInDays(date: string): number {
  return Math.floor((Date.now() - Date.parse(date)) / 86_400_000);
}

/** Removes what is left of a day that ended without an answer, once that night is over. */
function removeEnded(day: UnfinishedDay, io: RunIo): void {
  try {
    const state = openRunDirectory(day.resolve(), io);
    closeRunDirectory(state, peekState(state).run === undefined ? 'all' : 'nothing', io.warn);
  } catch {
    // Another run may have it. The next night tries again.
  }
}

/** Warns about a day that is too old to be tried again, the first time. */
function giveUp(day: UnfinishedDay, {warn}: RunIo): void {
  const {date, directory} = day;
  const mark = join(directory, GIVEN_UP_FILE);
  if (existsSync(mark)) return;
  warn(
    say`The run of ${date} is given up: it was not finished within ${TRIED_DAYS} days. ${howToFinish(day)}`,
  );
  try {
    writeFileSync(mark, '', {flag: 'wx', mode: 0o600});
  } catch {
    // The next night warns again.
  }
}

async function tryDay(
  day: UnfinishedDay,
  {inputs}: Job,
  io: RunIo,
  stopper: Stopper,
  finish: (job: Job) => Promise<RunOutcome<Said>>,
): Promise<DayEnd> {
  const {date, directory} = day;
  if (inputs.some(isReadOnce)) {
    // The pipe has today's list now.
    io.warn(
      say`The run of ${date} was interrupted, and its list came through a pipe. To finish it, pipe that list into the same command with ${setting('date', date)}; to give it up, remove ${directory}.`,
    );
    return LEFT;
  }
  if (stopper.reason !== undefined) return LEFT;
  io.warn(`The run of ${date} was interrupted, so it is finished first.`);
  try {
    const {message, stop, summary} = await finish(day.resolve());
    // If a daily or monthly budget is used up, the stop has the time at which to come back. Without this
    // time, the run's own limit is used up.
    const usedUp = stop?.reason === 'budget' && stop.comeBackMs === undefined;
    const toDo = howToFinish(day, usedUp ? say` and a higher ${setting('maxCredits')}` : '');
    io.warn(say`The run of ${date}: ${message}${stop === undefined ? '' : say` ${toDo}`}`);
    return {isDone: stop === undefined, stopsOthers: !usedUp && concernsAll(summary)};
  } catch (error) {
    io.warn(say`The run of ${date}: ${makeErrorStop(error).message} ${howToFinish(day)}`);
    return LEFT;
  }
}

const LEFT: DayEnd = {isDone: false, stopsOthers: false};

function howToFinish({date, directory}: UnfinishedDay, more: Said = ''): Said {
  return say`To finish it, run the same command with ${setting('date', date)}${more}; to give it up, remove ${directory}.`;
}

/** True for an outage, a refused key, a deadline and a lack of credits, also if the output was published then. */
function concernsAll({exit_code: exitCode, reason}: Summary): boolean {
  const codes: readonly number[] = [exitCodes.temporary, exitCodes.credentials, exitCodes.credits];
  return codes.includes(exitCode) || reason === 'outage' || reason === 'deadline';
}
