import {resolve} from 'node:path';
import {userDirectory, userDirectoryTrouble} from '../../disk/directory.ts';
import {OutputError} from '../../errors.ts';
import type {Env} from '../../job/endpoint.ts';
import type {Job} from '../../job/job.ts';
import {parseDuration, rejectionAgeMs, valueForOperation} from '../../job/setting-types.ts';
import {createOperationPricer} from '../../job/settings/cost.ts';
import {AnswerStore, type RunAnswers} from '../../ledger/answers/store.ts';
import {pruneStoreFile} from '../../ledger/answers/upkeep.ts';
import {
  createValidityJudge,
  longestUsableAgeMs,
  type ValidityJudge,
  type ValidityTerm,
} from '../../ledger/answers/validity.ts';
import type {Ledger} from '../../ledger/run/ledger.ts';
import type {LedgerEntry} from '../../ledger/run/ledger-entry.ts';
import {type Operation, operations, perOperation} from '../../operations/table.ts';
import {pluralize} from '../../report/format.ts';
import {say, setting} from '../../sentence.ts';
import {comparesRuns} from '../end/history.ts';
import type {World} from '../io.ts';
import {scopeKeyOfJob} from '../scope.ts';
import type {RunIdentity} from '../state/run-identity.ts';
import type {RunContext} from '../stop.ts';

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

/** Deletes from the store the answers that no job can use. Errors are silent: the next run tries again. */
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
  return new AnswerStore({
    locate: () => storeDirectory(store, io.env),
    scope,
    output: output.lasts ? resolve(output.name) : undefined,
    judge,
    now: io.now,
    onTrouble: io.warn,
    patienceMs: io.storePatienceMs,
    own,
  });
}

/** Milliseconds from its first start for which an unfinished run is one night: its own answers hold, whatever their age. */
const NIGHT_MS = 7 * 86_400_000;

/**
 * Opens the store of a run, with the judge of its answers: it judges as at the run's first start. In a run from before
 * {@link NIGHT_MS} it judges as of now, and the run's own answers that have expired are bought again.
 */
export function openStoreOfRun(
  {job, io}: RunContext,
  ledger: Ledger,
  {startedAt, bought}: RunIdentity,
  begunAt: number,
): {readonly judge: ValidityJudge; readonly store: AnswerStore} {
  const isOld = begunAt - startedAt > NIGHT_MS;
  const at = isOld ? begunAt : Math.min(startedAt, begunAt);
  const judge = createValidityJudge(storeTerms(job), at, startedAt, io.now);
  if (!isOld) ledger.useAnswersAfter(bought ?? ledger.bought);
  const isFresh = (entry: LedgerEntry) =>
    operations[entry.operation].isRedeeming ||
    entry.outcome === undefined ||
    judge(entry, entry.outcome) === 'fresh';
  const expired = isOld ? ledger.expireAnswers(bought ?? 0, isFresh, createOperationPricer(job)) : 0;
  if (expired > 0)
    io.warn(
      say`This run began at ${new Date(startedAt).toISOString()}. Since then, ${pluralize(expired, 'answer')} of its own expired (${setting('maxAge')}): these values are looked up again, and count again against ${setting('maxCredits')}.`,
    );
  const turn = job.settings.publishOn.includes('budget') ? startedAt : undefined;
  return {judge, store: openAnswerStore(job, scopeKeyOfJob(job), judge, io, {ledger, turn})};
}

/** Writes answers of a run that is given up to the store, for the endpoint and account that bought them. */
export async function keepOthersAnswers({job, io}: RunContext, ledger: Ledger): Promise<void> {
  if (ledger.owner === scopeKeyOfJob(job)) return;
  const store = openAnswerStore(job, ledger.owner, () => undefined, io, {ledger});
  await store.flush(true);
  store.close();
}

/**
 * Writes to the store the answers that an earlier session could not write. Warns of another key than that of the last
 * run: a run without a label of its account uses the answers of all such runs at its endpoint.
 *
 * @throws {OutputError} if the store can't be used, and the job requires it.
 */
export async function readyStore(
  {job: {endpoint, settings}, io}: RunContext,
  store: AnswerStore,
): Promise<void> {
  if (settings.requireStore) await store.ready();
  await store.flush(settings.requireStore);
  if (settings.requireStore && store.trouble !== undefined)
    throw new OutputError(
      'store_unusable',
      say`The answer store can't be used (${store.trouble.cause}), and this job requires it (${setting('requireStore', true)}). Nothing was sent. Fix the cause, then run the same command again.`,
    );
  if (endpoint.kind !== 'live' || endpoint.apiKey === '' || settings.account !== 'default') return;
  if (store.marksOther(endpoint.apiKey))
    io.warn(
      say`The API key is another than that of the last run. Answers that runs with the other key have bought may be used. If the keys are of two accounts, give each its own label (${setting('account', 'NAME')}).`,
    );
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
      say`The answer store can't be used, and this job requires it (${setting('requireStore', true)}): ${cache.why}. Nothing was sent. Set ${cache.variable} to a directory that lasts, or name one with ${setting('store')}.`,
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
