import {createHash} from 'node:crypto';
import {existsSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {isBusy} from '../../disk/sqlite.ts';
import {userDirectory, userDirectoryTrouble} from '../../disk/user-directory.ts';
import {systemReason} from '../../errors.ts';
import type {Env} from '../../job/endpoint.ts';
import type {Job} from '../../job/job.ts';
import {type HistoryEntry, leaveForHistory, RunHistory} from '../../ledger/history.ts';
import {compareRuns, profileOf, type RunProfile} from '../../report/drift.ts';
import {merged, type RunRecord, recordOf, withoutPaths} from '../../report/run-record.ts';
import {driftSentence} from '../../report/sections/drift-section.ts';
import type {Drift, Summary} from '../../report/summary.ts';
import {type Scope, scopeKey} from '../../store/store-file.ts';
import {isComplete} from '../exit.ts';
import {endpointName, scopeOf} from '../identity.ts';
import type {World} from '../io.ts';

/** True if the job's runs are compared with each other. The job needs a name for that. */
export function isCompared({name, settings}: Job): boolean {
  return name !== undefined && settings.drift !== 'off';
}

/** Warns of figures that differ much from the job's last runs, and returns them. A history error is a warning. */
export function findDrift(job: Job, summary: Summary, {env, warn}: World): Drift[] {
  const {drift: setting} = job.settings;
  if (!isCompared(job) || setting === 'off') return [];
  const drift = compareRuns(profileOf(summary), earlierRuns(job, summary, env, warn), setting.share);
  if (drift.length > 0)
    warn(`This run differs from the job's last ones: ${drift.map(driftSentence).join('; ')}.`);
  return drift;
}

/** Adds the session to the history, which later runs, `runs` and `spend` read. Returns false if that failed. */
export function rememberRun(job: Job, summary: Summary, io: World): boolean {
  return remember(io, () => [ownEntry(job, summary)]);
}

/** The session's line in the history, from its own summary. */
export function ownEntry(job: Job, summary: Summary): HistoryEntry {
  const account = accountIn(summary, job);
  const endedAt = Date.parse(summary.finished_at);
  return {
    bill: summary.session.id,
    runId: summary.run_id,
    endedAt,
    job: summary.job,
    list: listKey(job, account) ?? null,
    isComplete: isComplete(summary),
    line: JSON.stringify(recordOf(summary, account.endpoint)),
    summary: JSON.stringify(withoutPaths(summary)),
  };
}

/** The account that paid. It may not be the job's, if this session completes another session's publishing. */
function accountIn({endpoint: {kind, base_url: baseUrl}, credits}: Summary, job: Job): Scope {
  const {label} = credits.account;
  if (kind === 'embedded') return {endpoint: kind, label};
  // If the summary lacks the base URL, the job's endpoint is used.
  const endpoint = endpointName(baseUrl === null ? job.endpoint : {kind: 'live', baseUrl});
  return {endpoint, label};
}

/**
 * Adds lines to the history. If another process has the history locked, leaves the lines in a file; the next
 * process that opens the history adds them. Returns false if neither worked.
 *
 * Without a state directory there is no history, and this returns true: a job that compares its runs has
 * been warned already.
 */
export function remember(io: World, entriesOf: () => HistoryEntry[]): boolean {
  const {env, warn} = io;
  if (userDirectoryTrouble('state', env) !== undefined) return true;
  try {
    const entries = entriesOf();
    try {
      withHistory(env, history => history.add(entries, io.now()), 'adding');
    } catch (error) {
      if (!isBusy(error)) throw error;
      leaveForHistory(userDirectory('state', env), entries);
    }
    return true;
  } catch (error) {
    warn(
      `This run could not be added to the history (${systemReason(error)}), so runs, spend and later comparisons lack it. The next run of this output adds it, once the cause is fixed.`,
    );
    return false;
  }
}

/**
 * The lines of the last complete run over the job's list. A run has a line for each bill, so its cost is the
 * sum of all its lines. Undefined if the history has no such run, or can't be read.
 */
export function lastOverSameList(job: Job, env: Env): readonly RunRecord[] | undefined {
  const list = listKey(job, scopeOf(job.endpoint, job.settings));
  if (list === undefined || !hasHistory(env)) return undefined;
  try {
    const records = withHistory(env, history => history.lastOver(list)).map(
      line => JSON.parse(line) as RunRecord,
    );
    return records.length === 0 ? undefined : records;
  } catch {
    return undefined;
  }
}

/** Runs `work` with the history, creating it if needed. */
export function withHistory<T>(
  env: Env,
  work: (history: RunHistory) => T,
  purpose: 'adding' | 'reading' = 'reading',
): T {
  const history = new RunHistory(userDirectory('state', env), mergedLines, purpose);
  try {
    return work(history);
  } finally {
    history.close();
  }
}

/**
 * Merges a bill's line in the history (`known`) with a new line of it. A bill is the spending of one session.
 * If a line is damaged, returns the new one.
 */
function mergedLines(known: string, told: string): string {
  try {
    return JSON.stringify(merged(JSON.parse(known) as RunRecord, JSON.parse(told) as RunRecord));
  } catch {
    return told;
  }
}

export function hasHistory(env: Env): boolean {
  try {
    return existsSync(join(userDirectory('state', env), 'runs.db'));
  } catch {
    return false;
  }
}

/**
 * Identifies a list at an account, since its cost differs by account. A job with a name has one list, whatever its
 * input is called. Without a name the input paths identify the list, as a hash, since paths are private. Undefined
 * for stdin without a name.
 */
export function listKey({name, inputs}: Job, scope: Scope): string | undefined {
  if (name === undefined && inputs.includes('-')) return undefined;
  return createHash('sha256')
    .update(JSON.stringify([name ?? inputs.map(path => resolve(path)), scopeKey(scope)]))
    .digest('hex')
    .slice(0, 32);
}

function earlierRuns(job: Job, summary: Summary, env: Env, warn: World['warn']): RunProfile[] {
  try {
    const kept = hasHistory(env) ? withHistory(env, history => history.summaries(job.name ?? '')) : [];
    const runs = kept.map(text => profileOf(JSON.parse(text) as Summary));
    return runs.filter(run => run.run_id !== summary.run_id);
  } catch (error) {
    warn(
      `The job's earlier runs could not be read, so this one was not compared with them (${systemReason(error)}).`,
    );
    return [];
  }
}
