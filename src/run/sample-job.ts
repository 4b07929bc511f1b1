import {existsSync, mkdirSync} from 'node:fs';
import {join} from 'node:path';
import {removeDirectory} from '../disk/remove.ts';
import {type TemporaryDirectory, temporaryDirectory} from '../disk/temporary.ts';
import type {Job} from '../job/job.ts';

/** The job of a sample, and the directory that holds its files and its saved state. */
export interface SampleJob {
  readonly job: Job;
  /** Removes the directory, unless it has state that the history or the store still lacks. */
  close(): void;
}

/**
 * The job of a sample, with only the rows in `only`. It leaves nothing but answers, costs and the record of calls.
 * Its state is beside the job's state, where the next command finds the answers of a killed sample.
 */
export function sampleJob(job: Job, only: ReadonlySet<number>): SampleJob {
  const {path: directory, remove} = directoryFor(job);
  const state = join(directory, 'state');
  return {
    job: {
      ...job,
      output: {kind: 'file', name: join(directory, 'output'), lasts: true},
      paths: {summary: join(directory, 'summary.json'), rejects: join(directory, 'rejects'), state},
      settings: {
        ...job.settings,
        sample: undefined,
        failIf: undefined,
        report: undefined,
        metrics: undefined,
        pingUrl: undefined,
        // The run writes the file that `calls` names. A sample writes another file beside that one.
        calls: job.settings.calls?.replace(/(\.[^./\\]+)?$/, '.sample$1'),
        drift: 'off',
        force: true,
      },
      restarts: 'now',
      onlyRecords: only,
      unfinished: [],
    },
    close: () => {
      if (!existsSync(state)) remove();
    },
  };
}

/** A job without rows that takes over the answers and costs of a killed sample; undefined without such a sample. */
export function leftSample(job: Job): SampleJob | undefined {
  const path = pathFor(job);
  if (path === undefined || !existsSync(path)) return undefined;
  return sampleJob(job, new Set());
}

function directoryFor(job: Job): TemporaryDirectory {
  const path = pathFor(job);
  if (path === undefined) return temporaryDirectory();
  try {
    mkdirSync(path, {recursive: true, mode: 0o700});
    return {path, remove: () => removeDirectory(path)};
  } catch {
    return temporaryDirectory();
  }
}

function pathFor({paths: {state}}: Job): string | undefined {
  return state === undefined ? undefined : `${state}-sample`;
}
