import type {ASTNode} from '@marcbachmann/cel-js';
import {UsageError} from '../../errors.ts';
import {getAtPath} from '../../operations/fields.ts';
import {findPaths, isLazy, operandsOf} from './ast.ts';
import {type Expression, type PathReference, truncateText} from './expression.ts';
import {TOO_MANY_STEPS} from './guards.ts';

/** Reads a value from what an expression is about, such as a row; undefined if there is none. */
export type ValueReader<View> = (view: View) => unknown;

/** Result of a condition; undefined if a missing or unusable field leaves it undecided. */
export type Decision = boolean | undefined;

/**
 * A condition on the fields of a view, such as a row with its answers. A missing field leaves it undecided, except in
 * has(), and where one side of && or || decides alone.
 */
export interface Condition<View> {
  readonly references: readonly PathReference[];
  decide(view: View): Decision;
  /** The values that the condition reads, by their names; without those that the view lacks. */
  valuesIn(view: View): ReadonlyMap<string, unknown>;
  /**
   * Calls `lacks` for each field that leaves the condition undecided. If a part can't use a value, such as a text
   * that is not a number, calls it for all fields of that part, and returns true.
   */
  missing(view: View, lacks: (reference: PathReference) => void): boolean;
}

/** One error for all rows, since making one for each row would be slow. */
const MISSING = new Error('a field is missing');

interface FieldRead<View> {
  readonly reference: PathReference;
  /** The value, or the whole answer for a field in `has(…)`; undefined if it is missing, or of a wrong type. */
  readonly known: ValueReader<View>;
  /** The value, or for `has(…)` true or false; undefined as above. */
  readonly value: ValueReader<View>;
}

/** A part of a condition. The engine evaluates those without operands: all but `&&`, `||`, `!` and `?:`. */
interface Part<View> {
  readonly sign: ASTNode['op'];
  readonly operands: readonly Part<View>[];
  readonly reads: readonly FieldRead<View>[];
  /** The values without which it can't be decided: telling that takes less time than an error of the engine. */
  readonly needs: readonly FieldRead<View>[];
  readonly run: ValueReader<View>;
}

/** Compiles an expression once, for many views. `readerOf` makes a reader of the value at a path. */
export function compileCondition<View extends object>(
  expression: Expression,
  readerOf: (path: readonly string[]) => ValueReader<View>,
): Condition<View> {
  const {engine, text, references} = expression;
  const whole = compileParts(expression, readerOf);
  const judge = (view: View) => {
    engine.steps.restart();
    const result = judgePart(whole, view);
    if (engine.steps.isExceeded) throw refuseSteps(text, view);
    return result;
  };
  return {
    references,
    decide(view) {
      const result = judge(view);
      return typeof result === 'boolean' ? result : undefined;
    },
    valuesIn(view) {
      const values = references.map(({name, path}) => [name, readerOf(path)(view)] as const);
      return new Map(values.filter(([, value]) => value !== undefined));
    },
    missing(view, lacks) {
      const result = judge(view);
      let isWrong = false;
      for (const part of typeof result === 'boolean' ? [] : result) {
        const gone = part.reads.filter(({known}) => known(view) === undefined);
        for (const {reference} of gone.length > 0 ? gone : part.reads) lacks(reference);
        if (gone.length === 0) isWrong = true;
      }
      return isWrong;
    },
  };
}

/** The result of a part, else the smallest parts that leave it undecided: a field is missing, or a value can't be used. */
function judgePart<View>(part: Part<View>, view: View): boolean | readonly Part<View>[] {
  const {sign, operands} = part;
  if (operands.length === 0) {
    for (const {known} of part.needs) if (known(view) === undefined) return [part];
    try {
      const result = part.run(view);
      return typeof result === 'boolean' ? result : [part];
    } catch {
      return [part];
    }
  }
  if (sign === '&&' || sign === '||') {
    const open: Part<View>[] = [];
    for (const operand of operands) {
      const result = judgePart(operand, view);
      if (result === (sign === '||')) return result;
      if (typeof result !== 'boolean') open.push(...result);
    }
    return open.length > 0 ? open : sign === '&&';
  }
  const result = judgePart(operands[0] as Part<View>, view);
  if (typeof result !== 'boolean') return result;
  const chosen = operands[result ? 1 : 2];
  return chosen === undefined ? !result : judgePart(chosen, view);
}

function compileParts<View extends object>(
  {engine, ast, references}: Expression,
  readerOf: (path: readonly string[]) => ValueReader<View>,
): Part<View> {
  const reads = new Map(references.map(reference => [reference.node, fieldReadOf(reference, readerOf)]));
  let seen: View;
  const prepare = engine.preparer(ast, ({node}) => () => {
    const value = reads.get(node)?.value(seen);
    if (value === undefined) throw MISSING;
    return value;
  });
  const partOf = (node: ASTNode): Part<View> => {
    const operands = operandsOf(node).map(partOf);
    // Most rules are `ip.is_vpn` or `!email.is_valid`: a path alone is read without the engine.
    const evaluate = reads.has(node) || operands.length > 0 ? undefined : prepare(node);
    const run = (view: View) => {
      seen = view;
      return evaluate?.();
    };
    const readHere = findPaths(node).flatMap(path => reads.get(path.node) ?? []);
    const needs = reads.has(node) || isLazy(node) ? [] : readHere;
    return {sign: node.op, operands, reads: readHere, needs, run: reads.get(node)?.value ?? run};
  };
  return partOf(ast);
}

/** The error that ends the run: any row may have such a list, so its condition would be undecided at random. */
function refuseSteps(text: string, {row}: {readonly row?: {readonly record?: number}}): UsageError {
  const where = row?.record === undefined ? '' : `Row ${row.record}: `;
  return new UsageError('score_rules', `${where}${TOO_MANY_STEPS}. The expression: ${truncateText(text)}`);
}

const typeNames: Readonly<Record<string, string>> = {bool: 'boolean', string: 'string', double: 'number'};

function fieldReadOf<View>(
  reference: PathReference,
  readerOf: (path: readonly string[]) => ValueReader<View>,
): FieldRead<View> {
  const {path, type, optional} = reference;
  const read = readerOf(path);
  if (optional) {
    // The field in has(…) may be missing, but its answer may not.
    const answer = readerOf(path.slice(0, 1));
    const known = (view: View) => answer(view) ?? undefined;
    const value = (view: View) =>
      known(view) === undefined ? undefined : (read(view) ?? undefined) !== undefined;
    return {reference, known, value};
  }
  const expected = typeNames[type?.kind ?? ''];
  const known = (view: View) => {
    const value = read(view);
    if (expected === undefined) return value ?? undefined;
    return typeof value === expected ? value : undefined;
  };
  return {reference, known, value: known};
}

/** Makes a reader of the value at a path within what `read` gives. It returns undefined if there is no value. */
export function fieldReader<View>(read: ValueReader<View>, path: readonly string[]): ValueReader<View> {
  return path.length === 0 ? read : view => getAtPath(read(view), path);
}
