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
import {endpointName, scopeOf} from '../identity.ts';
import {dateOf, type World} from '../io.ts';

/** What the history is told with: it forgets what is old by the date that runs agree on. */

/** Whether the job's runs are compared with each other: it needs a name for that. */
export function isCompared({name, settings}: Job): boolean {
  return name !== undefined && settings.drift !== 'off';
}

/** What of this run jumped against the job's last ones, and says so. Trouble with the history is a warning at most. */
export function findDrift(job: Job, summary: Summary, {env, warn}: World): Drift[] {
  const {drift: setting} = job.settings;
  if (!isCompared(job) || setting === 'off') return [];
  const drift = compareRuns(profileOf(summary), earlierRuns(job, summary, env, warn), setting.share);
  if (drift.length > 0)
    warn(`This run differs from the job's last ones: ${drift.map(driftSentence).join('; ')}.`);
  return drift;
}

/** Keeps how a session ended, for runs to come and for `runs` and `spend`. Returns true once the history has it. */
export function rememberRun(job: Job, summary: Summary, io: World): boolean {
  return remember(io, () => [ownEntry(job, summary)]);
}

/** The line of a session by its own summary. */
export function ownEntry(job: Job, summary: Summary): HistoryEntry {
  const account = accountIn(summary, job);
  const endedAt = Date.parse(summary.finished_at);
  return {
    // A summary of an earlier version names no bill.
    bill: summary.session.id,
    runId: summary.run_id,
    endedAt,
    job: summary.job,
    list: listKey(job, account) ?? null,
    // A sample says nothing of what the whole list comes to.
    isComplete: isComplete(summary) && job.onlyRecords === undefined,
    line: JSON.stringify(recordOf(summary, account.endpoint)),
    summary: JSON.stringify(withoutPaths(summary)),
  };
}

/** The account that paid: a session that completes what another one published may have another. */
function accountIn({endpoint: {kind, base_url: baseUrl}, credits}: Summary, job: Job): Scope {
  const {label} = credits.account;
  if (kind === 'embedded') return {endpoint: kind, label};
  // One that could not start has no base URL but its job's.
  const given = baseUrl === null ? job.endpoint : ({kind: 'live', baseUrl, apiKey: ''} as const);
  return {endpoint: endpointName(given), label};
}

/**
 * Has the history take these lines; what is left for it while it is locked, it has. Returns true where it does. A user
 * without a state directory has no history, and a job that would need it was told so before.
 */
export function remember(io: World, entriesOf: () => HistoryEntry[]): boolean {
  const {env, warn} = io;
  if (userDirectoryTrouble('state', env) !== undefined) return true;
  try {
    const entries = entriesOf();
    try {
      withHistory(env, history => history.add(entries, dateOf(io)), 'adding');
    } catch (error) {
      if (!isBusy(error)) throw error;
      leaveForHistory(userDirectory('state', env), entries);
    }
    return true;
  } catch (error) {
    warn(
      `This run could not be added to the history (${systemReason(error)}), so runs, spend and later comparisons lack it.`,
    );
    return false;
  }
}

/** What the same list cost the last time: all lines of that run together. Undefined where nobody knows. */
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

/** Does something with the history, which is made where there is none. */
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

/** A line that is damaged gives way. */
function mergedLines(known: string, told: string): string {
  try {
    return JSON.stringify(merged(JSON.parse(known) as RunRecord, JSON.parse(told) as RunRecord));
  } catch {
    return told;
  }
}

/** Whether there is a history to look into. */
export function hasHistory(env: Env): boolean {
  try {
    return existsSync(join(userDirectory('state', env), 'runs.db'));
  } catch {
    return false;
  }
}

/**
 * A named job has one list, whatever it is called tonight; others are known by where their inputs are. What it costs is
 * another thing at each account. A hash, as paths are nobody's business.
 */
export function listKey({name, inputs}: Job, scope: Scope): string | undefined {
  if (name === undefined && inputs.includes('-')) return undefined;
  return createHash('sha256')
    .update(JSON.stringify([name ?? inputs.map(path => resolve(path)), scopeKey(scope)]))
    .digest('hex')
    .slice(0, 32);
}

function isComplete({status}: Summary): boolean {
  return status === 'completed' || status === 'partial';
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
