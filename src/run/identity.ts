import {createHash, randomUUID} from 'node:crypto';
import {readFileSync} from 'node:fs';
import {checkedBaseUrl} from '../client/client.ts';
import {BulkEnrichError, StateError} from '../errors.ts';
import {InputError} from '../input/input-error.ts';
import type {Endpoint} from '../job/endpoint.ts';
import type {Job} from '../job/job.ts';
import {spelled} from '../job/setting-names.ts';
import type {Resolved} from '../job/settings/declare.ts';
import {namesThatShape, type Settings} from '../job/settings.ts';
import type {Ledger} from '../ledger/ledger.ts';
import {type StoreScope, scopeKey} from '../ledger/store/store-file.ts';
import {fingerprintOf} from '../score/given.ts';
import {loadRules} from '../score/rules.ts';
import {dataVersion} from '../service/data/data-version.ts';
import type {Layout} from './layout/layout.ts';

/*
 * What makes a run the same run. Each thing that lasts from one session or run to the next goes by one of these:
 *
 *   the lock, the state's directory   the output, by its path
 *   going on (resume)                 input, output, scope and the settings that shape the output; the ledger's version;
 *                                     the bytes that were read before, and the header that was written
 *   answers, doubt and money that     the scope: endpoint and account ({@link scopeOf}), as the answer store
 *   are carried over a restart
 *   the history                       the job's name, else its list and scope
 *   credits of a day and a month      the account: endpoint and label, however its files are named
 */

/** What a run is, over all its sessions. */
export interface RunIdentity {
  readonly runId: string;
  /** When it was first started, in milliseconds since the epoch: stored answers are judged fresh by that. */
  readonly startedAt: number;
  /** The settings that shape the output, by name. */
  readonly shape: Readonly<Record<string, unknown>>;
  /** What the output begins with. */
  readonly head: string;
  /** It is given up as soon as another run begins. */
  readonly isOver?: true;
  sessions: number;
}

/** Where a run goes on from its state, or has to start over. */
export type Beginning = 'resume' | 'over';

/** How a command or a job says that a run which starts over has all of its limit again. */
export const FRESH_BUDGET_HINT = '--restart --fresh-budget (in a job file: fresh_budget: true)';

/** Whose answers and whose money it is: never another endpoint's or account's. With other data, the embedded service is another. */
export function scopeOf({endpoint, settings}: Pick<Job, 'endpoint' | 'settings'>): StoreScope {
  const data = endpoint.kind === 'embedded' ? ` ${dataVersion()}` : '';
  return {endpoint: endpointName(endpoint) + data, account: settings.account};
}

/** The endpoint's name, in summaries and for accounts. Throws UsageError where the base URL is none. */
export function endpointName(endpoint: Endpoint): string {
  if (endpoint.kind === 'embedded') return 'embedded';
  const {origin, pathname} = checkedBaseUrl(endpoint.baseUrl);
  return `${origin}${pathname}`.replace(/\/+$/, '');
}

/** Whether state that does not fit is given up without asking. */
export function restartsWhenStale({settings, fromFile}: Job): boolean {
  return settings.restart || (settings.onStaleState ?? (fromFile ? 'restart' : 'stop')) === 'restart';
}

/** The codes of errors that say that the saved state is another run's, or is not whole. */
const STALE = new Set(['input_changed', 'settings_changed', 'partial_short']);

/** Whether this error is about saved state that the job says to start over from. */
export function isStale(error: unknown, job: Job): boolean {
  return error instanceof BulkEnrichError && STALE.has(error.code) && restartsWhenStale(job);
}

/** Where a run begins, by the state that it has found. */
export function beginningIn(ledger: Ledger, beginning: Beginning): Beginning {
  return ledger.getMeta<RunIdentity>('run')?.isOver ? 'over' : beginning;
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
  return beginning === 'over' ? undefined : ledger.getMeta<RunIdentity>('run');
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
  const {head} = layout.encoder;
  if (found === undefined) return beginRun(ledger, job, {shape, head, startedAt});
  const changed = changedSettings(found.shape, shape);
  if (changed.length > 0) {
    throw new StateError(
      'settings_changed',
      `The unfinished run in ${job.paths.state} was begun with other settings (${changed.join(', ')}). Run it with those, or start over with --restart: answers already paid for are kept.`,
    );
  }
  if (found.head !== head)
    throw new InputError(
      'input_changed',
      'Rows that were appended to the input have keys which would be columns of the output, and those written so far lack them. Give the same input as before, or start over with --restart: answers already paid for are kept.',
    );
  found.sessions += 1;
  ledger.setMeta('run', found);
  return found;
}

function beginRun(
  ledger: Ledger,
  job: Job,
  made: Pick<RunIdentity, 'shape' | 'head' | 'startedAt'>,
): RunIdentity {
  // What was paid for, or may have been, stays at hand.
  ledger.restart(scopeKey(scopeOf(job)), job.settings.freshBudget);
  const identity: RunIdentity = {runId: randomUUID(), ...made, sessions: 1};
  ledger.setMeta('run', identity);
  return identity;
}

function changedSettings(before: RunIdentity['shape'], after: RunIdentity['shape']): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter(name => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
}

/** What shapes the output: a run goes on only with the same. */
function shapeOf(job: Job, layout: Layout): RunIdentity['shape'] {
  const values = namesThatShape('output').map(name => [spelled(name, '_'), job.settings[name] ?? null]);
  return {
    input: job.inputs,
    output: job.output.lasts ? job.output.name : null,
    ...Object.fromEntries(values),
    ...resolvedOf(job, layout),
  };
}

function resolvedOf(
  job: Job,
  {mapping, columns, encoding, format, rules}: Layout,
): Record<Resolved, unknown> {
  return {
    endpoint: scopeOf(job).endpoint,
    columns: mapping.targets.map(({operation, column, prefix, when = null}) => [
      operation,
      column,
      prefix,
      when,
    ]),
    encoding,
    // All fields by their names are not the whole answer, which in NDJSON has fields that nobody knows yet.
    fields: columns.map(({whole, fields, marksStale}) => [
      whole,
      fields.map(field => field.name).join(),
      marksStale,
    ]),
    country: mapping.country ?? null,
    action_id: job.endpoint.actionId ?? null,
    output_format: format,
    score:
      rules === undefined
        ? null
        : [
            rules.levels,
            rules.rules.map(({when, add, reason, shadow}) => [
              when,
              add,
              reason,
              ...(shadow ? ['shadow'] : []),
            ]),
            ...fingerprintOf(rules),
          ],
  };
}

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
