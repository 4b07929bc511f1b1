import {statSync} from 'node:fs';
import {z} from 'zod';
import {digestFiles, type FileDigest, hasDigest} from '../../disk/digest.ts';
import {textOf} from '../../disk/path.ts';
import {isReadOnce, openOnce, type Pipes} from '../../input/bytes/raw.ts';
import type {Job} from '../../job/job.ts';
import type {Summary} from '../../report/summary.ts';
import type {Destination} from '../destination/destination.ts';
import {isOwnFile} from '../destination/own-files.ts';
import {isComplete} from '../exit.ts';
import {settingsDigest} from '../identity.ts';

/** The summary of a complete earlier run; undefined if the job's settings or files differ from that run's. */
export async function finishedBefore(
  job: Job,
  destination: Destination,
  pipes: Pipes,
): Promise<Summary | undefined> {
  const {paths} = job;
  const summary = earlierSummary(job);
  if (summary?.settings_sha256 !== settingsDigest(job) || !isComplete(summary)) return undefined;
  const {output, rejects} = summary;
  const {bytes, sha256} = output;
  if (bytes === null || sha256 === null || !(await destination.holds({bytes, sha256}))) return undefined;
  if (rejects !== null && !(paths.rejects !== undefined && (await hasDigest(paths.rejects, rejects))))
    return undefined;
  return (await isMadeOf(summary, job, pipes)) ? summary : undefined;
}

/** Settings and input of a result, from its summary or from the record of its publishing. */
interface MadeOf {
  readonly settings_sha256: string;
  readonly input: FileDigest;
}

/** True if the job as it is now, with its inputs as they are now, makes this result. */
export async function isMadeOf({settings_sha256, input}: MadeOf, job: Job, pipes: Pipes): Promise<boolean> {
  if (settings_sha256 !== settingsDigest(job)) return false;
  const sources = job.inputs.map(path => (isReadOnce(path) ? openOnce(path, pipes) : path));
  const read = await digestFiles(sources, job.settings.limit === undefined ? undefined : input.bytes);
  return read.sha256 === input.sha256;
}

/**
 * True if the rejects file of an earlier run exists. If the user chose its path, the file may be another one.
 * So the last summary must give the same path and size.
 */
export function hasEarlierRejects(job: Job): boolean {
  const path = job.paths.rejects;
  const found = path === undefined ? undefined : statSync(path, {throwIfNoEntry: false});
  if (path === undefined || found?.isFile() !== true || !isOwnFile('rejects', path)) return false;
  const {rejects} = earlierSummary(job) ?? {};
  return job.settings.rejects === undefined || (rejects?.path === path && rejects.bytes === found.size);
}

const digest = z.object({bytes: z.number().nullable(), sha256: z.string().nullable()});

/** The fields that are read from a summary. They are checked, since another program may have changed the file. */
const readable = z.object({
  settings_sha256: z.string(),
  status: z.string(),
  input: digest,
  output: digest,
  rejects: digest.extend({path: z.string().nullable()}).nullable(),
});

function earlierSummary({paths: {summary}}: Job): Summary | undefined {
  try {
    const text = summary === undefined ? undefined : textOf(summary);
    const found: unknown = text === undefined ? undefined : JSON.parse(text);
    return readable.safeParse(found).success ? (found as Summary) : undefined;
  } catch {
    return undefined;
  }
}
