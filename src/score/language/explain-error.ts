import {LIST_ALIAS, withoutTexts} from './cel-engine.ts';

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
export function explainError({summary, message, range}: EngineError, text: string): string {
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
