import {pathOf, type ReadPath} from './ast.ts';
import {type Evaluate, type Locate, locateAsWritten} from './engine.ts';
import {type Expression, type Reference, referenceTo} from './expression.ts';

/**
 * Values for a condition, by the names of its vocabulary. Unknown values are left out. Facts are never changed:
 * each row has an object of its own.
 */
export type Facts = Readonly<Record<string, unknown>>;

/** Result of a condition; undefined if a missing or unusable field leaves it undecided. */
export type Decision = boolean | undefined;

/**
 * A condition on a row's fields. A missing field leaves it undecided, with two exceptions: has() tests for a
 * field, and one side of && or || may decide alone, as in `false && missing` and `true || missing`.
 */
export interface Condition {
  /** All paths that the condition reads. */
  readonly references: readonly Reference[];
  decide(facts: Facts): Decision;
  /** The values that the condition reads, by their names; without those that the facts lack. */
  valuesIn(facts: Facts): ReadonlyMap<string, unknown>;
  /**
   * Calls `lacks` for each missing field of an undecided condition. If none is missing, it can't use a value, such as
   * a text that is not a number: calls `lacks` for all fields, and returns true.
   */
  missing(facts: Facts, lacks: (reference: Reference) => void): boolean;
}

/** One error for all rows, since making one for each row would be slow. */
const MISSING = new Error('a field is missing');

/** Compiles an expression once, for many rows. */
export function compileCondition(
  {engine, text, vocabulary}: Expression,
  locate: Locate = locateAsWritten,
): Condition {
  const reads: FieldRead[] = [];
  const readAt = (found: ReadPath): Evaluate => {
    const reference = referenceTo(found, vocabulary);
    const {path, optional} = reference;
    // The field in has(…) may be missing, but its answer may not.
    const known = knownReader(reference, reader(locate(optional ? path.slice(0, 1) : path)));
    reads.push({reference, known});
    const value = optional ? isThere(reader(locate(path))) : known;
    return facts => {
      if (known(facts) === undefined) throw MISSING;
      return value(facts);
    };
  };
  const {ast, isLazy, evaluate} = engine.compile(text, readAt);
  const judge = (facts: Facts): Decision => {
    if (!isLazy) for (const {known} of reads) if (known(facts) === undefined) return undefined;
    try {
      const result = evaluate(facts);
      return typeof result === 'boolean' ? result : undefined;
    } catch {
      // A field is missing, or a value can't be used, such as a text that is not a number.
      return undefined;
    }
  };
  const [first] = reads;
  const isFlag =
    first?.reference.type?.kind === 'bool' && pathOf(ast.op === '!_' ? ast.args : ast) !== undefined;
  const decide = isFlag ? flagDecider(first.known, ast.op === '!_') : judge;
  return {
    references: reads.map(({reference}) => reference),
    decide,
    valuesIn(facts) {
      const values = reads.map(({reference: {name, path}}) => [name, reader(locate(path))(facts)] as const);
      return new Map(values.filter(([, value]) => value !== undefined));
    },
    missing(facts, lacks) {
      if (isLazy && decide(facts) !== undefined) return false;
      let isMissing = false;
      for (const {reference, known} of reads)
        if (known(facts) === undefined) {
          isMissing = true;
          lacks(reference);
        }
      if (isMissing || decide(facts) !== undefined) return false;
      for (const {reference} of reads) lacks(reference);
      return true;
    },
  };
}

interface FieldRead {
  readonly reference: Reference;
  readonly known: Evaluate;
}

/** Most rules are `ip.is_vpn` or `!email.is_valid`, so these are decided without the engine. */
function flagDecider(read: Evaluate, isNegated: boolean): Condition['decide'] {
  if (!isNegated) return read as Condition['decide'];
  return facts => {
    const value = read(facts);
    return value === undefined ? undefined : !value;
  };
}

const typeNames: Readonly<Record<string, string>> = {bool: 'boolean', string: 'string', double: 'number'};

/**
 * Makes a reader of a field that gives undefined for a value whose type is not the interface's. For a field that is
 * used only in `has(…)`, `read` gives the whole answer: the field itself may be missing.
 */
function knownReader({type, optional}: Reference, read: Evaluate): Evaluate {
  const expected = optional ? undefined : typeNames[type?.kind ?? ''];
  return facts => {
    const value = read(facts);
    if (expected === undefined) return value ?? undefined;
    return typeof value === expected ? value : undefined;
  };
}

function isThere(read: Evaluate): Evaluate {
  return facts => (read(facts) ?? undefined) !== undefined;
}

/** Makes a reader of the value at a path. It returns undefined if there is no value. */
function reader(path: readonly string[]): Evaluate {
  const [root = '', field = '', ...deeper] = path;
  if (path.length === 1) return facts => facts[root];
  // Most conditions read a field at this depth, in every row, so it is read without a further call.
  if (deeper.length === 0)
    return facts => {
      const part = facts[root];
      return typeof part === 'object' && part !== null ? (part as Facts)[field] : undefined;
    };
  return facts => deeper.reduce(fieldOf, fieldOf(facts[root], field));
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Facts)[name] : undefined;
}
