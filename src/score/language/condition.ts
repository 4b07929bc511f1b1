import type {ASTNode} from '@marcbachmann/cel-js';
import {hasPath, pathOf} from './ast.ts';
import {type Evaluate, locateAsWritten} from './engine.ts';
import {type Expression, findReferences, type Reference} from './expression.ts';

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
export interface Condition extends Part {
  /** All paths that the condition reads. */
  readonly references: readonly Reference[];
  /** The values that the condition reads, by their names; without those that the facts lack. */
  valuesIn(facts: Facts): ReadonlyMap<string, unknown>;
}

interface Part {
  decide(facts: Facts): Decision;
  /**
   * Calls `lacks` for each field that leaves the condition undecided. If a part of the condition can't use a value,
   * such as a text that is not a number, calls it for all fields of that part. Returns true if there was such a part.
   */
  missing(facts: Facts, lacks: (reference: Reference) => void): boolean;
}

/** Compiles an expression once, for many rows. */
export function compileCondition(expression: Expression, locate = locateAsWritten): Condition {
  const {engine, text} = expression;
  const parsed = engine.parse(text);
  const references: Reference[] = [];
  const readerOf = ({path, optional}: Reference) => reader(locate(optional ? path.slice(0, 1) : path));
  const partOf = (node: ASTNode): Part => {
    if (node.op === '&&' || node.op === '||')
      return either(sidesOf(node, node.op).map(partOf), node.op === '||');
    if (node.op === '!_') return negation(partOf(node.args));
    const own = findReferences(node, expression.vocabulary);
    references.push(...own);
    const reads = own.map(reference => ({reference, read: knownReader(reference, readerOf(reference))}));
    const tested = hasPath(node);
    if (tested !== undefined) return leaf(reads, isThere(reader(locate(tested))));
    const isFlag = pathOf(node) !== undefined && own[0]?.type?.kind === 'bool';
    if (isFlag) return leaf(reads);
    return leaf(reads, node === parsed.ast ? parsed : engine.evaluatorOf(node));
  };
  const {decide, missing} = partOf(parsed.ast);
  engine.prepare(parsed, locate);
  const valuesIn = (facts: Facts) => {
    const values = references.map(({name, path}) => [name, reader(locate(path))(facts)] as const);
    return new Map(values.filter(([, value]) => value !== undefined));
  };
  return {references, decide, missing, valuesIn};
}

/** The terms of a sum of && or ||. */
function sidesOf(node: ASTNode, sign: '&&' | '||'): ASTNode[] {
  return node.op === sign ? [...sidesOf(node.args[0], sign), ...sidesOf(node.args[1], sign)] : [node];
}

/** `||` or `&&`: one side may decide alone, even if another side is undecided. */
function either(sides: readonly Part[], deciding: boolean): Part {
  const decide = (facts: Facts) => {
    let all: Decision = !deciding;
    for (const side of sides) {
      const decision = side.decide(facts);
      if (decision === deciding) return deciding;
      if (decision === undefined) all = undefined;
    }
    return all;
  };
  return {
    decide,
    missing(facts, lacks) {
      if (decide(facts) !== undefined) return false;
      return sides.filter(side => side.missing(facts, lacks)).length > 0;
    },
  };
}

function negation({decide, missing}: Part): Part {
  return {
    decide: facts => {
      const decision = decide(facts);
      return decision === undefined ? undefined : !decision;
    },
    missing,
  };
}

interface FieldRead {
  readonly reference: Reference;
  readonly read: Evaluate;
}

/** A part that is decided only if all its fields are known. Without `evaluate`, it is a flag: its only field. */
function leaf(reads: readonly FieldRead[], evaluate?: Evaluate): Part {
  const decide = evaluate === undefined ? (reads[0]?.read as Part['decide']) : decider(reads, evaluate);
  return {
    decide,
    missing(facts, lacks) {
      let unknown = false;
      for (const {reference, read} of reads)
        if (read(facts) === undefined) {
          unknown = true;
          lacks(reference);
        }
      if (unknown || decide(facts) !== undefined) return false;
      for (const {reference} of reads) lacks(reference);
      return true;
    },
  };
}

function decider(reads: readonly FieldRead[], evaluate: Evaluate): Part['decide'] {
  return facts => {
    for (const {read} of reads) if (read(facts) === undefined) return undefined;
    try {
      const result = evaluate(facts);
      return typeof result === 'boolean' ? result : undefined;
    } catch {
      // A value can't be used, such as a text that is not a number: the condition is undecided.
      return undefined;
    }
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
