import {type ASTNode, parse, serialize} from '@marcbachmann/cel-js';
import {boundIn, childrenOf, LOOPS} from './ast.ts';
import {convertible} from './convertible.ts';

/**
 * Names that the text for the CEL library uses for our own functions, and for the variable `list`. The
 * library reserves `matches` and `list`, so they become `matches_` and `list_`.
 */
export const ENGINE_NAMES = {
  matches: 'matches_',
  list: 'list_',
  finite: 'finite_',
} as const;

/** Name of the function that checks a conversion's argument. */
export const convertibleBy = (conversion: keyof typeof convertible) => `${conversion}_`;

/** @throws {Error} when the text is not an expression, or is nested too deep. */
export function parsed(text: string): ASTNode {
  const bare = text.replace(/"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/g, '""');
  // The library allows any number of signs (- or !) in a row. Very many would overflow the stack of its parser.
  if (MANY_SIGNS.test(bare)) throw new Error(TOO_DEEP);
  const {ast} = parse(text);
  if (depthOf(ast) > MOST_LEVELS) throw new Error(TOO_DEEP);
  return parse(withDoubles(text, ast)).ast;
}

/** Maximum levels of nesting. Compiling an expression recurses at each level, and so does running it for a row. */
const MOST_LEVELS = 1_000;
const TOO_DEEP = 'it is nested too deep: more than 1,000 levels, such as terms of && or +';
const MANY_SIGNS = /(?:[!-]\s*){250}/;

function depthOf(ast: ASTNode): number {
  let depth = 0;
  for (let level = [ast]; level.length > 0; level = level.flatMap(childrenOf)) depth += 1;
  return depth;
}

/**
 * Writes `1` as `1.0` in sums, comparisons and lists, since all numbers in answers are doubles. A whole number
 * stays whole as an index, beside `%`, and as an argument: `substring(1)`.
 */
function withDoubles(text: string, ast: ASTNode): string {
  const ends: number[] = [];
  const visit = (node: ASTNode, counts: boolean) => {
    const whole = node.op === 'value' && typeof node.args === 'bigint';
    if (!counts && whole && /^\d+$/.test(text.slice(node.range.start, node.range.end)))
      ends.push(node.range.end);
    const within = node.op === 'call' || node.op === 'rcall' || node.op === '[]' || node.op === '%';
    for (const child of childrenOf(node)) visit(child, within || (counts && node.op === '-_'));
  };
  visit(ast, false);
  return ends.sort((a, b) => b - a).reduce((all, end) => `${all.slice(0, end)}.0${all.slice(end)}`, text);
}

/** Writes a part of an expression as text for an engine. `checked`: adds checks of conversions and arithmetic. */
export function engineText(node: ASTNode, checked: boolean): string {
  return serialize(shaped(node, {checked, bound: new Set()}) as ASTNode);
}

/** The properties of a node that the library reads when it writes the node as text. */
type Shape = Pick<ASTNode, 'op' | 'args'>;

interface Within {
  readonly checked: boolean;
  readonly bound: ReadonlySet<string>;
}

function shaped(node: ASTNode, within: Within): Shape {
  const {checked, bound} = within;
  if (node.op === 'value') return literal(node.args) ?? node;
  // has() tests if a field exists, and does not read its value. So no calls are added that check the value.
  if (node.op === 'call' && node.args[0] === 'has')
    return mapped(node, child => shaped(child, {...within, checked: false}));
  if (node.op === 'rcall') return method(node, within);
  if (node.op === 'id') return node.args === 'list' && !bound.has('list') ? id(ENGINE_NAMES.list) : node;
  if (checked && ARITHMETIC.has(node.op)) return call(ENGINE_NAMES.finite, sum(node, within));
  const inner = grouped(
    node,
    mapped(node, child => shaped(child, within)),
  );
  return checked && node.op === 'call' ? convertibly(inner) : inner;
}

const ARITHMETIC: ReadonlySet<ASTNode['op']> = new Set(['+', '-', '*', '/']);

/** Writes nested arithmetic as one part: only its result and its divisors are checked for infinity and NaN. */
function sum(node: ASTNode, within: Within): Shape {
  const [left, right] = node.args as [ASTNode, ASTNode];
  const side = (child: ASTNode) => (ARITHMETIC.has(child.op) ? sum(child, within) : shaped(child, within));
  const args = [side(left), node.op === '/' ? shaped(right, within) : side(right)];
  return grouped(node, {op: node.op, args} as Shape);
}

/** Binary operators by precedence, lowest first. Operators of one level are evaluated from left to right. */
const LEVELS: readonly (readonly string[])[] = [
  ['==', '!=', '<', '<=', '>', '>=', 'in'],
  ['+', '-'],
  ['*', '/', '%'],
];

/** Adds brackets that the library leaves out, as in `a - (b + c)` and `-(a ? b : c)`. */
function grouped(node: ASTNode, shape: Shape): Shape {
  if (node.op === '-_' || node.op === '!_')
    return node.args.op === '?:' ? ({op: node.op, args: inBrackets(shape.args as Shape)} as Shape) : shape;
  const level = LEVELS.find(signs => signs.includes(node.op));
  if (level === undefined) return shape;
  const [left, right] = node.args as [ASTNode, ASTNode];
  const [first, second] = shape.args as [Shape, Shape];
  return {
    op: shape.op,
    args: [
      left.op === '?:' ? inBrackets(first) : first,
      right.op === '?:' || level.includes(right.op) ? inBrackets(second) : second,
    ],
  } as Shape;
}

const inBrackets = (shape: Shape) => id(`(${serialize(shape as ASTNode)})`);

/** Puts a check around the argument of a conversion. Returns any other call unchanged. */
function convertibly(inner: Shape): Shape {
  const [name, [given]] = inner.args as [string, Shape[]];
  return given !== undefined && isConversion(name) ? call(name, call(convertibleBy(name), given)) : inner;
}

const isConversion = (name: string): name is keyof typeof convertible => Object.hasOwn(convertible, name);

function method(node: Extract<ASTNode, {op: 'rcall'}>, within: Within): Shape {
  const [name, receiver, args] = node.args;
  const called = name === 'matches' ? ENGINE_NAMES.matches : name;
  const [variable, ...rest] = args;
  const inLoop = {...within, bound: boundIn(node, within.bound)};
  const given =
    LOOPS.has(name) && variable !== undefined
      ? [variable, ...rest.map(child => shaped(child, inLoop))]
      : args.map(child => shaped(child, within));
  return {op: 'rcall', args: [called, shaped(receiver, within), given]} as Shape;
}

/** Writes a text or number. The library would spoil characters beyond 16 bits, and round to nine decimals. */
function literal(value: unknown): Shape | undefined {
  if (typeof value === 'string') return id(JSON.stringify(value));
  if (typeof value !== 'number') return undefined;
  const text = String(value);
  return id(/^-?\d+$/.test(text) ? `${text}.0` : text);
}

const id = (text: string) => ({op: 'id', args: text}) as Shape;
const call = (name: string, ...args: Shape[]) => ({op: 'call', args: [name, args]}) as Shape;

function mapped(node: ASTNode, change: (child: ASTNode) => Shape): Shape {
  const inner = (given: unknown): unknown => {
    if (Array.isArray(given)) return given.map(inner);
    return typeof given === 'object' && given !== null && 'op' in given ? change(given as ASTNode) : given;
  };
  return {op: node.op, args: inner(node.args)} as Shape;
}
