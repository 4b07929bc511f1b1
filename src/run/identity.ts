import {createHash, randomUUID} from 'node:crypto';
import {checkedBaseUrl} from '../client/client.ts';
import {BulkEnrichError, StateError} from '../errors.ts';
import {InputError} from '../input/input-error.ts';
import type {Endpoint} from '../job/endpoint.ts';
import type {Job} from '../job/job.ts';
import {spelled} from '../job/setting-names.ts';
import type {Resolved} from '../job/settings/declare.ts';
import {namesThatShape, type Settings} from '../job/settings.ts';
import type {Layout} from '../layout/layout.ts';
import type {Ledger} from '../ledger/ledger.ts';
import {totalOf} from '../ledger/tally.ts';
import {columnsOf} from '../output/columns.ts';
import {loadRules, shapeOfRules} from '../score/rules.ts';
import {dataVersion} from '../service/data/data-version.ts';
import {type Scope, scopeKey} from '../store/store-file.ts';

/*
 * Left: what a session or run takes over from an earlier one. Right: what must be equal in both for that.
 *
 *   the lock, the state's directory   the output's path
 *   resuming                          input, output, scope, and settings that shape the output; the ledger's
 *                                     version; the bytes read before, and the header. (Only if the earlier
 *                                     session wrote rows.)
 *   answers, doubts and money         the scope: endpoint and account ({@link scopeOf}), with the embedded
 *   that a restart keeps              service's data; as in the answer store ({@link answersKey})
 *   the history                       the job's name, else its list and scope
 *   credits of a day and a month      the scope, however the account's files are named
 */

/** Facts of a run that all its sessions share. */
export interface RunIdentity {
  readonly runId: string;
  /** The run's first start (milliseconds since the epoch). Stored answers are judged by their age at that time. */
  readonly startedAt: number;
  /** Everything that shapes the output, by name: the settings, and under {@link HEAD} the output's first bytes. */
  readonly shape: Readonly<Record<string, unknown>>;
  /** Set once the run must not resume: the next command begins a new run instead. */
  readonly isOver?: true;
  sessions: number;
}

/**
 * How a run begins:
 *
 * - `resume`: it continues from its state.
 * - `anew`: no row was written, so a new run begins by itself. It keeps each value's number of doubtful sends:
 *   sends that may have been charged and brought no answer.
 * - `over`: the user, the job or the last run's end demands a restart. All doubtful sends of a value count as one.
 */
export type Beginning = 'resume' | 'anew' | 'over';

/**
 * Advice to get the whole credit limit again. It names the flag, since `restart: fresh` in a job file takes
 * effect only if the saved state does not fit the job.
 */
export const FRESH_BUDGET_HINT = 'add --restart fresh to the command once';

/** The endpoint and account to which answers and spending belong. Runs with another scope don't use them. */
export function scopeOf(endpoint: Endpoint, settings: Job['settings']): Scope {
  return {endpoint: endpointName(endpoint), label: settings.account};
}

/** The scope of a job's answers. For the embedded service, each version of its data counts as an endpoint. */
function answererOf({endpoint, settings}: Job): Scope {
  const scope = scopeOf(endpoint, settings);
  return endpoint.kind === 'embedded' ? {...scope, endpoint: `${scope.endpoint} ${dataVersion()}`} : scope;
}

/** The key under which a job's answers, doubtful sends and spending are kept. */
export function answersKey(job: Job): string {
  return scopeKey(answererOf(job));
}

/**
 * The endpoint's name in summaries and account files.
 *
 * @throws {UsageError} if the base URL is invalid.
 */
export function endpointName(
  endpoint: {readonly kind: 'embedded'} | {readonly kind: 'live'; readonly baseUrl: string},
): string {
  if (endpoint.kind === 'embedded') return 'embedded';
  const {origin, pathname} = checkedBaseUrl(endpoint.baseUrl);
  return `${origin}${pathname}`.replace(/\/+$/, '');
}

/** Reasons why a saved state does not fit the job, by error code. */
const stale: Readonly<Record<string, string>> = {
  input_changed: 'The input changed since the unfinished run',
  settings_changed: 'The settings changed since the unfinished run',
  partial_short: 'The unfinished output has lost rows',
};

/** Reason why the saved state does not fit; undefined for any other error, or if the job never starts over. */
export function staleReason(error: unknown, job: Job): string | undefined {
  return error instanceof BulkEnrichError && job.restarts !== 'never' ? stale[error.code] : undefined;
}

/**
 * Decides how a run begins, by the state that an earlier session left. If that session wrote no row, a new run
 * begins. The new run may have another input, such as the next night's list.
 */
export function beginningIn(
  ledger: Ledger,
  beginning: Beginning,
  warn: (sentence: string) => void,
): Beginning {
  const found = foundRun(ledger, beginning);
  if (found === undefined) return beginning;
  if (found.isOver) return 'over';
  if (ledger.getMeta('checkpoint') !== undefined) return beginning;
  if (totalOf(ledger.tally, 'distinct') > 0)
    warn('The unfinished run had written no row, so a new run begins. Answers already paid for are kept.');
  return 'anew';
}

/** Marks the run as given up: the next command begins a new run, however the current command ends. */
export function endRun(ledger: Ledger): void {
  const run = ledger.getMeta<RunIdentity>('run');
  if (run !== undefined) ledger.setMeta('run', {...run, isOver: true});
}

/** The unfinished run in the ledger; undefined if a new run begins. */
export function foundRun(ledger: Ledger, beginning: Beginning): RunIdentity | undefined {
  return beginning === 'resume' ? ledger.getMeta<RunIdentity>('run') : undefined;
}

/**
 * Finds the run that this ledger holds, or begins one.
 *
 * @throws {StateError} if the job would give another output than that run; {@link InputError} if new rows of
 *   the input have keys that the output has no columns for.
 */
export function identifyRun(
  ledger: Ledger,
  job: Job,
  layout: Layout,
  beginning: Beginning,
  startedAt: number,
): RunIdentity {
  const shape = shapeOf(job, layout);
  const found = foundRun(ledger, beginning);
  if (found === undefined) return beginRun(ledger, job, shape, startedAt, beginning);
  const changed = changedNames(found.shape, shape);
  const settings = changed.filter(name => name !== HEAD);
  if (settings.length > 0) {
    throw new StateError(
      'settings_changed',
      `The unfinished run in ${job.paths.state} has other settings (${settings.join(', ')}). Run it with those, or start over with --restart: answers already paid for are kept.`,
    );
  }
  if (changed.length > 0)
    throw new InputError(
      'input_changed',
      'New rows of the input have keys that the output has no columns for. Give the same input as before, or start over with --restart: answers already paid for are kept.',
    );
  found.sessions += 1;
  ledger.setMeta('run', found);
  return found;
}

function beginRun(
  ledger: Ledger,
  job: Job,
  shape: RunIdentity['shape'],
  startedAt: number,
  beginning: Beginning,
): RunIdentity {
  // A restart keeps answers that were paid for, and remembers values whose sends may have been charged.
  const freshBudget = job.settings.restart === 'fresh';
  const identity: RunIdentity = {runId: randomUUID(), shape, startedAt, sessions: 1};
  ledger.restart(answersKey(job), {freshBudget, keepsDoubts: beginning === 'anew', run: identity});
  return identity;
}

function changedNames(before: RunIdentity['shape'], after: RunIdentity['shape']): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter(name => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
}

/** Name of the output's first bytes in {@link RunIdentity.shape}. No setting has this name. */
const HEAD = 'head';

/** Everything that shapes the output. A run resumes only if all of it is unchanged. */
function shapeOf(job: Job, layout: Layout): RunIdentity['shape'] {
  const values = namesThatShape('output').map(name => [spelled(name, '_'), job.settings[name] ?? null]);
  return {
    input: job.inputs,
    output: job.output.lasts ? job.output.name : null,
    ...Object.fromEntries(values),
    ...resolvedOf(job, layout),
    [HEAD]: layout.encoder.head,
  };
}

function resolvedOf(
  job: Job,
  {mapping, columns, encoding, format, rules}: Layout,
): Record<Resolved, unknown> {
  return {
    endpoint: answererOf(job).endpoint,
    columns: mapping.targets.map(({operation, column, prefix, when = null}) => [
      operation,
      column,
      prefix,
      when,
    ]),
    encoding,
    // `whole` is compared, too: if it is true, NDJSON output also has fields that these names lack.
    fields: columns.map(column => [
      column.whole,
      columnsOf(column)
        .map(({name}) => name)
        .join(),
    ]),
    country: [...mapping.countries],
    verdict: job.settings.verdict && {...job.settings.verdict, action: job.endpoint.actionId},
    output_format: format,
    score: shapeOfRules(rules),
  };
}

/** SHA-256 (hex) of all settings that affect the result. The summary has it, to identify the output's settings. */
export function settingsDigest(job: Job): string {
  const settings: Partial<Settings> = {...job.settings};
  for (const name of namesThatShape('nothing')) delete settings[name];
  const {name, inputs, output, endpoint, paths} = job;
  const asked = {scope: answersKey(job), actionId: endpoint.actionId};
  const {summary, rejects} = paths;
  const written = {...(output.lasts && {output: output.name}), summary, rejects};
  return createHash('sha256')
    .update(JSON.stringify([name, inputs, written, asked, settings, rulesIn(job)]))
    .digest('hex');
}

/** The rules' current content. A rules file, or a list that it reads, may change while its name stays the same. */
function rulesIn({settings: {score}, placeOf}: Job): unknown {
  try {
    return shapeOfRules(loadRules(score, placeOf));
  } catch {
    // The rules can't be read. The run itself reports that.
    return null;
  }
}
