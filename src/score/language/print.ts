import type {ASTNode} from '@marcbachmann/cel-js';

/** Texts in place of nodes of an expression, and functions around nodes, the innermost first. */
export interface Rewrite {
  readonly texts: ReadonlyMap<ASTNode, string>;
  readonly around: ReadonlyMap<ASTNode, readonly string[]>;
}

/** Operators of one class need no brackets around an operand on their left. */
const CLASSES: readonly string[][] = [['||'], ['&&'], ['+', '-'], ['*', '/', '%']];

/**
 * An expression's text with these changes. A whole number becomes a fraction, since all numbers in answers are fractions.
 * It stays whole as an index, beside `%`, and as an argument: `substring(1)`.
 */
export function printExpression(root: ASTNode, {texts, around}: Rewrite): string {
  const print = (node: ASTNode, isCount: boolean): string => {
    const counts =
      node.op === 'call' ||
      node.op === 'rcall' ||
      node.op === '[]' ||
      node.op === '%' ||
      (isCount && node.op === '-_');
    const own = () =>
      node.op === 'value' ? literal(node, isCount) : printNode(node, child => print(child, counts));
    return (around.get(node) ?? []).reduce((inner, name) => `${name}(${inner})`, texts.get(node) ?? own());
  };
  return print(root, false);
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
