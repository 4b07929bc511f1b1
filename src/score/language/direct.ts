import type {ASTNode} from '@marcbachmann/cel-js';
import {literalText, pathOf} from '../../cel/ast.ts';
import {NO_NUMBER} from '../../cel/convertible.ts';
import type {Facts, ReadFacts} from './read-facts.ts';
import type {Type} from './vocabulary.ts';

/** `int` is the result of `size()`: it can be compared with numbers, but not added to them. */
type Kind = 'bool' | 'string' | 'double' | 'int';

/** A compiled part of an expression. */
interface Value {
  readonly kind: Kind;
  readonly read: ReadFacts;
  /**
   * True if evaluation may throw, as at a division by zero. A && or || with such a part is left to the
   * engine, which ignores the error if another side decides.
   */
  readonly mayThrow: boolean;
}

/** The means to compile a part of an expression: types of fields, their values, and the engine. */
export interface DirectMeans {
  typeAt(path: readonly string[]): Type | undefined;
  /** Makes a reader of a field. It is called only for rows that have all fields of the compiled condition. */
  read(path: readonly string[]): ReadFacts;
  /** Compiles a part of the expression with the CEL engine. */
  runnable(node: ASTNode): ReadFacts;
}

/**
 * Compiles a condition over fields and literals of plain types without the engine: calling the engine takes longer
 * than the comparison. Undefined for any other condition.
 */
export function directCondition(node: ASTNode, means: DirectMeans): ReadFacts<boolean> | undefined {
  const value = plainValue(node, means);
  return value?.kind === 'bool' ? (value.read as ReadFacts<boolean>) : undefined;
}

function plainValue(node: ASTNode, means: DirectMeans): Value | undefined {
  const constant = literal(node);
  if (constant !== undefined) return {kind: constant.kind, read: () => constant.value, mayThrow: false};
  const path = pathOf(node);
  if (path !== undefined) return fieldAt(path, means);
  switch (node.op) {
    case '==':
    case '!=':
    case '<':
    case '<=':
    case '>':
    case '>=':
      return comparison(node.op, node.args, means);
    case '+':
    case '-':
    case '*':
    case '/':
    case '-_':
      return number(node, means);
    case 'in':
      return membership(node.args, means);
    case '?:':
      return choice(node.args, means);
    case '!_':
      return negation(node.args, means);
    case '&&':
    case '||':
      return both(node.op, node.args, means);
    case 'call':
      return node.args[0] === 'size' && node.args[1].length === 1
        ? sizeOf(node.args[1][0] as ASTNode, means)
        : undefined;
    case 'rcall':
      return method(node, node.args, means);
    default:
      return undefined;
  }
}

function fieldAt(path: readonly string[], means: DirectMeans): Value | undefined {
  const kind = means.typeAt(path)?.kind;
  return kind === 'bool' || kind === 'string' || kind === 'double'
    ? {kind, read: means.read(path), mayThrow: false}
    : undefined;
}

type Compare = (left: ReadFacts, right: ReadFacts) => ReadFacts<boolean>;

const comparisons = {
  '==': (left, right) => facts => left(facts) === right(facts),
  '!=': (left, right) => facts => left(facts) !== right(facts),
  '<': (left, right) => facts => (left(facts) as number) < (right(facts) as number),
  '<=': (left, right) => facts => (left(facts) as number) <= (right(facts) as number),
  '>': (left, right) => facts => (left(facts) as number) > (right(facts) as number),
  '>=': (left, right) => facts => (left(facts) as number) >= (right(facts) as number),
} as const satisfies Readonly<Record<string, Compare>>;

const isNumber = (kind: Kind) => kind === 'double' || kind === 'int';

function comparison(
  sign: keyof typeof comparisons,
  [a, b]: readonly [ASTNode, ASTNode],
  means: DirectMeans,
): Value | undefined {
  const [left, right] = [plainValue(a, means), plainValue(b, means)];
  if (left === undefined || right === undefined) return undefined;
  const areNumbers = isNumber(left.kind) && isNumber(right.kind);
  if (left.kind !== right.kind && !areNumbers) return undefined;
  // Leaves the order of texts to the engine: CEL orders texts by code points, JavaScript by UTF-16 units.
  if (!areNumbers && sign !== '==' && sign !== '!=') return undefined;
  const mayThrow = left.mayThrow || right.mayThrow;
  return {kind: 'bool', read: comparisons[sign](left.read, right.read), mayThrow};
}

/** Compiles arithmetic over doubles. The compiled function throws if the result or a divisor is infinite or NaN. */
function number(node: ASTNode, means: DirectMeans): Value | undefined {
  const read = sum(node, means);
  if (read === undefined) return undefined;
  const finite = (facts: Facts) => {
    const value = read(facts);
    if (!Number.isFinite(value)) throw NO_NUMBER;
    return value;
  };
  return {kind: 'double', read: finite, mayThrow: true};
}

function sum(node: ASTNode, means: DirectMeans): ReadFacts<number> | undefined {
  if (node.op === '-_') {
    const inner = double(node.args, means);
    return inner && (facts => -inner(facts));
  }
  if (node.op !== '+' && node.op !== '-' && node.op !== '*' && node.op !== '/') return double(node, means);
  const left = sum(node.args[0], means);
  const right = node.op === '/' ? double(node.args[1], means) : sum(node.args[1], means);
  if (left === undefined || right === undefined) return undefined;
  switch (node.op) {
    case '+':
      return facts => left(facts) + right(facts);
    case '-':
      return facts => left(facts) - right(facts);
    case '*':
      return facts => left(facts) * right(facts);
    default:
      return facts => left(facts) / right(facts);
  }
}

function double(node: ASTNode, means: DirectMeans): ReadFacts<number> | undefined {
  const value = plainValue(node, means);
  return value?.kind === 'double' ? (value.read as ReadFacts<number>) : undefined;
}

function membership([member, list]: readonly [ASTNode, ASTNode], means: DirectMeans): Value | undefined {
  const sought = plainValue(member, means);
  if (sought === undefined) return undefined;
  const {read, mayThrow} = sought;
  const path = pathOf(list);
  if (path !== undefined && means.typeAt(path)?.kind === 'set' && sought.kind === 'string') {
    const readSet = means.read(path) as ReadFacts<ReadonlyMap<unknown, true>>;
    return {kind: 'bool', read: facts => readSet(facts).has(read(facts)), mayThrow};
  }
  if (list.op !== 'list' || sought.kind === 'int') return undefined;
  const members = list.args.map(literal);
  if (members.some(some => some?.kind !== sought.kind)) return undefined;
  const values = new Set(members.map(some => some?.value));
  return {kind: 'bool', read: facts => values.has(read(facts)), mayThrow};
}

function choice(
  [question, a, b]: readonly [ASTNode, ASTNode, ASTNode],
  means: DirectMeans,
): Value | undefined {
  const [asked, yes, no] = [plainValue(question, means), plainValue(a, means), plainValue(b, means)];
  if (asked?.kind !== 'bool' || yes === undefined || yes.kind !== no?.kind) return undefined;
  const read = (facts: Facts) => (asked.read(facts) === true ? yes.read(facts) : no.read(facts));
  return {kind: yes.kind, read, mayThrow: asked.mayThrow || yes.mayThrow || no.mayThrow};
}

function negation(node: ASTNode, means: DirectMeans): Value | undefined {
  const inner = plainValue(node, means);
  if (inner?.kind !== 'bool') return undefined;
  return {...inner, read: facts => inner.read(facts) === false};
}

function both(sign: '&&' | '||', sides: readonly ASTNode[], means: DirectMeans): Value | undefined {
  const values = sides.map(side => plainValue(side, means));
  const reads: ReadFacts[] = [];
  for (const value of values) {
    if (value?.kind !== 'bool' || value.mayThrow) return undefined;
    reads.push(value.read);
  }
  const decides = sign === '||';
  const read = (facts: Facts) => reads.some(side => side(facts) === decides) === decides;
  return {kind: 'bool', read, mayThrow: false};
}

/** Compiles the size of a text. Counts code points, as CEL does, and not UTF-16 units. */
function sizeOf(node: ASTNode, means: DirectMeans): Value | undefined {
  const text = textOf(node, means);
  return text && {kind: 'int', read: facts => charactersOf(text.read(facts)), mayThrow: text.mayThrow};
}

function charactersOf(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

interface Text extends Value {
  readonly read: ReadFacts<string>;
}

function textOf(node: ASTNode, means: DirectMeans): Text | undefined {
  const value = plainValue(node, means);
  return value?.kind === 'string' ? (value as Text) : undefined;
}

const changes: Readonly<Record<string, (text: string) => string>> = {
  lowerAscii: text => text.toLowerCase(),
  upperAscii: text => text.toUpperCase(),
  trim: text => text.trim(),
};

const searches: Readonly<Record<string, (text: string, sought: string) => boolean>> = {
  startsWith: (text, sought) => text.startsWith(sought),
  endsWith: (text, sought) => text.endsWith(sought),
  contains: (text, sought) => text.includes(sought),
};

function method(
  node: ASTNode,
  [name, receiver, given]: readonly [string, ASTNode, readonly ASTNode[]],
  means: DirectMeans,
): Value | undefined {
  const [first] = given;
  if (given.length === 0 && name === 'size') return sizeOf(receiver, means);
  const change = Object.hasOwn(changes, name) ? changes[name] : undefined;
  const search = Object.hasOwn(searches, name) ? searches[name] : undefined;
  const text = change || search || name === 'matches' ? textOf(receiver, means) : undefined;
  if (text === undefined) return undefined;
  const {read, mayThrow} = text;
  if (change !== undefined && given.length === 0)
    return {kind: 'string', read: facts => change(read(facts)), mayThrow};
  // Compiles a search only for a literal. A search for a text from the row is left to the engine, which
  // limits the time of a search.
  const sought = literalText(first);
  if (given.length !== 1 || sought === undefined) return undefined;
  if (search !== undefined) return {kind: 'bool', read: facts => search(read(facts), sought), mayThrow};
  return name === 'matches'
    ? {kind: 'bool', read: known(read, means.runnable(node)), mayThrow: true}
    : undefined;
}

const MOST_TEXTS = 1_000;
const LONGEST_TEXT = 200;

/** Remembers a pattern's results by text, since names of networks and domains repeat. */
function known(text: ReadFacts<string>, run: ReadFacts): ReadFacts {
  const answers = new Map<string, unknown>();
  return facts => {
    const given = text(facts);
    const before = answers.get(given);
    if (before !== undefined) return before;
    const answer = run(facts);
    if (given.length > LONGEST_TEXT) return answer;
    if (answers.size === MOST_TEXTS) answers.clear();
    answers.set(given, answer);
    return answer;
  };
}

function literal(node: ASTNode): {readonly kind: Kind; readonly value: unknown} | undefined {
  if (node.op === '-_') {
    const inner = literal(node.args);
    return inner?.kind === 'double' ? {kind: 'double', value: -(inner.value as number)} : undefined;
  }
  if (node.op !== 'value') return undefined;
  const value = node.args;
  if (typeof value === 'string') return {kind: 'string', value};
  if (typeof value === 'boolean') return {kind: 'bool', value};
  return typeof value === 'number' ? {kind: 'double', value} : undefined;
}
