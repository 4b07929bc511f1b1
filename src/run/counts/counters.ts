import {REDACTED_FIELD_NAME, repeatsSentValue} from '../../client/redact.ts';
import type {Target} from '../../columns/targets.ts';
import type {Reject, Row} from '../../input/row.ts';
import {
  type CellResult,
  isServiceCode,
  isUnasked,
  type UnaskedCode,
  unaskedCodes,
} from '../../ledger/lookup-outcome.ts';
import {countName} from '../../ledger/run/tally.ts';
import {getAtPath} from '../../operations/fields.ts';
import {type TopKind, topKinds} from '../../operations/operation.ts';
import {type Operation, operationNames, operations, perOperation} from '../../operations/table.ts';
import type {EnrichedRow} from '../../output/encoder.ts';
import type {AnswerField, TargetColumns} from '../../output/result-columns.ts';
import {rankByCount} from '../../report/format.ts';
import {countRisk, countRules, emptyRiskTally} from './risk-counts.ts';

/** By code: how often it was counted, and the numbers of the first rows with it. */
type ErrorCounts = Record<string, {count: number; rows: number[]; service?: true}>;

/** By field: number of answers that have it, and of those in which it is true. */
export type FieldCounts = Record<string, {present: number; true: number}>;

export type Counters = ReturnType<typeof emptyCounters>;

/** Maximum number of rows that are named for each error code. */
const NAMED_ROWS = 10;
/** Maximum number of codes per operation: a service may send a different code for every value. */
const NAMED_CODES = 50;
const OTHER_CODES = 'other_codes';
/** After a code that is the service's word: the same word of this program is another code. */
const OF_SERVICE = ' service';

/** Counts over the written rows. Those by operation are of its cells. */
export function emptyCounters() {
  const byCode = (): Record<string, number> => ({});
  return {
    rows: {written: 0, rejected: 0, ok: 0, with_errors: 0},
    /** By status. The numbers add up to all cells. */
    lookups: perOperation(() => ({ok: 0, empty: 0, invalid: 0, failed: 0, unknown: 0, skipped: 0})),
    errors: {} as ErrorCounts,
    /** Cells that were repaired before their lookup. */
    repaired: perOperation(() => 0),
    repairs: {} as ErrorCounts,
    /** Skipped cells by code: none was wanted (such as `condition`), or possible (such as `budget`). */
    skipped: perOperation(byCode),
    /** Cells with an expired answer, by the code for why the answer could not be renewed. */
    stale: perOperation(byCode),
    /** Cells whose value the service rejected in two runs, so that later ones don't look it up. */
    rejected: perOperation(() => 0),
    /** Cells whose value the service refused with a code of its own: an answer, even if it is not believed yet. */
    refused: 0,
    top: emptyTopCounts(),
    risk: emptyRiskTally(),
    fields: perOperation((): FieldCounts => ({})),
  };
}

export function countReject(counters: Counters, {reason, record}: Reject): void {
  counters.rows.rejected += 1;
  countError(counters.errors, `rejected.${reason}`, record);
}

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
  if (outcomes !== undefined) countRules(counters.risk, outcomes);
}

export function countFields(counts: FieldCounts, answer: unknown, fields: readonly AnswerField[]): void {
  for (const {name, path} of fields) {
    const value = getAtPath(answer, path);
    if (value === undefined || value === null) continue;
    counts[name] ??= {present: 0, true: 0};
    counts[name].present += 1;
    if (value === true) counts[name].true += 1;
  }
}

/** Counts a lookup without an answer. After {@link NAMED_CODES} codes, new ones count as `other_codes`. */
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

/** The codes for why expired answers could not be renewed. */
export function staleCodes({stale}: Counters): UnaskedCode[] {
  return unaskedCodes.filter(code => sumOver(name => stale[name][code] ?? 0) > 0);
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

/** The most common names among many, in bounded memory. */
export interface TopCounts {
  /** Number of occurrences counted in all, of any name. */
  counted: number;
  /** At most this many occurrences of one name may be missing from its count. */
  missed: number;
  counts: Record<string, number>;
}

export type TopCountsByKind = Record<TopKind, TopCounts>;

/** Number of names that {@link countTopName} keeps when it drops the rarer ones. */
const KEPT = 200;
const LONGEST_NAME = 80;
const SHOWN = 10;
/** Minimum count of a domain that is shown: a rarer domain may be one person's own. */
const FEWEST_OF_A_DOMAIN = 5;

export function emptyTopCounts(): TopCountsByKind {
  return Object.fromEntries(
    topKinds.map(kind => [kind, {counted: 0, missed: 0, counts: {}}]),
  ) as unknown as TopCountsByKind;
}

/**
 * Counts an answer under the names in it, such as its network. A new name that repeats the cell's value is counted as
 * {@link REDACTED_FIELD_NAME}. Domains keep their names, but rare ones are not shown: see {@link FEWEST_OF_A_DOMAIN}.
 */
export function countTopNames(
  top: TopCountsByKind,
  operation: Operation,
  answer: unknown,
  cell?: string,
): void {
  for (const [kind, path] of operations[operation].top) {
    const value = getAtPath(answer, path);
    const name = typeof value === 'string' ? value.trim() : '';
    if (name === '') continue;
    const isKnown = kind === 'domains' || cell === undefined || Object.hasOwn(top[kind].counts, name);
    countTopName(
      top[kind],
      isKnown || !repeatsSentValue(name, {cell: cell.trim()}) ? name : REDACTED_FIELD_NAME,
    );
  }
}

/** Counts a name. At more than twice {@link KEPT} names, the rarer ones go: counts may be too low, never too high. */
export function countTopName(top: TopCounts, name: string): void {
  const key = name.slice(0, LONGEST_NAME);
  if (key === '__proto__') return;
  top.counted += 1;
  countName(top.counts, key);
  if ((top.counts[key] ?? 0) > 1 || Object.keys(top.counts).length <= 2 * KEPT) return;
  const order = rankByCount(top.counts);
  top.missed += order[KEPT]?.[1] ?? 0;
  top.counts = Object.fromEntries(order.slice(0, KEPT));
}

/** The summary's `top`: for each kind how many answers were counted, and the most common names. */
export function topSummary(top: TopCountsByKind) {
  const shown = (kind: TopKind) => {
    const fewest = kind === 'domains' ? FEWEST_OF_A_DOMAIN : 1;
    const names = rankByCount(top[kind].counts).filter(([, count]) => count >= fewest);
    return {
      counted: top[kind].counted,
      missed_at_most: top[kind].missed,
      names: names.slice(0, SHOWN).map(([name, count]) => ({name, count})),
    };
  };
  return Object.fromEntries(
    topKinds.filter(kind => top[kind].counted > 0).map(kind => [kind, shown(kind)]),
  ) as Partial<Record<TopKind, ReturnType<typeof shown>>>;
}
