import type {ASTNode, Environment} from '@marcbachmann/cel-js';
import {UsageError} from '../../errors.ts';
import {closestName} from '../../sentence.ts';
import {findPaths, listChildren, literalText, pathOfNode, type ReadPath} from './ast.ts';
import {type Constants, Engine, LIST_ALIAS, parseExpression, withoutTexts} from './cel-engine.ts';
import {
  type AllowedTexts,
  type ExpressionType,
  type RuleVocabulary,
  typeAtPath,
  UnknownNameError,
} from './rule-variables.ts';

/** A path that an expression reads, such as `ip.is_vpn`. */
export interface PathReference extends ReadPath {
  /** The path with dots, also if the expression has brackets: `ip.is_vpn`. */
  readonly name: string;
  readonly type: ExpressionType | undefined;
}

/** A CEL expression, checked with its names and types. */
export interface Expression {
  readonly text: string;
  readonly ast: ASTNode;
  readonly references: readonly PathReference[];
  readonly engine: Engine;
}

/**
 * Makes a checker of conditions over these names, in a few milliseconds. It throws {UsageError} for a fault, with a
 * message that begins with `place` and suggests a known name for an unknown one.
 */
export function createConditionChecker(
  vocabulary: RuleVocabulary,
  constants: Constants = {},
): (text: string, place: string) => Expression {
  const engine = new Engine(environment => declare(vocabulary, environment), constants);
  return (text, place) => {
    try {
      const ast = parseExpression(text);
      const references = findPaths(ast).map((read): PathReference => {
        const {path} = read;
        return {...read, name: path.join('.'), type: typeAtPath(vocabulary, path)};
      });
      const type = engine.typeOf(ast);
      if (type !== 'bool' && type !== 'dyn')
        throw new UnknownNameError(`expected a condition, not a ${type}`);
      checkLiterals(ast, vocabulary);
      return {text, ast, references, engine};
    } catch (error) {
      const reason = error instanceof UnknownNameError ? error.message : explainError(error as Error, text);
      const sentence = reason.replace(/(?<![.?])$/, '.');
      throw new UsageError('expression', `${place}: ${sentence} The expression: ${truncateText(text)}`);
    }
  };
}

function declare(vocabulary: RuleVocabulary, environment: Environment): void {
  let items = 0;
  const itemType = (fields: Record<string, string>) => {
    items += 1;
    environment.registerType(`Item${items}`, {fields});
    return `Item${items}`;
  };
  for (const [root, type] of Object.entries(vocabulary)) {
    const declared = celType(type, itemType);
    const name = root === 'list' ? LIST_ALIAS : root;
    if (typeof declared === 'string') environment.registerVariable(name, declared);
    else environment.registerVariable({name, schema: declared as Record<string, string>});
  }
}

function celType(
  type: ExpressionType,
  itemType: (fields: Record<string, string>) => string,
): string | Record<string, unknown> {
  if (type.kind === 'object')
    return Object.fromEntries(
      Object.entries(type.fields).map(([name, inner]) => [name, celType(inner, itemType)]),
    );
  if (type.kind === 'map') return `map<string, ${celType(type.of, itemType)}>`;
  if (type.kind !== 'list') return type.kind === 'timestamp' ? 'google.protobuf.Timestamp' : type.kind;
  const inner = celType(type.of, itemType);
  return `list<${typeof inner === 'string' ? inner : itemType(inner as Record<string, string>)}>`;
}

/**
 * @throws {UnknownNameError} for a text that is compared with codes but is not a code: `status.ip == "Invalid"` would never
 * hold.
 */
function checkLiterals(node: ASTNode, vocabulary: RuleVocabulary, bound?: ReadonlySet<string>): void {
  for (const [read, texts] of comparedIn(node)) {
    const [free] = pathOfNode(read) === undefined ? [] : findPaths(read, bound);
    const type = free === undefined ? undefined : typeAtPath(vocabulary, free.path);
    if (type?.kind !== 'string' || type.codes === undefined) continue;
    for (const given of texts) {
      const text = literalText(given);
      if (text !== undefined) checkCode(text, type.codes);
    }
  }
  for (const child of listChildren(node, bound)) checkLiterals(child.node, vocabulary, child.bound);
}

/** Each operand that a node compares, with the operands that it is compared with. */
function comparedIn(node: ASTNode): readonly (readonly [ASTNode, readonly ASTNode[]])[] {
  if (node.op === '==' || node.op === '!=') {
    const [left, right] = node.args;
    return [
      [left, [right]],
      [right, [left]],
    ];
  }
  return node.op === 'in' && node.args[1].op === 'list' ? [[node.args[0], node.args[1].args]] : [];
}

function checkCode(text: string, {what, known, like, otherwise = ''}: AllowedTexts): void {
  if (known.includes(text) || like?.test(text)) return;
  const near = text === '' ? undefined : closestName(text, known);
  const hint = near === undefined ? `Known: ${known.filter(Boolean).join(', ')}.` : `Did you mean "${near}"?`;
  throw new UnknownNameError(`there is no ${what} "${text}". ${hint} ${otherwise}`.trim());
}

/** Operators of other languages, with their spelling in CEL. */
const WORDS: readonly (readonly [other: RegExp, here: string])[] = [
  [/\bnot\s+in\b/i, '"not in" is written !(a in [b, c])'],
  [/\bis\s+(not\s+)?null\b/i, '"is null" is written !has(ip.city)'],
  [/\band\b/i, '"and" is written &&'],
  [/\bor\b/i, '"or" is written ||'],
  [/\bnot\b/i, '"not" is written !'],
  [/\blike\b/i, '"like" is written a.contains("b"), a.startsWith("b") or a.matches("^b.*c$")'],
  [/\bmatches\b(?!\s*\()/i, 'a pattern is written a.matches("^b.*c$")'],
  [/\bis\b/i, '"is" is written =='],
  [/<>/, '"<>" is written !='],
  [/(?<![=!<>])===?=|(?<![=!<>])=(?!=)/, '== compares'],
];

/** Functions of other languages, by their spelling in CEL. */
const FUNCTIONS: readonly (readonly [here: string, others: readonly string[]])[] = [
  ['a.lowerAscii()', ['lower', 'tolower', 'tolowercase', 'lowercase']],
  ['a.upperAscii()', ['upper', 'toupper', 'touppercase', 'uppercase']],
  ['a.trim()', ['strip']],
  ['size(a)', ['len', 'length', 'count']],
  ['a.contains("b")', ['includes', 'contains', 'like']],
  ['a.startsWith("b")', ['startswith', 'starts_with']],
  ['a.endsWith("b")', ['endswith', 'ends_with']],
  ['a.matches("^b.*c$")', ['regex', 'matches', 'match']],
  ['double(a)', ['number', 'float']],
  ['timestamp("2026-01-31T00:00:00Z")', ['date']],
  ['a.exists(x, x == "b")', ['any']],
];

const EXPECTED: Readonly<Record<string, string>> = {
  IDENTIFIER: 'a name',
  RPAREN: '")"',
  RBRACKET: '"]"',
  RBRACE: '"}"',
  COLON: '":"',
};

/** The library's errors: `summary` is the message without the place in the expression. */
type EngineError = Error & {
  readonly summary?: string;
  readonly range?: {readonly start: number; readonly end: number};
};

/** Rewords the library's message on an expression for people who do not know the language. */
function explainError({summary, message, range}: EngineError, text: string): string {
  const reason = (summary ?? message).replaceAll(`${LIST_ALIAS}.`, 'list.');
  const said = inWords(reason, `"${text.slice(range?.start, range?.end)}"`);
  const hint = hintFor(reason, text);
  return hint === undefined ? said : `${said} (${hint})`;
}

/** The library's sentences on its limits, with what they refuse. */
const LIMITS: Readonly<Record<string, string>> = {
  'Exceeded maxDepth (250)':
    'it is nested too deep: more than 240 levels of brackets, lists, functions or ? :',
  'Exceeded maxListElements (1000)': 'a list has more than 1,000 members',
};

function inWords(reason: string, at: string): string {
  if (LIMITS[reason] !== undefined) return LIMITS[reason];
  if (reason === 'Unexpected token: EOF') return 'the expression ends too early';
  if (reason.startsWith('Unexpected token: ')) return `${at} can't stand where it is`;
  const [, token = '', found] = /^Expected (\w+), got (\w+)$/.exec(reason) ?? [];
  const expected = EXPECTED[token];
  if (expected === undefined) return reason;
  return found === 'EOF'
    ? `the expression ends where ${expected} must follow`
    : `${expected} must stand where ${at} is`;
}

function hintFor(reason: string, text: string): string | undefined {
  const name = /^found no matching overload for '(?:.*\.)?(\w+)\(/.exec(reason)?.[1];
  const near = FUNCTIONS.find(([, others]) => others.includes(name?.toLowerCase() ?? ''));
  if (near !== undefined) return `it is written ${near[0]}`;
  if (reason.startsWith('no such overload:')) return 'a double is a number, a bool true or false';
  if (/list ?elements/i.test(reason))
    return 'put a longer list into a file: lists: {allowed: {file: allowed.txt}}';
  if (!/^(Unexpected|Expected)/.test(reason)) return undefined;
  return WORDS.find(([other]) => other.test(withoutTexts(text)))?.[1];
}

const LONGEST_SHOWN = 200;

export function truncateText(text: string): string {
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
}
