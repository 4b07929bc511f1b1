import {userDirectoryTrouble} from '../../disk/user-directory.ts';
import {OutputError} from '../../errors.ts';
import type {Job} from '../../job/job.ts';
import {say, set} from '../../sentence.ts';
import {isCompared} from '../end/history.ts';
import type {World} from '../io.ts';

/**
 * Returns the job with those settings turned off that need an unusable directory (as for a user without a home).
 * Warns once, before the run pays for anything.
 *
 * @throws {OutputError} if the job requires the answer store, and its directory is unusable.
 */
export function withoutUnusable(job: Job, {env, warn}: World): Job {
  const {settings} = job;
  const cache = settings.store === true ? userDirectoryTrouble('cache', env) : undefined;
  const state = isCompared(job) ? userDirectoryTrouble('state', env) : undefined;
  if (cache !== undefined && settings.requireStore)
    throw new OutputError(
      'store_unusable',
      say`The answer store can't be used, and this job requires it (${set('requireStore', true)}): ${cache.why}. Nothing was sent. Set ${cache.variable} to a directory that lasts, or name one with ${set('store')}.`,
    );
  const lacking = [
    ...(cache ? [{...cache, what: 'the answer store'}] : []),
    ...(state ? [{...state, what: "the job's earlier runs"}] : []),
  ];
  if (lacking.length === 0) return job;
  const all = (name: 'what' | 'why' | 'variable') =>
    [...new Set(lacking.map(trouble => trouble[name]))].join(' and ');
  warn(
    `This run continues without ${all('what')}: ${all('why')}. The next run will not know its answers and results. To keep them, set ${all('variable')} to a directory that lasts.`,
  );
  return {...job, settings: {...settings, ...(cache && {store: false}), ...(state && {drift: 'off'})}};
}
