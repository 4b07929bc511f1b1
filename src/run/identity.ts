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
 * What makes a run the same run. Each thing that lasts from one session or run to the next goes by one of these:
 *
 *   the lock, the state's directory   the output, by its path
 *   going on (resume)                 rows that were written; input, output, scope and the settings that shape the
 *                                     output; the ledger's version; the bytes that were read before, and the header
 *   answers, doubt and money that     the scope: endpoint and account ({@link scopeOf}), with the
 *   are carried over a restart        embedded service's data; as the answer store ({@link answersKey})
 *   the history                       the job's name, else its list and scope
 *   credits of a day and a month      the scope, however the account's files are named
 */

/** What a run is, over all its sessions. */
export interface RunIdentity {
  readonly runId: string;
  /** When it was first started, in milliseconds since the epoch: stored answers are judged fresh by that. */
  readonly startedAt: number;
  /** What shapes the output, by name: its settings, and its {@link HEAD}. */
  readonly shape: Readonly<Record<string, unknown>>;
  /** It is given up as soon as another run begins. */
  readonly isOver?: true;
  sessions: number;
}

/**
 * - `resume`: the run continues from its state.
 * - `anew`: it had written no row, so another run begins by itself. It keeps the count of each value's sends in doubt.
 * - `over`: the user, the job or the run's end says to start over. All sends in doubt of a value count as one.
 */
export type Beginning = 'resume' | 'anew' | 'over';

/** How a command or a job says that a run which starts over has all of its limit again. */
export const FRESH_BUDGET_HINT = '--restart fresh (in a job file: restart: fresh)';

/** Whose answers and whose money it is: never another endpoint's or account's. */
export function scopeOf(endpoint: Endpoint, settings: Job['settings']): Scope {
  return {endpoint: endpointName(endpoint), label: settings.account};
}

/** Who answers a job: with other data, the embedded service is another. */
function answererOf({endpoint, settings}: Job): Scope {
  const scope = scopeOf(endpoint, settings);
  return endpoint.kind === 'embedded' ? {...scope, endpoint: `${scope.endpoint} ${dataVersion()}`} : scope;
}

/** By which a job's answers, doubt and money are kept. */
export function answersKey(job: Job): string {
  return scopeKey(answererOf(job));
}

/** The endpoint's name, in summaries and for accounts. Throws UsageError where the base URL is none. */
export function endpointName(endpoint: Endpoint): string {
  if (endpoint.kind === 'embedded') return 'embedded';
  const {origin, pathname} = checkedBaseUrl(endpoint.baseUrl);
  return `${origin}${pathname}`.replace(/\/+$/, '');
}

/** The codes of errors that say that the saved state is another run's, or is not whole. */
const STALE = new Set(['input_changed', 'settings_changed', 'partial_short']);

/** Whether this error is about saved state that the job says to start over from. */
export function isStale(error: unknown, job: Job): boolean {
  return error instanceof BulkEnrichError && STALE.has(error.code) && job.restarts !== 'never';
}

/**
 * Decides where a run begins, by the state that it has found. Only written rows bind a run to its input: without any, the
 * input may be another night's by now.
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

/** Whatever becomes of the command that says so: the next run is another one, and this one's is given up then. */
export function endRun(ledger: Ledger): void {
  const run = ledger.getMeta<RunIdentity>('run');
  if (run !== undefined) ledger.setMeta('run', {...run, isOver: true});
}

/** When the run that this state belongs to was first started; now, where one begins. */
export function firstStart(ledger: Ledger, beginning: Beginning, now: number): number {
  return foundRun(ledger, beginning)?.startedAt ?? now;
}

function foundRun(ledger: Ledger, beginning: Beginning): RunIdentity | undefined {
  return beginning === 'resume' ? ledger.getMeta<RunIdentity>('run') : undefined;
}

/**
 * Finds the run that this state belongs to, or begins one.
 *
 * @throws {StateError} when it was begun with settings that would make another output; {@link InputError} when rows that
 * were appended since would.
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
  // What was paid for, or may have been, stays at hand.
  const freshBudget = job.settings.restart === 'fresh';
  ledger.restart(answersKey(job), {freshBudget, keepsDoubts: beginning === 'anew'});
  const identity: RunIdentity = {runId: randomUUID(), shape, startedAt, sessions: 1};
  ledger.setMeta('run', identity);
  return identity;
}

function changedNames(before: RunIdentity['shape'], after: RunIdentity['shape']): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter(name => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
}

/** What the output begins with, among what shapes it: no setting has this name. */
const HEAD = 'head';

/** What shapes the output: a run goes on only with the same. */
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
    // All fields by their names are not the whole answer, which in NDJSON has fields that nobody knows yet.
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

/** SHA-256 (hex) of all that the job says about its result: in the summary, it tells what the output was made by. */
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

/** The rules as they are now: a file of rules, or a list that they read, may change under its name. */
function rulesIn({settings: {score}, placeOf}: Job): unknown {
  try {
    return shapeOfRules(loadRules(score, placeOf));
  } catch {
    // The run will say so.
    return null;
  }
}
