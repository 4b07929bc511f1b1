import {userDirectoryTrouble} from '../../disk/user-directory.ts';
import {OutputError} from '../../errors.ts';
import type {Job} from '../../job/job.ts';
import {isCompared} from '../end/history.ts';
import type {World} from '../io.ts';

/** Files that a job keeps in the user's directories between runs, unless it names other places. */
const kept = {
  cache: {
    what: 'the answer store',
    isUsed: ({settings}: Job) => settings.store === true,
    without: {store: false},
  },
  state: {what: "the job's earlier runs", isUsed: isCompared, without: {drift: 'off'}},
} as const;

/**
 * Returns the job with those settings turned off that need an unusable directory (as for a user without a home). Warns
 * once, before the run pays for anything.
 *
 * @throws {OutputError} if the job requires the answer store, and its directory is unusable.
 */
export function withoutUnusable(job: Job, {env, warn}: World): Job {
  const unusable = (['cache', 'state'] as const)
    .filter(kind => kept[kind].isUsed(job))
    .flatMap(kind => {
      const trouble = userDirectoryTrouble(kind, env);
      return trouble === undefined ? [] : [{...kept[kind], ...trouble}];
    });
  if (unusable.length === 0) return job;
  const required = unusable.find(({without}) => job.settings.requireStore && 'store' in without);
  if (required !== undefined)
    throw new OutputError(
      'store_unusable',
      `The answer store can't be used, and this job requires it (require_store): ${required.why}. Nothing was sent. Set ${required.variable} to a directory that lasts, or name one with --store.`,
    );
  const all = (read: (one: (typeof unusable)[number]) => string) =>
    [...new Set(unusable.map(read))].join(' and ');
  warn(
    `This run continues without ${all(one => one.what)}: ${all(one => one.why)}. The next run will not know its answers and results. To keep them, set ${all(one => one.variable)} to a directory that lasts.`,
  );
  const changes: Partial<Job['settings']>[] = unusable.map(({without}) => without);
  return {...job, settings: Object.assign({...job.settings}, ...changes)};
}
