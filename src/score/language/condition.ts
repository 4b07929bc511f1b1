import type {ASTNode} from '@marcbachmann/cel-js';
import {hasPath, pathOf} from './ast.ts';
import {type Expression, type ReadField, type Reference, referencesOf} from './expression.ts';
import {type Facts, reader, SharedReads} from './read-facts.ts';
import {engineText} from './written.ts';

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
  /**
   * Adds the fields that leave the condition undecided. If a part of the condition can't use a value, such as
   * a text that is not a number, adds all fields of that part. Returns true if there was such a part.
   */
  missing(facts: Facts, into: Lacking): boolean;
}

export interface Lacking {
  add(reference: Reference): unknown;
}

/** A condition whose `decide` may be replaced by a function that decides only once per row. */
type Part = {-readonly [Key in keyof Condition]: Condition[Key]};

/** Compiles an expression once, for many rows. Conditions with the same `shared` read each field once per row. */
export function compile(expression: Expression, shared = new SharedReads()): Condition {
  return conditionOf(expression.ast, {expression, shared});
}

interface Compiling {
  readonly expression: Expression;
  readonly shared: SharedReads;
}

/** Compiles a part of an expression. If several conditions share the part, it is decided once per row. */
function conditionOf(node: ASTNode, compiling: Compiling): Condition {
  const {shared} = compiling;
  const text = engineText(node, false);
  const part = shared.named(`part ${text}`, () => ({condition: newCondition(node, compiling), uses: 0}));
  part.uses += 1;
  if (part.uses === 2) part.condition.decide = shared.once(part.condition.decide);
  return part.condition;
}

function newCondition(node: ASTNode, compiling: Compiling): Part {
  const {expression, shared} = compiling;
  const {vocabulary} = expression;
  if (node.op === '&&' || node.op === '||') {
    const sides = node.args.map(side => conditionOf(side, compiling));
    return either(sides, node.op === '||');
  }
  if (node.op === '!_') return negation(conditionOf(node.args, compiling));
  const references = referencesOf(node, vocabulary).map(reference =>
    shared.named(`reference ${reference.optional} ${JSON.stringify(reference.path)}`, () => reference),
  );
  const present = hasPath(node);
  if (present !== undefined) return presence(present, references, shared);
  const [reference] = references;
  if (pathOf(node) !== undefined && reference?.type?.kind === 'bool') return flag(reference, shared);
  return comparison(expression.runnable(node), references, shared);
}

/** `||` or `&&`: one side may decide alone, even if another side is undecided. */
function either(sides: readonly Condition[], deciding: boolean): Part {
  return {
    references: sides.flatMap(side => side.references),
    decide(facts) {
      let all: Decision = !deciding;
      for (const side of sides) {
        const decision = side.decide(facts);
        if (decision === deciding) return deciding;
        if (decision === undefined) all = undefined;
      }
      return all;
    },
    missing(facts, into) {
      if (this.decide(facts) !== undefined) return false;
      let wrong = false;
      for (const side of sides) wrong = side.missing(facts, into) || wrong;
      return wrong;
    },
  };
}

function negation(inner: Condition): Part {
  return {
    references: inner.references,
    decide: facts => {
      const decision = inner.decide(facts);
      return decision === undefined ? undefined : !decision;
    },
    missing: (facts, into) => inner.missing(facts, into),
  };
}

/** has(): false for a field that its answer lacks; undecided if the answer itself is missing. */
function presence(path: readonly string[], references: readonly Reference[], shared: SharedReads): Part {
  const read = reader(path);
  const isKnown = everyKnown(references, shared);
  return {
    references,
    decide: facts => (isKnown(facts) ? isThere(read(facts)) : undefined),
    missing(facts, into) {
      if (!isKnown(facts)) for (const reference of references) into.add(reference);
      return false;
    },
  };
}

/** A condition that is only a flag, as in most rules. For speed, it is read without the expression engine. */
function flag(reference: Reference, shared: SharedReads): Part {
  const read = readKnown(reference, shared) as (facts: Facts) => Decision;
  return {
    references: [reference],
    decide: read,
    missing(facts, into) {
      if (read(facts) === undefined) into.add(reference);
      return false;
    },
  };
}

function comparison(
  run: (facts: Facts) => unknown,
  references: readonly Reference[],
  shared: SharedReads,
): Part {
  const known = everyKnown(references, shared);
  const reads = references.map(reference => ({reference, read: readKnown(reference, shared)}));
  const evaluate = (facts: Facts): Decision => {
    try {
      const result = run(facts);
      return typeof result === 'boolean' ? result : undefined;
    } catch {
      // A value can't be used, such as a text that is not a number: the condition is undecided.
      return undefined;
    }
  };
  return {
    references,
    decide: facts => (known(facts) ? evaluate(facts) : undefined),
    missing(facts, into) {
      if (known(facts) && evaluate(facts) !== undefined) return false;
      let hadAll = true;
      for (const {reference, read} of reads)
        if (read(facts) === undefined) {
          hadAll = false;
          into.add(reference);
        }
      if (hadAll) for (const reference of references) into.add(reference);
      return hadAll;
    },
  };
}

const typeNames: Readonly<Record<string, string>> = {bool: 'boolean', string: 'string', double: 'number'};

function everyKnown(references: readonly Reference[], shared: SharedReads): (facts: Facts) => boolean {
  const reads = [...new Set(references.map(reference => readKnown(reference, shared)))];
  const [first] = reads;
  if (first !== undefined && reads.length === 1) return facts => first(facts) !== undefined;
  return facts => {
    for (const read of reads) if (read(facts) === undefined) return false;
    return true;
  };
}

/**
 * Makes a reader of a field. The reader returns undefined for a value whose type is not the interface's. For
 * a field that is used only in `has(…)`, it reads the whole answer: the field itself may be missing.
 */
function readKnown({path, type, optional}: ReadField, shared: SharedReads): (facts: Facts) => unknown {
  const expected = optional ? undefined : typeNames[type?.kind ?? ''];
  const read = reader(optional ? path.slice(0, 1) : path);
  return shared.named(`${expected ?? (optional ? 'root' : 'any')} ${JSON.stringify(path)}`, () =>
    shared.once(facts => {
      const value = read(facts);
      const isKnown = expected === undefined ? isThere(value) : typeof value === expected;
      return isKnown ? value : undefined;
    }),
  );
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}
