import {UsageError} from '../../errors.ts';
import {pathOfNode, type ReadPath} from './ast.ts';
import type {ValueReader} from './cel-engine.ts';
import {truncateText} from './explain-error.ts';
import {type Expression, type PathReference, resolveReference} from './expression.ts';
import {TooManyStepsError} from './step-limit.ts';

/** Result of a condition; undefined if a missing or unusable field leaves it undecided. */
export type Decision = boolean | undefined;

/**
 * A condition on the fields of a view, such as a row with its answers. A missing field leaves it undecided, with two exceptions: has() tests for a
 * field, and one side of && or || may decide alone, as in `false && missing` and `true || missing`.
 */
export interface Condition<View> {
  /** All paths that the condition reads. */
  readonly references: readonly PathReference[];
  decide(view: View): Decision;
  /** The values that the condition reads, by their names; without those that the view lacks. */
  valuesIn(view: View): ReadonlyMap<string, unknown>;
  /**
   * Calls `lacks` for each field that leaves the condition undecided. If a part of the condition can't use a value,
   * such as a text that is not a number, calls it for all fields of that part. Returns true if there was such a part.
   */
  missing(view: View, lacks: (reference: PathReference) => void): boolean;
}

/** One error for all rows, since making one for each row would be slow. */
const MISSING = new Error('a field is missing');

/** Compiles an expression once, for many views. `readerOf` makes a reader of the value at a path. */
export function compileCondition<View extends object>(
  {engine, text, vocabulary}: Expression,
  readerOf: (path: readonly string[]) => ValueReader<View>,
): Condition<View> {
  const reads: FieldRead<View>[] = [];
  const readAt = (found: ReadPath): ValueReader<View> => {
    const reference = resolveReference(found, vocabulary);
    const {path, optional} = reference;
    // The field in has(…) may be missing, but its answer may not.
    const known = knownReader(reference, readerOf(optional ? path.slice(0, 1) : path));
    reads.push({node: found.node, reference, known});
    const value = optional ? isThere(readerOf(path)) : known;
    return view => {
      if (known(view) === undefined) throw MISSING;
      return value(view);
    };
  };
  const {ast, isLazy, evaluate, undecidedParts} = engine.compile(text, readAt);
  const judge = (view: View): Decision => {
    if (!isLazy) for (const {known} of reads) if (known(view) === undefined) return undefined;
    try {
      const result = evaluate(view);
      return typeof result === 'boolean' ? result : undefined;
    } catch (error) {
      if (error instanceof TooManyStepsError) throw refuseSteps(text, error, view);
      // A field is missing, or a value can't be used, such as a text that is not a number.
      return undefined;
    }
  };
  const [first] = reads;
  const isFlag =
    first?.reference.type?.kind === 'bool' && pathOfNode(ast.op === '!_' ? ast.args : ast) !== undefined;
  const decide = isFlag ? flagDecider(first.known, ast.op === '!_') : judge;
  return {
    references: reads.map(({reference}) => reference),
    decide,
    valuesIn(view) {
      const values = reads.map(({reference: {name, path}}) => [name, readerOf(path)(view)] as const);
      return new Map(values.filter(([, value]) => value !== undefined));
    },
    missing(view, lacks) {
      if (decide(view) !== undefined) return false;
      const parts = isLazy
        ? undecidedParts(view).map(nodes => reads.filter(({node}) => nodes.has(node)))
        : [reads];
      let isWrong = false;
      for (const own of parts) {
        const gone = own.filter(({known}) => known(view) === undefined);
        for (const {reference} of gone.length > 0 ? gone : own) lacks(reference);
        if (gone.length === 0) isWrong = true;
      }
      return isWrong;
    },
  };
}

/** The error that ends the run: any row may have such a list, so its condition would be undecided at random. */
function refuseSteps(
  text: string,
  {message}: Error,
  {row}: {readonly row?: {readonly record?: number}},
): UsageError {
  const where = row?.record === undefined ? '' : `Row ${row.record}: `;
  return new UsageError('score_rules', `${where}${message}. The expression: ${truncateText(text)}`);
}

interface FieldRead<View> {
  readonly node: ReadPath['node'];
  readonly reference: PathReference;
  readonly known: ValueReader<View>;
}

/** Most rules are `ip.is_vpn` or `!email.is_valid`, so these are decided without the engine. */
function flagDecider<View>(read: ValueReader<View>, isNegated: boolean): Condition<View>['decide'] {
  if (!isNegated) return read as Condition<View>['decide'];
  return view => {
    const value = read(view);
    return value === undefined ? undefined : !value;
  };
}

const typeNames: Readonly<Record<string, string>> = {bool: 'boolean', string: 'string', double: 'number'};

/**
 * Makes a reader of a field that gives undefined for a value whose type is not the interface's. For a field that is
 * used only in `has(…)`, `read` gives the whole answer: the field itself may be missing.
 */
function knownReader<View>({type, optional}: PathReference, read: ValueReader<View>): ValueReader<View> {
  const expected = optional ? undefined : typeNames[type?.kind ?? ''];
  return view => {
    const value = read(view);
    if (expected === undefined) return value ?? undefined;
    return typeof value === expected ? value : undefined;
  };
}

function isThere<View>(read: ValueReader<View>): ValueReader<View> {
  return view => (read(view) ?? undefined) !== undefined;
}

/** Makes a reader of the value at a path within what `read` gives. It returns undefined if there is no value. */
export function fieldReader<View>(
  read: ValueReader<View>,
  [name, ...deeper]: readonly string[],
): ValueReader<View> {
  if (name === undefined) return read;
  const readField = (view: View) => {
    const owner = read(view);
    return typeof owner === 'object' && owner !== null
      ? (owner as Readonly<Record<string, unknown>>)[name]
      : undefined;
  };
  return fieldReader(readField, deeper);
}
