import type {PlaceOf} from '../job/parse.ts';
import {type Condition, compile} from './condition.ts';
import {conditionChecker, type Reference} from './expression.ts';
import type {Type, Vocabulary} from './vocabulary.ts';

/** An expression over the summary that fails the run where it holds. */
export interface Threshold {
  readonly text: string;
  /** Undefined where the summary has nothing that it could be decided by, such as a mean of no rows. */
  exceeded(summary: object): boolean | undefined;
}

/** Counts by names that only the run brings: one that is not there is a count of 0. */
const COUNTS: ReadonlySet<string> = new Set([
  'calls.by_status',
  'calls.by_error',
  'calls.unknown_fields',
  'calls.wrong_types',
  'risk.reasons',
  'risk.missing',
]);

/**
 * Checks thresholds against a summary like the one that will come.
 *
 * @throws {UsageError} when one is no condition, or reads what a summary does not have.
 */
export function createThresholds(
  texts: readonly string[],
  like: object,
  reasons: readonly string[],
  placeOf: PlaceOf,
): Threshold[] {
  if (texts.length === 0) return [];
  const check = conditionChecker(vocabularyOf(like, reasons));
  return texts.map((text, index) => {
    const condition = compile(check(text, placeOf(['failIf', index])));
    return {text, exceeded: summary => condition.decide(withCounts(summary, condition))};
  });
}

function vocabularyOf(like: object, reasons: readonly string[]): Vocabulary {
  const type = typeOf(like, [], {'risk.reasons': reasons});
  return type.kind === 'object' ? type.fields : {};
}

/** What is null before there are rows is a number, or a text that nobody compares. */
function typeOf(
  value: unknown,
  path: readonly string[],
  known: Readonly<Record<string, readonly string[]>>,
): Type {
  if (typeof value === 'boolean') return {kind: 'bool'};
  if (typeof value === 'string') return {kind: 'string'};
  if (typeof value === 'number' || value === null) return {kind: 'double'};
  if (typeof value !== 'object') return {kind: 'dyn'};
  if (Array.isArray(value)) return {kind: 'list', of: {kind: 'dyn'}};
  const names = known[path.join('.')];
  if (COUNTS.has(path.join('.'))) return {kind: 'counts', ...(names === undefined ? {} : {names})};
  const fields = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return {
    kind: 'object',
    fields: Object.fromEntries(fields.map(([name, inner]) => [name, typeOf(inner, [...path, name], known)])),
  };
}

/** The summary, with a 0 for each count that the condition reads and the run did not have. */
function withCounts(summary: object, {references}: Condition): Readonly<Record<string, unknown>> {
  const missing = references.filter(({path}) => COUNTS.has(path.slice(0, -1).join('.')));
  if (missing.length === 0) return summary as Record<string, unknown>;
  const copy = structuredClone(summary) as Record<string, Record<string, Record<string, number>>>;
  for (const {path} of missing) setDefault(copy, path);
  return copy;
}

function setDefault(
  copy: Record<string, Record<string, Record<string, number>>>,
  path: Reference['path'],
): void {
  const [group = '', counts = '', name = ''] = path;
  const found = copy[group]?.[counts];
  if (found !== undefined) found[name] ??= 0;
}
