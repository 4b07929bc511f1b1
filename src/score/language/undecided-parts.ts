import type {ASTNode} from '@marcbachmann/cel-js';
import {listChildren} from './ast.ts';

/** A part that can be evaluated by itself. */
export interface Part {
  readonly sign: ASTNode['op'];
  /** Operands of `&&`, `||`, `!` or `?:`; none for any other part. */
  readonly operands: readonly Part[];
  readonly paths: ReadonlySet<ASTNode>;
  readonly run: () => unknown;
}

const LAZY: ReadonlySet<ASTNode['op']> = new Set(['&&', '||', '?:']);

export function isLazy(node: ASTNode): boolean {
  return LAZY.has(node.op) || listChildren(node).some(child => child.bound.size > 0 || isLazy(child.node));
}

/** The operands of an operator of which one may decide alone. A sum of `&&` or `||` has all its terms. */
export function operandsOf(node: ASTNode): readonly ASTNode[] {
  if (node.op === '!_' || node.op === '?:') return listChildren(node).map(child => child.node);
  const termsOf = (term: ASTNode): ASTNode[] =>
    term.op === node.op ? listChildren(term).flatMap(child => termsOf(child.node)) : [term];
  return node.op === '&&' || node.op === '||' ? termsOf(node) : [];
}

/** The smallest undecided parts of an undecided one. */
export function findUndecidedParts({sign, operands, paths}: Part): readonly ReadonlySet<ASTNode>[] {
  const [condition, yes, no] = operands;
  if (sign === '?:' && condition !== undefined) {
    const chosen = resultOf(condition);
    const next = chosen === undefined ? condition : chosen === true ? yes : no;
    return next === undefined ? [paths] : findUndecidedParts(next);
  }
  const undecided = operands.filter(operand => resultOf(operand) === undefined);
  return undecided.length === 0 ? [paths] : undecided.flatMap(findUndecidedParts);
}

function resultOf({run}: Part): unknown {
  try {
    return run();
  } catch {
    return undefined;
  }
}
