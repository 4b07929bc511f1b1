import type {Target} from '../../columns/targets.ts';
import type {Reject, Row} from '../../input/row.ts';
import {type CellResult, isServiceCode, isUnasked, type UnaskedCode} from '../../ledger/lookup-outcome.ts';
import {getAtPath} from '../../operations/signals.ts';
import {type Operation, operationNames, perOperation} from '../../operations/table.ts';
import type {AnswerField, TargetColumns} from '../../output/columns.ts';
import type {EnrichedRow} from '../../output/encoder.ts';
import type {RiskLevel} from '../../score/language/rule-variables.ts';
import type {Risk, RuleOutcomes} from '../../score/scorer.ts';
import {countTopNames, emptyTopCounts, type TopCountsByKind} from './top-counts.ts';

/** Counts over the written rows. */
export interface Counters {
  readonly rows: {written: number; rejected: number; ok: number; with_errors: number};
  /** Number of cells by status. The numbers add up to all cells. */
  readonly lookups: Record<Operation, Record<CellResult['status'], number>>;
  readonly errors: ErrorCounts;
  /** Cells that were repaired before their lookup, by operation. */
  readonly repaired: Record<Operation, number>;
  readonly repairs: ErrorCounts;
  /**
   * Skipped cells, by operation and by the reason's code. The job wanted no lookup (such as `condition`), or
   * no call was possible (such as `budget`).
   */
  readonly skipped: Record<Operation, Record<string, number>>;
  /** Cells with an expired answer, by operation and by the code for why the answer could not be renewed. */
  readonly stale: Record<Operation, Record<string, number>>;
  /** Cells whose value the service rejected in two runs, so that later ones don't look it up. */
  readonly rejected: Record<Operation, number>;
  /** Cells whose value the service refused with a code of its own: an answer, even if it is not believed yet. */
  refused: number;
  /** The most common countries, networks and domains among the answers. */
  readonly top: TopCountsByKind;
  readonly risk: RiskTally;
  /** By operation and field: number of answers that have the field, and of those in which it is true. */
  readonly fields: Record<Operation, Record<string, FieldCount>>;
}

/** By code: how often it was counted, and the numbers of the first rows with it. */
type ErrorCounts = Record<string, {count: number; rows: number[]; service?: true}>;

interface RiskTally {
  readonly levels: Record<RiskLevel, number>;
  /** Sum of all scores. */
  sum: number;
  /** Number of rows by the tens of their scores: 0 to 9, 10 to 19, …, 90 to 100. */
  readonly histogram: number[];
  readonly reasons: Record<string, number>;
  readonly missing: Record<string, number>;
  /** Numbers of the first rows of high risk. */
  readonly highRows: number[];
  /** Number of rows by the rule's index and its outcome. A rule that was false in every row is missing. */
  readonly rules: Record<number, Record<keyof RuleOutcomes, number>>;
}

export interface FieldCount {
  present: number;
  true: number;
}

/** Maximum number of rows that are named for each error code. */
const NAMED_ROWS = 10;
/** Maximum number of rows of high risk in the summary. */
const HIGH_ROWS = 100;
/** Maximum number of codes per operation: a service may send a different code for every value. */
const NAMED_CODES = 50;
const OTHER_CODES = 'other_codes';
/** After a code that is the service's word: the same word of this program is another code. */
const OF_SERVICE = ' service';
/** Number of bars in the histogram, and also the width of each bar in points. */
const HISTOGRAM = 10;

export function emptyCounters(): Counters {
  const zero = () => ({ok: 0, empty: 0, invalid: 0, failed: 0, unknown: 0, skipped: 0});
  return {
    rows: {written: 0, rejected: 0, ok: 0, with_errors: 0},
    lookups: perOperation(zero),
    errors: {},
    repaired: perOperation(() => 0),
    repairs: {},
    skipped: perOperation(() => ({})),
    stale: perOperation(() => ({})),
    rejected: perOperation(() => 0),
    refused: 0,
    top: emptyTopCounts(),
    risk: {
      levels: {low: 0, medium: 0, high: 0, unknown: 0},
      sum: 0,
      histogram: Array.from({length: HISTOGRAM}, () => 0),
      reasons: {},
      missing: {},
      highRows: [],
      rules: {},
    },
    fields: perOperation(() => ({})),
  };
}

export function countReject(counters: Counters, {reason, record}: Reject): void {
  counters.rows.rejected += 1;
  countError(counters.errors, `rejected.${reason}`, record);
}

/** A column of results, as far as its counts need it. */
interface CountedColumn extends Pick<TargetColumns, 'answerFields'> {
  readonly target: Pick<Target, 'operation' | 'cell'>;
}

export function countRow(
  counters: Counters,
  {row, results, repairs, answers, risk, outcomes}: EnrichedRow<Row>,
  columns: readonly CountedColumn[],
): void {
  counters.rows.written += 1;
  let trouble = false;
  for (const [index, {target, answerFields}] of columns.entries()) {
    const {operation} = target;
    const result = results[index] as CellResult;
    counters.lookups[operation][result.status] += 1;
    const repaired = repairs?.[index] ?? [];
    if (repaired.length > 0) counters.repaired[operation] += 1;
    for (const code of repaired) countError(counters.repairs, `${operation}.${code}`, row.record);
    if (result.status === 'ok') {
      countTopNames(counters.top, operation, answers[index], target.cell(row));
      countFields(counters.fields[operation], answers[index], answerFields);
    }
    if (result.status === 'skipped') countName(counters.skipped[operation], result.error);
    if ('stale' in result) countName(counters.stale[operation], result.stale);
    if ('rejected' in result && result.rejected === 'twice') counters.rejected[operation] += 1;
    if ('rejected' in result && isServiceCode(result)) counters.refused += 1;
    if (!('error' in result) || (result.status === 'skipped' && !isUnasked(result.error))) continue;
    if (result.status === 'failed' || result.status === 'unknown')
      countFailure(counters, operation, result.error, row.record, isServiceCode(result));
    else countError(counters.errors, `${operation}.${result.error}`, row.record);
    trouble ||= result.status !== 'invalid';
  }
  if (trouble) counters.rows.with_errors += 1;
  else counters.rows.ok += 1;
  if (risk !== undefined) countRisk(counters.risk, risk, row.record);
  if (outcomes !== undefined) countRules(counters.risk.rules, outcomes);
}

function countRisk(counts: RiskTally, {score, level, reasons, missing}: Risk, row: number): void {
  counts.levels[level] += 1;
  if (level === 'high' && counts.highRows.length < HIGH_ROWS) counts.highRows.push(row);
  for (const reason of reasons) countName(counts.reasons, reason);
  for (const signal of missing) countName(counts.missing, signal);
  if (score === null) return;
  counts.sum += score;
  const tens = Math.min(HISTOGRAM - 1, Math.floor(score / HISTOGRAM));
  counts.histogram[tens] = (counts.histogram[tens] ?? 0) + 1;
}

function countRules(counts: RiskTally['rules'], outcomes: RuleOutcomes): void {
  for (const outcome of ['held', 'undecided', 'wrong'] as const)
    for (const index of outcomes[outcome]) {
      counts[index] ??= {held: 0, undecided: 0, wrong: 0};
      counts[index][outcome] += 1;
    }
}

/** Counts a name. Every object inherits names such as `constructor`, so only own properties are read. */
export function countName(counts: Record<string, number>, name: string): void {
  counts[name] = (Object.hasOwn(counts, name) ? (counts[name] ?? 0) : 0) + 1;
}

export function countFields(
  counts: Record<string, FieldCount>,
  answer: unknown,
  fields: readonly AnswerField[],
): void {
  for (const {name, path} of fields) {
    const value = getAtPath(answer, path);
    if (value === undefined || value === null) continue;
    counts[name] ??= {present: 0, true: 0};
    counts[name].present += 1;
    if (value === true) counts[name].true += 1;
  }
}

/**
 * Counts a lookup without an answer, by its code. After {@link NAMED_CODES} codes, new ones count as `other_codes`.
 */
function countFailure(
  {errors}: Counters,
  operation: Operation,
  error: string,
  row: number,
  isService: boolean,
): void {
  const code = `${operation}.${error}`;
  const isNamed =
    [code, code + OF_SERVICE].some(key => Object.hasOwn(errors, key)) ||
    Object.keys(errors).filter(name => name.startsWith(`${operation}.`)).length < NAMED_CODES;
  countError(errors, isNamed ? code : `${operation}.${OTHER_CODES}`, row, isNamed && isService);
}

function countError(errors: ErrorCounts, code: string, row: number, isService = false): void {
  const key = isService ? code + OF_SERVICE : code;
  errors[key] ??= {count: 0, rows: [], ...(isService && {service: true})};
  const entry = errors[key];
  entry.count += 1;
  if (entry.rows.length < NAMED_ROWS) entry.rows.push(row);
}

/** The summary's list of errors, the most frequent first. */
export function listErrors(errors: Counters['errors']) {
  return Object.entries(errors)
    .map(([key, counted]) => ({code: key.replace(OF_SERVICE, ''), ...counted}))
    .sort((a, b) => b.count - a.count);
}

function sumOver(of: (name: Operation) => number): number {
  return operationNames.reduce((sum, name) => sum + of(name), 0);
}

/** Number of cells that were skipped, or got an expired answer, because of `code`. */
export function sumUnaskedCells({skipped, stale}: Counters, code: UnaskedCode): number {
  return sumOver(name => (skipped[name][code] ?? 0) + (stale[name][code] ?? 0));
}

/** Adds up the numbers of cells in `counts`: of all codes, or only of `codes`. */
export function sumCells(
  counts: Readonly<Record<string, number>>,
  codes: readonly string[] = Object.keys(counts),
): number {
  return codes.reduce((sum, code) => sum + (counts[code] ?? 0), 0);
}

/** Number of cells whose lookup failed or has an unknown outcome, over all operations. */
export function sumFailedCells({lookups}: Counters): number {
  return sumOver(name => lookups[name].failed + lookups[name].unknown);
}

/** Number of cells for which the service was asked: answered, failed or unknown, over all operations. */
export function sumAskedCells(counters: Counters): number {
  return sumOver(name => counters.lookups[name].ok) + sumFailedCells(counters);
}

/** True if a value has an answer, or was rejected with a code of its own, which is an answer too. */
export function hasAnswers({lookups, rejected, refused}: Counters): boolean {
  return refused > 0 || operationNames.some(name => lookups[name].ok > 0 || rejected[name] > 0);
}
