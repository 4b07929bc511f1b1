import type {Target} from '../../columns/targets.ts';
import type {InputFormat} from '../../input/row.ts';
import type {RecordSource} from '../../input/source.ts';
import type {Job} from '../../job/job.ts';
import {type Operation, operationNames} from '../../operations/table.ts';
import {inputHeaderLine} from '../../output/csv-line.ts';
import {
  createRowEncoder,
  listFlatColumns,
  type OutputFormat,
  passthroughNames,
  type RowEncoder,
} from '../../output/encoder.ts';
import {
  addedNames,
  fieldsOfOperation,
  planColumns,
  planRiskColumns,
  REPAIRS_COLUMN,
  refuseClashes,
  refuseEnrichmentKeyClashes,
  type TargetColumns,
} from '../../output/result-columns.ts';
import {createSummarySchema} from '../../report/summary.ts';
import {
  compileFailConditions,
  compileLookupConditions,
  type FailCondition,
  type LookupConditions,
} from '../../score/conditions.ts';
import {createListFacts, type ListFacts} from '../../score/list-facts.ts';
import {loadRules, type RuleSet} from '../../score/rules.ts';
import {makeRunFacts} from '../../score/run-facts.ts';
import {createScorer, type Scorer} from '../../score/scorer.ts';
import {type ColumnMapping, resolveColumnMapping} from './column-mapping.ts';

/** The columns, format and rules with which rows become output. A run fixes them before its first call. */
export interface Layout {
  readonly mapping: ColumnMapping;
  readonly columns: readonly TargetColumns[];
  readonly encoding: string;
  /** The input's header as a CSV record; empty if the input has no header. */
  readonly header: string;
  readonly format: OutputFormat;
  readonly encoder: RowEncoder;
  /** Judges the risk of rows; undefined if the job wants no score. */
  readonly scorer: Scorer | undefined;
  readonly rules: RuleSet | undefined;
  /** Facts of the whole list that rules read; undefined if they read none. Rows have them once the list was counted. */
  readonly facts: ListFacts | undefined;
  /** Decides whether each lookup with a condition (`when`) is made; undefined if no lookup has a condition. */
  readonly lookupConditions: LookupConditions | undefined;
  readonly failConditions: readonly FailCondition[];
}

/**
 * `counted`: facts of the list that a plan has counted.
 *
 * @throws {UsageError} if columns are missing, unsure or clash, or if fields or rules are invalid.
 */
export function makeLayout(job: Job, source: RecordSource, startedAt: number, counted?: ListFacts): Layout {
  const rules = loadRules(job.settings.score, job.placeOf);
  const background = makeRunFacts(rules, startedAt);
  const mapping = resolveColumnMapping(job, source.format, source.sample, background);
  const {fields, stale} = job.settings;
  const columns = planColumns(mapping.targets, fields, stale !== undefined);
  const format = outputFormat(job, source);
  const input = flattenedInputFormat(source, format);
  const names = passthroughNames(input, format);
  const nested = format.kind === 'ndjson' && !format.flatten;
  if (nested) refuseEnrichmentKeyClashes(columns, format.risk.length > 0);
  // A program's rows are judged one by one: what an earlier run added is replaced.
  const added = job.output.kind === 'rows' ? [] : names.added;
  refuseClashes(
    names.input,
    [...added, ...(nested ? [] : addedNames(columns, format))],
    mapping.targets,
    mapping.guesses.length > 0 ? [...new Set(mapping.countries.values())] : undefined,
  );
  const scorer =
    rules === undefined
      ? undefined
      : createScorer(rules, mapping.targets, source.format, background, format.risk);
  const lookupConditions = compileLookupConditions(
    mapping.targets,
    source.format,
    scorer,
    background,
    job.placeOf,
  );
  const reads = [...(scorer?.reads ?? []), ...(lookupConditions?.reads ?? [])];
  const facts = counted?.isCurrent()
    ? counted
    : createListFacts(reads, mapping.targets, mapping.planOf, source.format, rules?.sameBy);
  const encoder = createRowEncoder(input, columns, format);
  const failConditions = failConditionsOf(job, mapping, rules);
  return {
    mapping,
    columns,
    encoding: source.format.encoding,
    header: inputHeaderLine(source.format),
    format,
    encoder,
    rules,
    scorer,
    facts,
    lookupConditions,
    failConditions,
  };
}

function failConditionsOf(
  {settings, placeOf}: Job,
  {targets}: ColumnMapping,
  rules: RuleSet | undefined,
): FailCondition[] {
  if (settings.failIf === undefined) return [];
  const reasons = rules?.rules.map(({reason}) => reason);
  return compileFailConditions(
    settings.failIf,
    createSummarySchema(operationsOfTargets(targets), fieldsOfOperation, reasons),
    placeOf,
  );
}

export function operationsOfTargets(targets: readonly Target[]): Operation[] {
  return operationNames.filter(name => targets.some(({operation}) => operation === name));
}

/** The output's format. It is like the input's, as far as the settings don't say otherwise. */
export function outputFormat({settings}: Job, {format}: RecordSource): OutputFormat {
  const named = settings.outputFormat;
  const kind = named === undefined ? format.kind : named === 'ndjson' ? 'ndjson' : 'csv';
  const delimiter = settings.delimiter ?? (format.kind === 'csv' ? format.delimiter : ',');
  const isComma = named?.startsWith('csv') === true && delimiter === '\t';
  return {
    kind,
    delimiter: named === 'tsv' ? '\t' : isComma ? ',' : delimiter,
    eol: kind === 'ndjson' && format.eol === '\r' ? '\n' : format.eol,
    // A CSV made from a legacy encoding gets a byte order mark: the user's program, such as an old Excel, would
    // read UTF-8 without one as that encoding. NDJSON gets one only if the NDJSON input has it, since parsers of
    // NDJSON fail on it.
    bom:
      named === 'csv-bom' ||
      (format.bom && kind === format.kind) ||
      (kind === 'csv' && format.encoding !== 'utf-8'),
    sepLine: kind === 'csv' && format.kind === 'csv' && format.sepLine === true,
    escapeInput: settings.escapeFormulas === 'all',
    escapeAnswers: settings.escapeFormulas !== 'none',
    risk: settings.score === 'none' ? [] : planRiskColumns(settings.fields),
    repairs: settings.fields?.includes(REPAIRS_COLUMN) !== false,
    flatten: settings.flatten,
  };
}

/** The input's format, with the columns that its rows have in the output. */
export function flattenedInputFormat({format, sample}: RecordSource, output: OutputFormat): InputFormat {
  const flat = output.flatten && output.kind === 'csv' && format.kind === 'ndjson';
  return flat ? {...format, columns: listFlatColumns(sample)} : format;
}
