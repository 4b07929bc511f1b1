import {createHash} from 'node:crypto';
import {existsSync, readFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {userDirectory, userDirectoryTrouble} from '../../disk/user-directory.ts';
import {systemCode, systemReason} from '../../errors.ts';
import type {Env} from '../../job/endpoint.ts';
import type {Job} from '../../job/job.ts';
import {RunHistory} from '../../ledger/history.ts';
import {compareRuns, profileOf, type RunProfile} from '../../report/drift.ts';
import {type RunRecord, recordOf, withoutPaths} from '../../report/run-record.ts';
import {driftSentence} from '../../report/sections/drift-section.ts';
import type {Drift, Summary} from '../../report/summary.ts';
import {endpointName} from '../identity.ts';
import {dateOf, type RunIo} from '../io.ts';

type Io = Pick<RunIo, 'env' | 'warn'>;

/** Whether the job's runs are compared with each other: it needs a name for that. */
export function isCompared({name, settings}: Job): boolean {
  return name !== undefined && settings.drift !== 'off';
}

/** What of this run jumped against the job's last ones, and says so. Trouble with the history is a warning at most. */
export function findDrift(job: Job, summary: Summary, {env, warn}: Io): Drift[] {
  if (!isCompared(job)) return [];
  const drift = compareRuns(
    profileOf(summary),
    earlierRuns(job, summary, env, warn),
    job.settings.driftThreshold,
  );
  if (drift.length > 0)
    warn(`This run is unlike the job's last ones: ${drift.map(driftSentence).join('; ')}.`);
  return drift;
}

/**
 * Keeps how this run ended, for those to come and for `runs` and `spend`. A user without a state directory has no
 * history; a job that would need it was told so before.
 */
export function rememberRun(job: Job, summary: Summary, io: Io & Pick<RunIo, 'now' | 'date'>): void {
  const {env, warn} = io;
  if (userDirectoryTrouble('state', env) !== undefined) return;
  try {
    withHistory(env, history =>
      history.add(
        {
          runId: summary.run_id,
          endedAt: Date.parse(summary.finished_at),
          job: summary.job,
          list: listKey(job) ?? null,
          // A sample says nothing of what the whole list comes to.
          isComplete: isComplete(summary) && job.onlyRecords === undefined,
          line: JSON.stringify(recordOf(summary, endpointName(job.endpoint))),
          summary: JSON.stringify(withoutPaths(summary)),
        },
        dateOf(io),
      ),
    );
  } catch (error) {
    warn(
      `This run could not be kept in the history (${systemReason(error)}): runs, spend and comparisons with later runs lack it.`,
    );
  }
}

/** What the same list cost the last time: all lines of that run together. Undefined where nobody knows. */
export function lastOverSameList(job: Job, env: Env): readonly RunRecord[] | undefined {
  const list = listKey(job);
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
export function withHistory<T>(env: Env, work: (history: RunHistory) => T): T {
  const history = new RunHistory(userDirectory('state', env));
  try {
    return work(history);
  } finally {
    history.close();
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
function listKey(job: Job): string | undefined {
  const {name, inputs} = job;
  if (name === undefined && inputs.includes('-')) return undefined;
  return createHash('sha256')
    .update(
      JSON.stringify([
        name ?? inputs.map(path => resolve(path)),
        endpointName(job.endpoint),
        job.settings.account,
      ]),
    )
    .digest('hex')
    .slice(0, 32);
}

function isComplete({status}: Summary): boolean {
  return status === 'completed' || status === 'partial';
}

function earlierRuns(job: Job, summary: Summary, env: Env, warn: Io['warn']): RunProfile[] {
  try {
    const kept = hasHistory(env) ? withHistory(env, history => history.summaries(job.name ?? '')) : [];
    const runs =
      kept.length > 0 ? kept.map(text => profileOf(JSON.parse(text) as Summary)) : olderHistory(job, env);
    return runs.filter(run => run.run_id !== summary.run_id);
  } catch (error) {
    warn(
      `The job's earlier runs could not be read, so this one was not compared with them (${systemReason(error)}).`,
    );
    return [];
  }
}

/** What version 0.1 kept of a job, as long as nothing else is. Lines that are damaged are as good as gone. */
function olderHistory({name = ''}: Job, env: Env): RunProfile[] {
  let text: string;
  try {
    text = readFileSync(join(userDirectory('state', env), 'jobs', name, 'history.ndjson'), 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
  return text.split('\n').flatMap(line => {
    try {
      const run = JSON.parse(line) as RunProfile;
      return run.version === 1 && typeof run.shares === 'object' ? [run] : [];
    } catch {
      return [];
    }
  });
}
