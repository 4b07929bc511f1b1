import {existsSync} from 'node:fs';
import {type Operation, operationNames} from '../client/wire.ts';
import type {InputFormat, Row} from '../input/row.ts';
import type {Source} from '../input/source.ts';
import type {Env} from '../job/endpoint.ts';
import type {Job} from '../job/job.ts';
import type {Rate} from '../job/values.ts';
import {type AnswerStore, defaultStoreDirectory, noStore, openStore} from '../ledger/store.ts';
import type {LaneSettings} from '../lookup/outlet.ts';
import type {Result} from '../lookup/plan.ts';
import type {Target} from '../lookup/targets.ts';
import {
  addedNames,
  planColumns,
  planRisk,
  refuseClashes,
  refuseKeyClashes,
  type TargetColumns,
} from '../output/columns.ts';
import {
  createEncoder,
  type Encoder,
  type EnrichedRow,
  type OutputFormat,
  ownNames,
} from '../output/encoder.ts';
import {flatColumns} from '../output/flat.ts';
import {createConditions, type Waterfall} from '../score/conditions.ts';
import {backgroundOf, fingerprintOf} from '../score/given.ts';
import {loadRules, type RuleSet} from '../score/rules.ts';
import {createScorer, type Scorer} from '../score/scorer.ts';
import {createThresholds, type Threshold} from '../score/thresholds.ts';
import type {ReadyEntry} from './in-order.ts';
import {type Mapping, resolveMapping} from './mapping.ts';
import type {RunIdentity} from './state.ts';
import {summaryLike} from './summary.ts';

/** How rows become output: all of it is known before the first call. */
export interface Layout {
  readonly mapping: Mapping;
  readonly columns: readonly TargetColumns[];
  readonly format: OutputFormat;
  readonly encoder: Encoder;
  /** Undefined where the job asks for no score. */
  readonly scorer: Scorer | undefined;
  readonly rules: RuleSet | undefined;
  /** Which of the lookups with a condition are asked; undefined where none has one. */
  readonly waterfall: Waterfall | undefined;
  readonly thresholds: readonly Threshold[];
}

/** @throws {UsageError} when columns are missing, unsure, clash, or fields or rules are not right. */
export function layOut(job: Job, source: Pick<Source, 'format' | 'sample'>, startedAt: number): Layout {
  const rules = loadRules(job.settings.score, job.placeOf);
  const background = backgroundOf(rules, startedAt);
  const mapping = resolveMapping(job, source.format, source.sample, background);
  const columns = planColumns(mapping.targets, job.settings.fields);
  const format = outputFormat(job, source);
  const input = writtenInput(source, format);
  const own = ownNames(input, format);
  const nested = format.kind === 'ndjson' && !format.flatten;
  if (nested) refuseKeyClashes(columns, format.risk.length > 0);
  refuseClashes(own.input, [...own.added, ...(nested ? [] : addedNames(columns, format.risk))]);
  const scorer =
    rules === undefined ? undefined : createScorer(rules, mapping.targets, source.format, background);
  const waterfall = createConditions(mapping.targets, source.format, scorer, background, job.placeOf);
  const encoder = createEncoder(input, columns, format);
  const like = summaryLike(job, operationsOf(mapping.targets));
  const reasons = rules?.rules.map(({reason}) => reason) ?? [];
  const thresholds = createThresholds(job.settings.failIf ?? [], like, reasons, job.placeOf);
  return {mapping, columns, format, encoder, rules, scorer, waterfall, thresholds};
}

/** The input's format with the columns that its rows are written in. */
function writtenInput(
  {format, sample}: Pick<Source, 'format' | 'sample'>,
  output: OutputFormat,
): InputFormat {
  const flat = output.flatten && output.kind === 'csv' && format.kind === 'ndjson';
  return flat ? {...format, columns: flatColumns(sample)} : format;
}

/** The operations that columns are looked up by. */
export function operationsOf(targets: readonly Target[]): Operation[] {
  return operationNames.filter(name => targets.some(({operation}) => operation === name));
}

/** A row with its answers parsed and its risk judged. */
export function enrich({scorer}: Layout, row: Row, {results, answers: parsed}: ReadyEntry): EnrichedRow {
  const answers = results.map((result, index) => parsed?.[index] ?? answerOf(result));
  const judged = scorer?.score({row, results, answers});
  return {row, results, answers, risk: judged?.risk, outcomes: judged?.outcomes};
}

/** A result's answer, parsed; undefined where it has none. */
export function answerOf(result: Result | undefined): unknown {
  return result !== undefined && 'data' in result && result.data !== undefined
    ? JSON.parse(result.data)
    : undefined;
}

function outputFormat({settings}: Job, {format}: Pick<Source, 'format'>): OutputFormat {
  const named = settings.outputFormat;
  const kind = named === undefined ? format.kind : named === 'ndjson' ? 'ndjson' : 'csv';
  const delimiter = named === 'tsv' ? '\t' : outputDelimiter(settings.delimiter, format, named);
  return {
    kind,
    delimiter,
    eol: kind === 'ndjson' && format.eol === '\r' ? '\n' : format.eol,
    // A mark is what spreadsheets want; readers of NDJSON trip over it.
    bom: settings.bom ?? (format.bom && kind === format.kind),
    sepLine: kind === 'csv' && format.kind === 'csv' && format.sepLine === true,
    escapeInput: settings.escapeFormulas === 'all',
    escapeAnswers: settings.escapeFormulas !== 'none',
    risk: settings.score === 'none' ? [] : planRisk(settings.fields),
    flatten: settings.flatten,
  };
}

function outputDelimiter(
  given: string | undefined,
  format: InputFormat,
  named: 'csv' | 'ndjson' | undefined,
): string {
  const own = given ?? (format.kind === 'csv' ? format.delimiter : ',');
  return named === 'csv' && own === '\t' ? ',' : own;
}

/** The settings that shape the output: a run goes on only with the same. */
export function shapeOf(
  job: Job,
  {mapping, columns, format, rules}: Layout,
  scope: string,
): RunIdentity['shape'] {
  const {settings} = job;
  return {
    input: job.inputs,
    output: job.paths.output ?? null,
    endpoint: scope,
    account: settings.account,
    columns: mapping.targets.map(({operation, column, prefix, when = null}) => [
      operation,
      column,
      prefix,
      when,
    ]),
    fields: columns.map(({fields}) => fields.map(field => field.name).join()),
    country: mapping.country ?? null,
    default_country: settings.defaultCountry ?? null,
    action_id: job.endpoint.actionId ?? null,
    beside_token: [settings.verdictId, settings.verdictEmail, settings.verdictPhone].map(
      name => name ?? null,
    ),
    output_format: format,
    where: settings.where ?? null,
    limit: settings.limit ?? null,
    score:
      rules === undefined
        ? null
        : [
            rules.levels,
            rules.rules.map(({when, add, reason}) => [when, add, reason]),
            ...fingerprintOf(rules),
          ],
    header: settings.header,
    encoding: settings.encoding,
    max_record_size: settings.maxRecordSize,
  };
}

/** Stored answers from before this are too old for a run that was first started then. */
export function notBefore({settings}: Job, startedAt: number): Record<Operation, number> {
  const since = (name: Operation) =>
    startedAt - (settings.maxAge[name] ?? settings.maxAge.all ?? Number.POSITIVE_INFINITY);
  const oldest = (name: Operation) => (Number.isFinite(since(name)) ? since(name) : 0);
  return Object.fromEntries(operationNames.map(name => [name, oldest(name)])) as Record<Operation, number>;
}

interface StoreIo {
  readonly env: Env;
  readonly now: () => number;
  readonly warn: (sentence: string) => void;
}

export function openAnswerStore(
  job: Job,
  scope: string,
  fresh: Record<Operation, number>,
  io: StoreIo,
): AnswerStore {
  const {cache, account} = job.settings;
  if (cache === false) return noStore;
  const locate = () => (typeof cache === 'string' ? cache : defaultStoreDirectory(io.env));
  return openStore(locate, {
    scope: {endpoint: scope, account},
    notBefore: fresh,
    now: io.now,
    onTrouble: io.warn,
  });
}

/** Calls in flight at most, where nobody says. */
export const DEFAULT_CONCURRENCY = 16;

/** A live service's limits are unknown, so it is asked gently unless told otherwise. */
const LIVE_RATE: Rate = {count: 20, perMs: 1_000};

/** The rate of operations that have none of their own. */
export function sharedRate({settings, endpoint}: Job): Rate | 'unlimited' {
  return settings.rate?.all ?? (endpoint.kind === 'embedded' ? 'unlimited' : LIVE_RATE);
}

/** One lane for all operations, or one each where they have rates of their own; the slots are shared out. */
export function lanesOf(job: Job, operations: readonly Operation[]): LaneSettings[] {
  const {rate, concurrency = DEFAULT_CONCURRENCY} = job.settings;
  const rest = sharedRate(job);
  const shared = operations.filter(name => rate?.[name] === undefined);
  const lanes: Omit<LaneSettings, 'concurrency'>[] = operations
    .filter(name => rate?.[name] !== undefined)
    .map(name => ({name, operations: [name], rate: rate?.[name] ?? rest}));
  if (shared.length > 0) lanes.push({name: 'all', operations: shared, rate: rest});
  const slots = Math.max(1, Math.floor(concurrency / Math.max(1, lanes.length)));
  return lanes.map(lane => ({...lane, concurrency: slots}));
}

/** Whether something is where the output would go. */
export function outputExists(job: Job): boolean {
  return job.paths.output !== undefined && existsSync(job.paths.output);
}
