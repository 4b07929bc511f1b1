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

export function isLoop(node: ASTNode): node is Extract<ASTNode, {op: 'rcall'}> {
  return node.op === 'rcall' && LOOPS.has(node.args[0]);
}

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
  const variable = isLoop(node) ? node.args[2][0] : undefined;
  if (!isLoop(node) || variable?.op !== 'id') return nodesIn(node.args).map(child => ({node: child, bound}));
  const [, receiver, [, ...body]] = node.args;
  const within = new Set([...bound, variable.args]);
  return [{node: receiver, bound}, ...body.map(child => ({node: child, bound: within}))];
}

/** True if some values of the node may not be needed: those behind `&&`, `||`, `?:`, or in a loop. */
export function isLazy(node: ASTNode): boolean {
  return (
    ['&&', '||', '?:'].includes(node.op) ||
    listChildren(node).some(child => child.bound.size > 0 || isLazy(child.node))
  );
}

/** The operands of `!`, `?:`, `&&` or `||`; none of any other operator. A sum of `&&` or `||` has all its terms. */
export function operandsOf(node: ASTNode): readonly ASTNode[] {
  if (node.op === '!_' || node.op === '?:') return nodesIn(node.args);
  const termsOf = (term: ASTNode): ASTNode[] =>
    term.op === node.op ? nodesIn(term.args).flatMap(termsOf) : [term];
  return node.op === '&&' || node.op === '||' ? termsOf(node) : [];
}

function nodesIn(given: unknown): ASTNode[] {
  if (Array.isArray(given)) return given.flatMap(nodesIn);
  return typeof given === 'object' && given !== null && 'op' in given ? [given as ASTNode] : [];
}

/** Operators of one class need no brackets around an operand on their left. */
const CLASSES: readonly string[][] = [['||'], ['&&'], ['+', '-'], ['*', '/', '%']];

/** Returns a node's text as it is to stand in its parent. */
type Guard = (text: string, node: ASTNode, parent: ASTNode) => string;

/**
 * An expression's text, with `names` in place of some nodes. A whole number becomes a fraction, since all numbers in
 * answers are fractions. It stays whole as an index, beside `%`, and as an argument: `substring(1)`.
 */
export function printExpression(
  root: ASTNode,
  names: ReadonlyMap<ASTNode, string>,
  guard: Guard = text => text,
): string {
  const print = (node: ASTNode, isCount: boolean): string => {
    const {op} = node;
    const areCounts = ['call', 'rcall', '[]', '%'].includes(op) || (isCount && op === '-_');
    const inner = (child: ASTNode) => guard(names.get(child) ?? print(child, areCounts), child, node);
    return op === 'value' ? literal(node, isCount) : printNode(node, inner);
  };
  return names.get(root) ?? print(root, false);
}

function literal({input, range, args}: ASTNode, isCount: boolean): string {
  const text = input.slice(range.start, range.end);
  return !isCount && typeof args === 'bigint' && /^\d+$/.test(text) ? `${text}.0` : text;
}

function printNode(node: ASTNode, inner: (child: ASTNode) => string): string {
  const closed = (child: ASTNode) => (NEEDS_NO_BRACKETS.has(child.op) ? inner(child) : `(${inner(child)})`);
  switch (node.op) {
    case 'id':
      return node.args;
    case '!_':
      return `!${closed(node.args)}`;
    case '-_':
      return `-(${inner(node.args)})`;
    case '.':
      return `${closed(node.args[0])}.${node.args[1]}`;
    case '[]':
      return `${closed(node.args[0])}[${inner(node.args[1])}]`;
    case 'call':
      return `${node.args[0]}(${node.args[1].map(inner).join(', ')})`;
    case 'rcall':
      return `${closed(node.args[1])}.${node.args[0]}(${node.args[2].map(inner).join(', ')})`;
    case 'list':
      return `[${node.args.map(inner).join(', ')}]`;
    case 'map':
      return `{${node.args.map(([key, value]) => `${inner(key)}: ${inner(value)}`).join(', ')}}`;
    case '?:': {
      const [condition, yes, no] = node.args;
      return `${closed(condition)} ? ${closed(yes)} : ${inner(no)}`;
    }
    default: {
      const [left, right] = node.args as readonly ASTNode[] as readonly [ASTNode, ASTNode];
      const isChain = CLASSES.some(each => each.includes(node.op) && each.includes(left.op));
      return `${isChain ? inner(left) : closed(left)} ${node.op} ${closed(right)}`;
    }
  }
}

const NEEDS_NO_BRACKETS: ReadonlySet<ASTNode['op']> = new Set([
  ...(['value', 'id', 'call', 'rcall', '.', '[]', 'list', 'map', '!_'] as const),
]);
