import type {ASTNode} from '@marcbachmann/cel-js';
import {hasPath, pathOf} from '../../cel/ast.ts';
import {directComparison} from './direct.ts';
import {type Expression, type Reference, referencesOf} from './expression.ts';
import {type Facts, reader} from './read-facts.ts';

/** Result of an expression over some facts; undefined if it reads a missing field and so can't be decided. */
export type Decision = boolean | undefined;

/**
 * A condition that never takes a missing field for an answer: `false && missing` is false and `true || missing` is
 * true, as one side decides those alone; everything else that reads a missing field is undecided.
 */
export interface Condition {
  /** All that it reads. */
  readonly references: readonly Reference[];
  decide(facts: Facts): Decision;
  /**
   * Adds the missing fields of a condition that could not be decided. Returns true if none was missing, but a value could
   * not be used, such as a text that is not a number.
   */
  missing(facts: Facts, into: Set<Reference>): boolean;
}

/** Compiles an expression once, for many rows. */
export function compile(expression: Expression): Condition {
  return conditionOf(expression.ast, expression);
}

function conditionOf(node: ASTNode, expression: Expression): Condition {
  const {vocabulary} = expression;
  if (node.op === '&&' || node.op === '||') {
    const sides = node.args.map(side => conditionOf(side, expression));
    return either(sides, node.op === '||');
  }
  if (node.op === '!_') return negation(conditionOf(node.args, expression));
  const present = hasPath(node);
  if (present !== undefined) return presence(present, referencesOf(node, vocabulary));
  const references = referencesOf(node, vocabulary);
  const [reference] = references;
  if (pathOf(node) !== undefined && reference?.type?.kind === 'bool') return flag(reference);
  const direct = directComparison(node, vocabulary);
  if (direct !== undefined) return comparison(direct, references);
  const run = expression.runnable(node);
  return comparison(facts => run(facts), references);
}

/** Any of its sides (`||`), or all of them (`&&`): the one that decides it alone goes before any that is missing. */
function either(sides: readonly Condition[], deciding: boolean): Condition {
  const decide = (facts: Facts): Decision => {
    let all: Decision = !deciding;
    for (const side of sides) {
      const decision = side.decide(facts);
      if (decision === deciding) return deciding;
      if (decision === undefined) all = undefined;
    }
    return all;
  };
  return {
    references: sides.flatMap(side => side.references),
    decide,
    missing(facts, into) {
      if (decide(facts) !== undefined) return false;
      let wrong = false;
      for (const side of sides) wrong = side.missing(facts, into) || wrong;
      return wrong;
    },
  };
}

function negation(inner: Condition): Condition {
  return {
    ...inner,
    decide: facts => {
      const decision = inner.decide(facts);
      return decision === undefined ? undefined : !decision;
    },
  };
}

/** has(): false for a field that its answer lacks; undecided if the answer itself is missing. */
function presence(path: readonly string[], references: readonly Reference[]): Condition {
  const read = reader(path);
  const isKnown = everyKnown(references);
  return {
    references,
    decide: facts => (isKnown(facts) ? isThere(read(facts)) : undefined),
    missing(facts, into) {
      if (!isKnown(facts)) for (const reference of references) into.add(reference);
      return false;
    },
  };
}

/** A bare flag, which most rules are: read without the expression engine, for speed. */
function flag(reference: Reference): Condition {
  const read = reader(reference.path);
  return {
    references: [reference],
    decide: facts => {
      const value = read(facts);
      return typeof value === 'boolean' ? value : undefined;
    },
    missing(facts, into) {
      if (typeof read(facts) !== 'boolean') into.add(reference);
      return false;
    },
  };
}

function comparison(run: (facts: Facts) => unknown, references: readonly Reference[]): Condition {
  const known = everyKnown(references);
  const evaluate = (facts: Facts): Decision => {
    try {
      const result = run(facts);
      return typeof result === 'boolean' ? result : undefined;
    } catch {
      // Data that the expression can't use, such as a text that is not a number: undecided.
      return undefined;
    }
  };
  return {
    references,
    decide: facts => (known(facts) ? evaluate(facts) : undefined),
    missing(facts, into) {
      if (known(facts) && evaluate(facts) !== undefined) return false;
      const absent = references.filter(reference => !isKnownBy(reference)(facts));
      for (const reference of absent.length > 0 ? absent : references) into.add(reference);
      return absent.length === 0;
    },
  };
}

const typeNames: Readonly<Record<string, string>> = {bool: 'boolean', string: 'string', double: 'number'};

function everyKnown(references: readonly Reference[]): (facts: Facts) => boolean {
  const checks = references.map(isKnownBy);
  return facts => checks.every(check => check(facts));
}

/** True if facts have the field that a reference reads, in the interface's type. */
function isKnownBy({path, type, optional}: Reference): (facts: Facts) => boolean {
  if (optional) {
    const [root = ''] = path;
    return facts => isThere(facts[root]);
  }
  const read = reader(path);
  const expected = typeNames[type?.kind ?? ''];
  return expected === undefined ? facts => isThere(read(facts)) : facts => typeof read(facts) === expected;
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}
