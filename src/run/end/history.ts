import {readFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {makeDirectory} from '../../disk/directory.ts';
import {writeAtomically} from '../../disk/replace.ts';
import {userDirectory} from '../../disk/user-directory.ts';
import {systemCode, systemReason} from '../../errors.ts';
import type {Env} from '../../job/endpoint.ts';
import type {Job} from '../../job/job.ts';
import {compareRuns, profileOf, type RunProfile} from '../../report/drift.ts';
import {driftSentence} from '../../report/sections/drift-section.ts';
import type {Drift, Summary} from '../../report/summary.ts';
import type {RunIo} from '../io.ts';

/** So many runs of a job are remembered. */
const KEPT = 30;

type Io = Pick<RunIo, 'env' | 'warn'>;

/** Whether the job's runs are remembered and compared: it needs a name for that. */
export function hasHistory({name, settings}: Job): boolean {
  return name !== undefined && settings.drift !== 'off';
}

/** What of this run jumped against the job's last ones, and says so. Trouble with the history is a warning at most. */
export function findDrift(job: Job, summary: Summary, {env, warn}: Io): Drift[] {
  if (!hasHistory(job)) return [];
  const drift = compareRuns(
    profileOf(summary),
    earlierRuns(job, summary, env, warn),
    job.settings.driftThreshold,
  );
  if (drift.length > 0)
    warn(`This run is unlike the job's last ones: ${drift.map(driftSentence).join('; ')}.`);
  return drift;
}

/** Keeps this run for those to come. */
export function rememberRun(job: Job, summary: Summary, {env, warn}: Io): void {
  if (!hasHistory(job)) return;
  try {
    const runs = [...readHistory(job, env), profileOf(summary)];
    const others = runs.filter((run, index) => index === runs.length - 1 || run.run_id !== summary.run_id);
    const path = historyPath(job, env);
    makeDirectory(dirname(path));
    writeAtomically(
      path,
      others
        .slice(-KEPT)
        .map(run => `${JSON.stringify(run)}\n`)
        .join(''),
    );
  } catch (error) {
    warn(`This run could not be kept for comparison with later ones (${systemReason(error)}).`);
  }
}

function earlierRuns(job: Job, summary: Summary, env: Env, warn: Io['warn']): RunProfile[] {
  try {
    return readHistory(job, env).filter(run => run.run_id !== summary.run_id);
  } catch (error) {
    warn(
      `The job's earlier runs could not be read, so this one was not compared with them (${systemReason(error)}).`,
    );
    return [];
  }
}

function historyPath(job: Job, env: Env): string {
  return join(userDirectory('state', env), 'jobs', job.name ?? '', 'history.ndjson');
}

/** Lines that are damaged, or of another version, are as good as gone. */
function readHistory(job: Job, env: Env): RunProfile[] {
  let text: string;
  try {
    text = readFileSync(historyPath(job, env), 'utf8');
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
