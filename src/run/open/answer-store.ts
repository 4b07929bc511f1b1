import {resolve} from 'node:path';
import {userDirectory, userDirectoryTrouble} from '../../disk/directory.ts';
import {OutputError} from '../../errors.ts';
import type {Env} from '../../job/endpoint.ts';
import type {Job} from '../../job/job.ts';
import {parseDuration, rejectionAgeMs, valueForOperation} from '../../job/setting-types.ts';
import {AnswerStore, type RunAnswers} from '../../ledger/answers/store.ts';
import {pruneStoreFile} from '../../ledger/answers/upkeep.ts';
import {longestUsableAgeMs, type ValidityJudge, type ValidityTerm} from '../../ledger/answers/validity.ts';
import {type Operation, operations, perOperation} from '../../operations/table.ts';
import {say, set} from '../../sentence.ts';
import {comparesRuns} from '../end/history.ts';
import type {World} from '../io.ts';

/** How long answers are valid, by operation. */
export function storeTerms({settings, isForced}: Job): Record<Operation, ValidityTerm> {
  const {maxAge, stale = 0} = settings;
  const [rejections, forever] = [isForced ? 0 : rejectionAgeMs(maxAge), Number.POSITIVE_INFINITY];
  return perOperation(name => {
    const own = parseDuration(operations[name].storedFor) ?? forever;
    return {answers: valueForOperation(maxAge, name, own), rejections, stale};
  });
}

/** True if rejections are stored, so that other runs don't look those values up for a while. */
export function storesRejections({settings: {store, maxAge}}: Job): boolean {
  return store !== false && rejectionAgeMs(maxAge) > 0;
}

/**
 * At the end of a run, deletes from the store the answers that no job can use. Errors are silent: the run has
 * reported trouble with the store already, and the next run tries again.
 */
export async function pruneAnswerStore(job: Job, io: World): Promise<void> {
  const {store} = job.settings;
  if (store === false) return;
  try {
    const directory = storeDirectory(store, io.env);
    const terms = storeTerms({...job, isForced: false});
    const ages = perOperation(name => longestUsableAgeMs(terms[name]));
    await pruneStoreFile(directory, {ages, now: io.now(), warn: io.warn});
  } catch {
    // Ignores the error: the upkeep of the next run tries again.
  }
}

/** Opens the job's answer store. In `own` the store finds answers of this run that it could not write at once. */
export function openAnswerStore(
  {settings: {store}, output}: Job,
  scope: string,
  judge: ValidityJudge,
  io: World,
  own?: RunAnswers,
): AnswerStore {
  if (store === false) return new AnswerStore();
  return new AnswerStore(() => storeDirectory(store, io.env), {
    scope,
    output: output.lasts ? resolve(output.name) : undefined,
    judge,
    now: io.now,
    onTrouble: io.warn,
    patienceMs: io.storePatienceMs,
    own,
  });
}

/** @throws an error if the store is in the default directory, and there is no home directory. */
function storeDirectory(store: string | true, env: Env): string {
  return store === true ? userDirectory('cache', env) : store;
}

/**
 * Returns the job with those settings turned off that need an unusable directory (as for a user without a home).
 * Warns once, before the run pays for anything.
 *
 * @throws {OutputError} if the job requires the answer store, and its directory is unusable.
 */
export function turnOffUnusableSettings(job: Job, {env, warn}: World): Job {
  const {settings} = job;
  const cache = settings.store === true ? userDirectoryTrouble('cache', env) : undefined;
  const state = comparesRuns(job) ? userDirectoryTrouble('state', env) : undefined;
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
