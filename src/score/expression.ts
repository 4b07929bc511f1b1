import {type ASTNode, Environment, type ParseResult, parse, serialize} from '@marcbachmann/cel-js';
import {UsageError} from '../errors.ts';
import {type Type, typeAt, UnknownName, type Vocabulary} from './vocabulary.ts';

/** A path that an expression reads, such as `ip.is_vpn`. */
export interface Reference {
  readonly path: readonly string[];
  /** The path as it is written. */
  readonly name: string;
  readonly type: Type | undefined;
  /** Only asked about with `has(…)`: it need not be there. */
  readonly optional: boolean;
}

/** An expression of the Common Expression Language, parsed and checked against what it may read. */
export interface Expression {
  readonly ast: ASTNode;
  readonly vocabulary: Vocabulary;
  /** Makes one of its parts ready to run. */
  runnable(node: ASTNode): ParseResult;
}

/**
 * Parses conditions and checks their names and types.
 *
 * @throws {UsageError} that begins with `place` and says what is wrong, with the nearest name for an unknown one.
 */
export type CheckCondition = (text: string, place: string) => Expression;

/** A checker of conditions that may read this; making one takes a few milliseconds. */
export function conditionChecker(vocabulary: Vocabulary): CheckCondition {
  const checking = typedEnvironment(vocabulary, 'items');
  const running = typedEnvironment(vocabulary, 'no items');
  return (text, place) => {
    const wrong = (reason: string) =>
      new UsageError(
        'expression',
        `${place}: ${explained(reason).replace(/(?<![.?])$/, '.')} It says: ${text}`,
      );
    try {
      const parsed = checking.parse(withDoubles(text));
      referencesOf(parsed.ast, vocabulary);
      const {valid, type, error} = parsed.check();
      if (!valid) throw wrong(error?.summary ?? 'not valid');
      if (type !== 'bool' && type !== 'dyn') throw wrong(`expected a condition, not a ${type}`);
      return {ast: parsed.ast, vocabulary, runnable: node => running.parse(textOf(node))};
    } catch (error) {
      if (error instanceof UsageError) throw error;
      if (error instanceof UnknownName) throw wrong(error.message);
      throw wrong((error as {summary?: string}).summary ?? (error as Error).message);
    }
  };
}

/** What the library says, for those who do not know the language. */
function explained(reason: string): string {
  if (reason === 'Unexpected character: =') return `${reason} (== compares)`;
  if (reason === 'Unexpected token: EOF') return `${reason} (it ends too early)`;
  if (reason.startsWith('no such overload:')) return `${reason} (a double is a number, a bool true or false)`;
  return reason;
}

/** A part as text. The library writes characters beyond 16 bits as two escapes, and does not read them back. */
function textOf(node: ASTNode): string {
  return serialize(node).replace(
    /(?<!\\)(?:\\u[0-9a-f]{4}){2,}/gi,
    escapes => JSON.parse(`"${escapes}"`) as string,
  );
}

/** CEL keeps whole numbers and fractions apart; here `score + 1` and `score == 1` mean what they say. */
function withMixedNumbers(environment: Environment): Environment {
  const operators = {
    '+': (a: number, b: number) => a + b,
    '-': (a: number, b: number) => a - b,
    '*': (a: number, b: number) => a * b,
    '/': (a: number, b: number) => a / b,
  };
  for (const [sign, apply] of Object.entries(operators)) {
    environment.registerOperator(`double ${sign} int`, (a: number, b: bigint) => apply(a, Number(b)));
    environment.registerOperator(`int ${sign} double`, (a: bigint, b: number) => apply(Number(a), b));
  }
  return environment.registerOperator('double == int', (a: number, b: bigint) => a === Number(b));
}

/**
 * Whole numbers that are added, compared or listed are written as fractions, as all numbers of answers are; those in
 * an index or a call, such as `substring(1)`, stay whole.
 */
function withDoubles(text: string): string {
  const ends: number[] = [];
  const visit = (node: ASTNode, counts: boolean) => {
    const whole = node.op === 'value' && typeof node.args === 'bigint';
    if (!counts && whole && /^\d+$/.test(text.slice(node.range.start, node.range.end)))
      ends.push(node.range.end);
    const within = node.op === 'call' || node.op === 'rcall' || node.op === '[]' || node.op === '%';
    for (const child of childrenOf(node)) visit(child, within || (counts && node.op === '-_'));
  };
  visit(parse(text).ast, false);
  return ends.sort((a, b) => b - a).reduce((all, end) => `${all.slice(0, end)}.0${all.slice(end)}`, text);
}

/** Members of lists have types for checking only: `rules[0]` of data is refused at run time where they have. */
function typedEnvironment(vocabulary: Vocabulary, lists: 'items' | 'no items'): Environment {
  const environment = withMixedNumbers(new Environment());
  let types = 0;
  const celType = (type: Type): string | Record<string, unknown> => {
    if (type.kind === 'columns') return 'map<string, string>';
    if (type.kind === 'counts') return 'map<string, double>';
    if (type.kind === 'object') return celFields(type.fields);
    if (type.kind !== 'list') return type.kind;
    const inner = lists === 'items' ? celType(type.of) : 'dyn';
    if (typeof inner === 'string') return `list<${inner}>`;
    types += 1;
    const name = `Item${types}`;
    environment.registerType(name, {fields: inner as Record<string, string>});
    return `list<${name}>`;
  };
  const celFields = (fields: Readonly<Record<string, Type>>): Record<string, unknown> =>
    Object.fromEntries(Object.entries(fields).map(([name, type]) => [name, celType(type)]));
  for (const [name, type] of Object.entries(vocabulary)) {
    const declared = celType(type);
    if (typeof declared === 'string') environment.registerVariable(name, declared);
    else environment.registerVariable({name, schema: declared as Record<string, string>});
  }
  return environment;
}

const MACROS = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

/**
 * All paths that a part reads.
 *
 * @throws {UnknownName} when one of them leads nowhere.
 */
export function referencesOf(
  node: ASTNode,
  vocabulary: Vocabulary,
  bound: ReadonlySet<string> = new Set(),
): Reference[] {
  const path = pathOf(node);
  if (path !== undefined) {
    if (bound.has(path[0] as string)) return [];
    return [{path, name: path.join('.'), type: typeAt(vocabulary, path), optional: false}];
  }
  if (node.op === 'rcall' && MACROS.has(node.args[0])) {
    const [, receiver, [variable, ...rest]] = node.args;
    const inner = variable?.op === 'id' ? new Set([...bound, variable.args]) : bound;
    return [
      ...referencesOf(receiver, vocabulary, bound),
      ...rest.flatMap(child => referencesOf(child, vocabulary, inner)),
    ];
  }
  const children = childrenOf(node).flatMap(child => referencesOf(child, vocabulary, bound));
  return hasPath(node) === undefined ? children : children.map(child => ({...child, optional: true}));
}

/** The path in `has(path)`. */
export function hasPath(node: ASTNode): readonly string[] | undefined {
  const [name, given] = node.op === 'call' ? node.args : [];
  const inner = name === 'has' ? given?.[0] : undefined;
  return inner === undefined ? undefined : pathOf(inner);
}

/** `a.b["c"]` as its names; undefined for anything else. */
export function pathOf(node: ASTNode): readonly string[] | undefined {
  if (node.op === 'id') return [node.args];
  if (node.op === '.') {
    const owner = pathOf(node.args[0]);
    return owner === undefined ? undefined : [...owner, node.args[1]];
  }
  if (node.op !== '[]') return undefined;
  const [of, index] = node.args;
  const owner = pathOf(of);
  return owner !== undefined && index.op === 'value' && typeof index.args === 'string'
    ? [...owner, index.args]
    : undefined;
}

function childrenOf(node: ASTNode): ASTNode[] {
  return nodesIn(node.args);
}

function nodesIn(given: unknown): ASTNode[] {
  if (Array.isArray(given)) return given.flatMap(nodesIn);
  return typeof given === 'object' && given !== null && 'op' in given ? [given as ASTNode] : [];
}
