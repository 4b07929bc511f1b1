import {UsageError} from '../errors.ts';
import type {Result} from '../ledger/lookup.ts';
import {pickFields, type TargetColumns} from '../output/columns.ts';
import type {Layout} from '../run/layout/layout.ts';
import type {FedRow} from '../run/rows/feed.ts';
import type {Risk} from '../score/risk.ts';
import type {LookupResult, RejectedRow} from './enriched.ts';

const ENRICHMENT = 'enrichment';
/** Marks results that a run put on a row. A later run may replace them, but not a row's own `enrichment`. */
const OURS = Symbol('bulk-enrich');

/** Adds results to the caller's own rows, as the property `enrichment`. */
export class Enrichments {
  readonly #columns: readonly TargetColumns[];
  readonly #isScored: boolean;

  constructor({columns, scorer}: Layout) {
    this.#columns = columns;
    this.#isScored = scorer !== undefined;
  }

  /**
   * @throws {UsageError} if the row has a property `enrichment` of its own. Called before the lookups of the row.
   */
  demandRoom(given: unknown, index: number): void {
    if (typeof given !== 'object' || given === null || !(ENRICHMENT in given)) return;
    const {enrichment} = given;
    if (typeof enrichment === 'object' && enrichment !== null && OURS in enrichment) return;
    throw new UsageError(
      'column_clash',
      `The row at index ${index} has a property "${ENRICHMENT}" of its own, and answers need that name. Rename it. Nothing of that row was looked up.`,
    );
  }

  /**
   * Adds the enrichment to the row and returns it. Returns a copy of a sealed or frozen row, and a new object for
   * an entry that is not an object.
   */
  attach({given, row}: FedRow, index: number): object {
    const enrichment = 'type' in row ? this.#ofReject(row, index) : this.#ofRow(row);
    Object.defineProperty(enrichment, OURS, {value: true});
    const target = typeof given !== 'object' || given === null || Array.isArray(given) ? {} : given;
    return Object.defineProperty(Object.isExtensible(target) ? target : copyOf(target), ENRICHMENT, {
      value: enrichment,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }

  #ofRow({results, repairs, answers, risk}: Exclude<FedRow['row'], {type: 'reject'}>): object {
    const found = this.#columns.map((column, index) => {
      const answer = answers[index];
      const data = column.whole || answer === undefined ? answer : pickFields(answer, column.fields);
      const repaired = repairs?.[index]?.length ? {repairs: repairs[index]} : {};
      return [column.key, {...lookupResult(results[index] as Result, data, column), ...repaired}] as const;
    });
    return {...Object.fromEntries(found), ...(risk === undefined ? {} : {risk})};
  }

  #ofReject({reason, detail}: Extract<FedRow['row'], {type: 'reject'}>, index: number): object {
    const keys = this.#columns.map(({key}) => key);
    const skipped: LookupResult = {status: 'skipped', error: 'rejected', data: null};
    const risk: Risk = {score: null, level: 'unknown', reasons: [], points: {}, missing: keys};
    const rejected = {index, reason, detail} as RejectedRow;
    return {
      ...Object.fromEntries(keys.map(key => [key, skipped])),
      ...(this.#isScored ? {risk} : {}),
      rejected,
    };
  }
}

function lookupResult(result: Result, data: unknown, {said}: TargetColumns): LookupResult {
  const members = said.map(column => [column.name, column.of(result, data)]);
  return {...Object.fromEntries(members), data: data ?? null};
}

function copyOf(row: object): object {
  const descriptors = Object.entries(Object.getOwnPropertyDescriptors(row));
  const open = descriptors.map(([name, one]) => [name, {...one, configurable: true}] as const);
  return Object.create(Object.getPrototypeOf(row), Object.fromEntries(open));
}
