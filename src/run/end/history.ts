import {existsSync, readdirSync, rmSync, statSync} from 'node:fs';
import {basename, join} from 'node:path';
import {makeDirectory, userDirectory, userDirectoryTrouble} from '../../disk/directory.ts';
import {readFileText} from '../../disk/path.ts';
import {replaceFile} from '../../disk/replace.ts';
import {exitCodes, systemCode, systemReason} from '../../errors.ts';
import type {Env} from '../../job/endpoint.ts';
import type {Job} from '../../job/job.ts';
import {toCredits, toThousandths} from '../../job/settings/cost.ts';
import {scopeKey} from '../../ledger/answers/store-file.ts';
import {
  type AttemptCounts,
  type Spending,
  type SpendingByOperation,
  totalSpending,
} from '../../ledger/run/tally.ts';
import {recordOf} from '../../operations/operation.ts';
import {type Operation, operationNames} from '../../operations/table.ts';
import {compareRuns, driftSentence, findEarlierList, makeRunProfile} from '../../report/drift.ts';
import {accountOfSummary, stripDirectories, UNFINISHED_REASON} from '../../report/run-record.ts';
import {type Drift, type Summary, summarySchema} from '../../report/summary.ts';
import {type End, isCompleteRun} from '../exit.ts';
import type {World} from '../io.ts';
import {answerScope} from '../scope.ts';
import type {RunSpending} from '../state/run-identity.ts';

// The history: a file for each run, which is its summary so far. The run replaces it at its start, every minute and at its
// end. After a kill it lacks a minute at most, and the next session of the ledger completes it.

const DAY_MS = 86_400_000;
/** A run is kept until this many are a year younger, so that no clock that is ahead ends the history; `most` at most. */
const KEPT = {ms: 366 * DAY_MS, younger: 100, most: 10_000} as const;

/** The end, as far as known, of a run under way. It stays in the file of a killed run. */
export const unfinishedEnd: End = {
  status: 'interrupted',
  reason: UNFINISHED_REASON,
  exitCode: exitCodes.interrupted,
};

/** Throws if there is no home directory. */
export function historyDirectory(env: Env): string {
  return join(userDirectory('state', env), 'runs');
}

function pathOf(env: Env, id: string): string {
  return join(historyDirectory(env), `${id}.json`);
}

/**
 * Writes the run's file in the history. Returns false, with a warning, if that failed; true without a state directory: a
 * job that compares its runs has been warned of it already.
 */
export function saveRunInHistory(summary: Summary, {env, warn}: World): boolean {
  if (userDirectoryTrouble('state', env) !== undefined) return true;
  try {
    makeDirectory(historyDirectory(env));
    writeRun(env, stripDirectories(summary));
    return true;
  } catch (error) {
    warn(
      `The history can't keep this run (${systemReason(error)}), so runs, spend and later comparisons lack it. The next run of this output adds it, once the cause is fixed.`,
    );
    return false;
  }
}

function writeRun(env: Env, summary: Summary): void {
  const {run_id: id} = summary;
  // The identifier may come from a file that another program changed.
  if (!/^[\w-]+$/.test(id)) throw new Error('the name of the run is damaged');
  const path = pathOf(env, id);
  replaceFile(path, JSON.stringify(summary), {beside: `${path}.new`, isPrivate: true});
}

/** Removes the files of old or excess runs. An error is ignored: the next run does it again. */
export function pruneHistory(env: Env): void {
  try {
    const directory = historyDirectory(env);
    const files = readdirSync(directory).map(name => {
      const path = join(directory, name);
      return {path, at: statSync(path).mtimeMs};
    });
    const newest = files.sort((a, b) => b.at - a.at);
    const kept = (newest[KEPT.younger - 1]?.at ?? 0) - KEPT.ms;
    const old = newest.filter(({at}, index) => index >= KEPT.most || at < kept);
    for (const {path} of old) rmSync(path);
  } catch {
    // There is no history yet, or another run removes the same files.
  }
}

/** Completes the files of earlier runs with what their ledger has booked: a killed session could not. */
export function completeKilledRuns(runs: readonly RunSpending[], {env, warn}: World): void {
  if (userDirectoryTrouble('state', env) !== undefined) return;
  for (const [id, spending, attempts] of runs) {
    const path = pathOf(env, id);
    try {
      const known = readSummary(path);
      const complete = known && withSpending(known, spending, attempts);
      if (complete && JSON.stringify(complete) !== JSON.stringify(known)) writeRun(env, complete);
    } catch (error) {
      warn(
        `${path} can't be completed (${systemReason(error)}), so runs and spend may lack credits of a run of this output.`,
      );
    }
  }
}

export function spendingInCredits({spent, maybeSpent}: Spending) {
  return {spent: toCredits(spent), maybe_spent: toCredits(maybeSpent)};
}

export function attemptSummary({byStatus, byError, unsent, unconfirmed}: AttemptCounts) {
  return {unsent, unconfirmed, by_status: {...byStatus}, by_error: {...byError}};
}

/** The summary of a killed session, with the run's calls and spending as the ledger has them. */
function withSpending(summary: Summary, spending: SpendingByOperation, attempts: AttemptCounts): Summary {
  const total = totalSpending(spending);
  const names = operationNames.filter(name => summary.lookups[name] !== undefined);
  const calls = (name: Operation) => ({...summary.lookups[name], calls: spending[name].calls});
  return {
    ...summary,
    lookups: recordOf(names, calls) as Summary['lookups'],
    calls: {...summary.calls, ...attemptSummary(attempts), total: total.calls},
    credits: {
      ...summary.credits,
      ...spendingInCredits(total),
      by_operation: recordOf(names, name => spendingInCredits(spending[name])),
    },
  };
}

type RunFilter = (run: Summary) => boolean;

/**
 * The summaries of all or of the wanted runs, in the order of their ends. Warns of damaged files, and leaves them out.
 *
 * @throws the system's error if the directory can't be read.
 */
export function readRunSummaries({env, warn}: Pick<World, 'env' | 'warn'>, isWanted?: RunFilter): Summary[] {
  const directory = historyDirectory(env);
  const files = existsSync(directory) ? readdirSync(directory).filter(name => name.endsWith('.json')) : [];
  const summaries = files.flatMap(name => {
    const path = join(directory, name);
    try {
      return readSummary(path, isWanted) ?? [];
    } catch (error) {
      // Another run may have removed an old file meanwhile.
      if (systemCode(error) !== 'ENOENT') warn(`${path} is damaged, so that run is left out.`);
      return [];
    }
  });
  return summaries.sort((a, b) => Date.parse(a.finished_at) - Date.parse(b.finished_at));
}

/**
 * The summary in a file; undefined if it is not wanted. To check it takes ten times as long as to read it.
 *
 * @throws an error if the file is no summary.
 */
function readSummary(path: string, isWanted: RunFilter = () => true): Summary | undefined {
  const summary = JSON.parse(readFileText(path)) as Summary;
  if (basename(path) !== `${summary.run_id}.json`) throw new Error('it is the file of another run');
  if (!isWanted(summary)) return undefined;
  summarySchema.parse(summary);
  return summary;
}

/** The history's runs of the job's endpoint and account, in the order of their ends; none if it can't be read. */
function runsOfAccount({endpoint, settings}: Job, env: Env, isWanted: RunFilter): Summary[] {
  const key = scopeKey(answerScope(endpoint, settings));
  try {
    return readRunSummaries(
      {env, warn() {}},
      run => isWanted(run) && scopeKey(accountOfSummary(run)) === key,
    );
  } catch {
    return [];
  }
}

/** No period of a budget is longer. */
const LONGEST_PERIOD_MS = 32 * DAY_MS;

/** Start and thousandths of a credit of each run of the job's account in a month; none if the history can't be read. */
export function spentByRun(job: Job, {env, now}: World): {at: number; spent: number}[] {
  const since = now() - LONGEST_PERIOD_MS;
  const runs = runsOfAccount(job, env, run => !(Date.parse(run.started_at) < since));
  return runs.map(({started_at: at, credits}) => ({
    at: Date.parse(at),
    spent: toThousandths(credits.spent + credits.maybe_spent),
  }));
}

/** True if the job's runs are compared with each other. The job needs a name for that. */
export function comparesRuns({name, settings}: Job): boolean {
  return name !== undefined && settings.drift !== 'off';
}

/** Warns of figures that differ much from the job's last runs, and returns them. A history error is a warning. */
export function findDrift(job: Job, summary: Summary, io: World): Drift[] {
  const {drift: setting} = job.settings;
  if (!comparesRuns(job) || setting === 'off') return [];
  try {
    const isOther = ({run_id: id}: Summary) => id !== summary.run_id;
    const others = readRunSummaries(io, run => run.job === job.name && isOther(run) && isCompleteRun(run));
    const [now, before] = [makeRunProfile(summary), others.map(makeRunProfile)];
    const drift = compareRuns(now, before, setting.share);
    if (drift.length > 0)
      io.warn(`This run differs from the job's last ones: ${drift.map(driftSentence).join('; ')}.`);
    const earlier = findEarlierList(now, before);
    if (earlier !== undefined) io.warn(`${earlier.sentence} Was it exported anew?`);
    return earlier === undefined ? drift : [...drift, earlier.drift];
  } catch (error) {
    io.warn(
      `The job's earlier runs could not be read, so this one was not compared with them (${systemReason(error)}).`,
    );
    return [];
  }
}

/** The job's last complete run of the same account; undefined without one, or if the history can't be read. */
export function readLastRunOfJob(job: Job, env: Env): Summary | undefined {
  if (job.name === undefined) return undefined;
  return runsOfAccount(job, env, run => run.job === job.name && isCompleteRun(run)).at(-1);
}
