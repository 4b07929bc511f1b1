import {createHash} from 'node:crypto';
import {readFileSync, statSync} from 'node:fs';
import {digestFiles, hasDigest} from '../../disk/digest.ts';
import {textOf} from '../../disk/path.ts';
import type {Job} from '../../job/job.ts';
import {namesThatShape, type Settings} from '../../job/settings.ts';
import {isRejectsFile} from '../../output/rejects.ts';
import type {Summary} from '../../report/summary.ts';
import {fingerprintOf} from '../../score/given.ts';
import {loadRules} from '../../score/rules.ts';
import type {Destination} from '../destination/destination.ts';
import {scopeOf} from '../identity.ts';
import type {RunIo} from '../io.ts';

/** SHA-256 (hex) of all that the job says about its result: in the summary, it tells what the output was made by. */
export function settingsDigest(job: Job): string {
  const settings: Partial<Settings> = {...job.settings};
  for (const name of namesThatShape('nothing')) delete settings[name];
  const {name, inputs, output, endpoint, paths} = job;
  const asked = {scope: scopeOf(job), actionId: endpoint.actionId};
  const {summary, rejects} = paths;
  const written = {...(output.lasts && {output: output.name}), summary, rejects};
  return createHash('sha256')
    .update(JSON.stringify([name, inputs, written, asked, settings, ...rulesIn(job)]))
    .digest('hex');
}

/** What a file of score rules holds, and the lists that rules read: both may change under their names. */
function rulesIn({settings: {score}, placeOf}: Job): unknown[] {
  try {
    const isFile = typeof score === 'string' && score !== 'default' && score !== 'none';
    const rules = loadRules(score, placeOf);
    return [
      isFile ? readFileSync(score, 'utf8') : null,
      ...(rules === undefined ? [] : fingerprintOf(rules)),
    ];
  } catch {
    // The run will say so.
    return [null];
  }
}

/**
 * The summary of a run of this very job that is complete: made with the same settings of the same input, its output and
 * rejects as it wrote them.
 */
export async function finishedBefore(
  job: Job,
  destination: Destination,
  {stdin}: Pick<RunIo, 'stdin'>,
): Promise<Summary | undefined> {
  const {inputs, paths, settings} = job;
  const summary = earlierSummary(job);
  if (summary?.settings_sha256 !== settingsDigest(job)) return undefined;
  const {status, input, output, rejects} = summary;
  if (status !== 'completed' && status !== 'partial') return undefined;
  const {bytes, sha256} = output;
  if (bytes === null || sha256 === null || !(await destination.holds({bytes, sha256}))) return undefined;
  if (rejects !== null && !(paths.rejects !== undefined && (await hasDigest(paths.rejects, rejects))))
    return undefined;
  const sources = inputs.map(path => (path === '-' ? stdin : path));
  const read = await digestFiles(sources, settings.limit === undefined ? undefined : input.bytes);
  return read.sha256 === input.sha256 ? summary : undefined;
}

/** Whether the last run's rejects are there, which this one has none of: written by this job, as far as can be told. */
export function hasEarlierRejects(job: Job): boolean {
  const path = job.paths.rejects;
  const found = path === undefined ? undefined : statSync(path, {throwIfNoEntry: false});
  if (path === undefined || found?.isFile() !== true || !isRejectsFile(path)) return false;
  const {rejects} = earlierSummary(job) ?? {};
  return job.settings.rejects === undefined || (rejects?.path === path && rejects.bytes === found.size);
}

function earlierSummary({paths: {summary}}: Job): Summary | undefined {
  try {
    const text = summary === undefined ? undefined : textOf(summary);
    return text === undefined ? undefined : (JSON.parse(text) as Summary);
  } catch {
    return undefined;
  }
}
