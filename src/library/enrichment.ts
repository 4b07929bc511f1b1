import {UsageError} from '../errors.ts';
import type {CellResult} from '../ledger/lookup-outcome.ts';
import {ENRICHMENT, pickFields, type TargetColumns} from '../output/columns.ts';
import type {EnrichedObject} from '../run/io.ts';
import type {Layout} from '../run/layout/layout.ts';
import type {Risk} from '../score/scorer.ts';
import type {LookupResult, RejectedRow} from './enriched.ts';

/** Marks results that a run put on a row. A later run may replace them, but not a row's own `enrichment`. */
const OURS = Symbol('bulk-enrich');

/** @throws {UsageError} if the row has an `enrichment` of its own. Called before the lookups of the row. */
export function refuseOwnEnrichment(given: unknown, index: number): void {
  if (typeof given !== 'object' || given === null || !(ENRICHMENT in given)) return;
  const {enrichment} = given;
  if (typeof enrichment === 'object' && enrichment !== null && OURS in enrichment) return;
  throw new UsageError(
    'column_clash',
    `The row at index ${index} has a property "${ENRICHMENT}" of its own, and answers need that name. Rename it. Nothing of that row was looked up.`,
  );
}

/**
 * Adds `enrichment` to the caller's own row, and returns it: of a sealed or frozen row a copy, of an entry that is
 * not an object a new one.
 */
export function attachResults(row: EnrichedObject, layout: Layout): object {
  const isReject = 'type' in row;
  const given = isReject ? row.given : row.row.value;
  const enrichment = isReject ? ofReject(row, layout) : ofRow(row, layout);
  Object.defineProperty(enrichment, OURS, {value: true});
  const target = typeof given !== 'object' || given === null || Array.isArray(given) ? {} : given;
  return Object.defineProperty(Object.isExtensible(target) ? target : copyOf(target), ENRICHMENT, {
    value: enrichment,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

function ofRow(
  {results, repairs, answers, risk}: Exclude<EnrichedObject, {type: 'reject'}>,
  {columns}: Layout,
): object {
  const lookups = columns.map((column, index) => {
    const answer = answers[index];
    const data = column.whole || answer === undefined ? answer : pickFields(answer, column.fields);
    const repaired = repairs?.[index]?.length ? {repairs: repairs[index]} : {};
    return [column.key, {...lookupResult(results[index] as CellResult, data, column), ...repaired}] as const;
  });
  return {...Object.fromEntries(lookups), ...(risk === undefined ? {} : {risk})};
}

function ofReject(
  {record, reason, detail}: Extract<EnrichedObject, {type: 'reject'}>,
  {columns, scorer}: Layout,
): object {
  const keys = columns.map(({key}) => key);
  const skipped: LookupResult = {status: 'skipped', error: 'rejected', data: null};
  const risk: Risk = {score: null, level: 'unknown', reasons: [], points: {}, missing: keys};
  const rejected = {index: record - 1, reason, detail} as RejectedRow;
  return {
    ...Object.fromEntries(keys.map(key => [key, skipped])),
    ...(scorer === undefined ? {} : {risk}),
    rejected,
  };
}

function lookupResult(result: CellResult, data: unknown, {statusColumns}: TargetColumns): LookupResult {
  const members = statusColumns.map(column => [column.name, column.of(result, data)]);
  return {...Object.fromEntries(members), data: data ?? null};
}

function copyOf(row: object): object {
  const descriptors = Object.entries(Object.getOwnPropertyDescriptors(row));
  const open = descriptors.map(([name, property]) => [name, {...property, configurable: true}] as const);
  return Object.create(Object.getPrototypeOf(row), Object.fromEntries(open));
}
