import type {ASTNode} from '@marcbachmann/cel-js';

/** A path that an expression reads, with the node that stands for its value, or for `has(…)` of it. */
export interface ReadPath {
  readonly node: ASTNode;
  readonly path: readonly string[];
  /** True if the path stands in `has(…)`: the field may be missing. */
  readonly optional: boolean;
}

/** Macros over a list. The second argument is evaluated for each element; the first one names the element. */
const LOOPS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

const NONE: ReadonlySet<string> = new Set();

/** The names in a path: a, b and c for `a.b["c"]`. Undefined for any other expression. */
export function pathOfNode(node: ASTNode): readonly string[] | undefined {
  if (node.op === 'id') return [node.args];
  if (node.op !== '.' && node.op !== '[]') return undefined;
  const [of, index] = node.args;
  const owner = pathOfNode(of);
  const name = typeof index === 'string' ? index : literalText(index);
  return owner !== undefined && name !== undefined ? [...owner, name] : undefined;
}

/** The path in `has(path)`; undefined for any other expression. */
function hasPath(node: ASTNode): readonly string[] | undefined {
  const [name, given] = node.op === 'call' ? node.args : [];
  const inner = name === 'has' ? given?.[0] : undefined;
  return inner === undefined ? undefined : pathOfNode(inner);
}

export function literalText(node: ASTNode | undefined): string | undefined {
  return node?.op === 'value' && typeof node.args === 'string' ? node.args : undefined;
}

/** All paths that a part of an expression reads, without those of its loops' own variables (`bound`). */
export function findPaths(node: ASTNode, bound = NONE): ReadPath[] {
  const tested = hasPath(node);
  const path = tested ?? pathOfNode(node);
  if (path !== undefined)
    return bound.has(path[0] ?? '') ? [] : [{node, path, optional: tested !== undefined}];
  return listChildren(node, bound).flatMap(child => findPaths(child.node, child.bound));
}

/** The parts of a node, each with the variables that loops around it name: `x` in `list.exists(x, x > 1)`. */
export function listChildren(node: ASTNode, bound = NONE): {node: ASTNode; bound: ReadonlySet<string>}[] {
  const variable = node.op === 'rcall' && LOOPS.has(node.args[0]) ? node.args[2][0] : undefined;
  if (node.op !== 'rcall' || variable?.op !== 'id')
    return nodesIn(node.args).map(child => ({node: child, bound}));
  const [, receiver, [, ...body]] = node.args;
  const within = new Set([...bound, variable.args]);
  return [{node: receiver, bound}, ...body.map(child => ({node: child, bound: within}))];
}

/** The list that a loop reads; undefined for any other node. */
export function loopedList(node: ASTNode): ASTNode | undefined {
  return node.op === 'rcall' && LOOPS.has(node.args[0]) ? node.args[1] : undefined;
}

function nodesIn(given: unknown): ASTNode[] {
  if (Array.isArray(given)) return given.flatMap(nodesIn);
  return typeof given === 'object' && given !== null && 'op' in given ? [given as ASTNode] : [];
}

/** A part that can be evaluated by itself. */
export interface ExpressionPart {
  readonly sign: ASTNode['op'];
  /** Operands of `&&`, `||`, `!` or `?:`; none for any other part. */
  readonly operands: readonly ExpressionPart[];
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
export function findUndecidedParts({sign, operands, paths}: ExpressionPart): readonly ReadonlySet<ASTNode>[] {
  const [condition, yes, no] = operands;
  if (sign === '?:' && condition !== undefined) {
    const chosen = resultOf(condition);
    const next = chosen === undefined ? condition : chosen === true ? yes : no;
    return next === undefined ? [paths] : findUndecidedParts(next);
  }
  const undecided = operands.filter(operand => resultOf(operand) === undefined);
  return undecided.length === 0 ? [paths] : undecided.flatMap(findUndecidedParts);
}

function resultOf({run}: ExpressionPart): unknown {
  try {
    return run();
  } catch {
    return undefined;
  }
}
