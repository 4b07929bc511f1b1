import type {ASTNode} from '@marcbachmann/cel-js';

/** The names in a path: a, b and c for `a.b["c"]`. Undefined for any other expression. */
export function pathOf(node: ASTNode): readonly string[] | undefined {
  if (node.op === 'id') return [node.args];
  if (node.op === '.') {
    const owner = pathOf(node.args[0]);
    return owner === undefined ? undefined : [...owner, node.args[1]];
  }
  if (node.op !== '[]') return undefined;
  const [of, index] = node.args;
  const owner = pathOf(of);
  const name = literalText(index);
  return owner !== undefined && name !== undefined ? [...owner, name] : undefined;
}

/** The path in `has(path)`; undefined for any other expression. */
export function hasPath(node: ASTNode): readonly string[] | undefined {
  const [name, given] = node.op === 'call' ? node.args : [];
  const inner = name === 'has' ? given?.[0] : undefined;
  return inner === undefined ? undefined : pathOf(inner);
}

export function literalText(node: ASTNode | undefined): string | undefined {
  return node?.op === 'value' && typeof node.args === 'string' ? node.args : undefined;
}

/** Macros over a list. The second argument is evaluated for each element; the first one names the element. */
export const LOOPS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

/** Adds to `bound` the variable that a loop names: `x` in `list.exists(x, x > 1)`. */
export function boundIn(node: ASTNode, bound: ReadonlySet<string>): ReadonlySet<string> {
  const variable = node.op === 'rcall' && LOOPS.has(node.args[0]) ? node.args[2][0] : undefined;
  return variable?.op === 'id' ? new Set([...bound, variable.args]) : bound;
}

export function childrenOf(node: ASTNode): ASTNode[] {
  return nodesIn(node.args);
}

function nodesIn(given: unknown): ASTNode[] {
  if (Array.isArray(given)) return given.flatMap(nodesIn);
  return typeof given === 'object' && given !== null && 'op' in given ? [given as ASTNode] : [];
}
