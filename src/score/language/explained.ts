import {LIST, withoutTexts} from './engine.ts';

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

const FUNCTIONS: Readonly<Record<string, string>> = {
  lower: 'a.lowerAscii()',
  tolower: 'a.lowerAscii()',
  tolowercase: 'a.lowerAscii()',
  lowercase: 'a.lowerAscii()',
  upper: 'a.upperAscii()',
  toupper: 'a.upperAscii()',
  touppercase: 'a.upperAscii()',
  uppercase: 'a.upperAscii()',
  strip: 'a.trim()',
  len: 'size(a)',
  length: 'size(a)',
  count: 'size(a)',
  includes: 'a.contains("b")',
  contains: 'a.contains("b")',
  startswith: 'a.startsWith("b")',
  endswith: 'a.endsWith("b")',
  starts_with: 'a.startsWith("b")',
  ends_with: 'a.endsWith("b")',
  regex: 'a.matches("^b.*c$")',
  matches: 'a.matches("^b.*c$")',
  match: 'a.matches("^b.*c$")',
  like: 'a.contains("b")',
  number: 'double(a)',
  float: 'double(a)',
  date: 'timestamp("2026-01-31T00:00:00Z")',
  any: 'a.exists(x, x == "b")',
};

/** Names of the parser's tokens, for users. */
const TOKENS: Readonly<Record<string, string>> = {
  NUMBER: 'a number',
  STRING: 'a text in quotes',
  BOOLEAN: 'true or false',
  NULL: 'null',
  IDENTIFIER: 'a name',
  PLUS: '"+"',
  MINUS: '"-"',
  MULTIPLY: '"*"',
  DIVIDE: '"/"',
  MODULO: '"%"',
  EQ: '"=="',
  NE: '"!="',
  LT: '"<"',
  LE: '"<="',
  GT: '">"',
  GE: '">="',
  AND: '"&&"',
  OR: '"||"',
  NOT: '"!"',
  IN: '"in"',
  LPAREN: '"("',
  RPAREN: '")"',
  LBRACKET: '"["',
  RBRACKET: '"]"',
  LBRACE: '"{"',
  RBRACE: '"}"',
  DOT: '"."',
  COMMA: '","',
  COLON: '":"',
  QUESTION: '"?"',
  BYTES: 'bytes',
};
const TOKEN = Object.keys(TOKENS).join('|');

/** The parser's messages about tokens, each with the sentence that users get. */
const SENTENCES: readonly (readonly [said: RegExp, meant: (...tokens: string[]) => string])[] = [
  [/^Unexpected token: EOF$/, () => 'the expression ends too early'],
  [new RegExp(`^Unexpected token: (${TOKEN})$`), at => `${TOKENS[at]} can't stand where it is`],
  [
    new RegExp(`^Expected (${TOKEN}), got EOF$`),
    expected => `the expression ends where ${TOKENS[expected]} must follow`,
  ],
  [/^Expected EOF, got (\w+)$/, at => `the expression should end before ${TOKENS[at]}`],
  [
    new RegExp(`^Expected (${TOKEN}), got (${TOKEN})$`),
    (expected, at) => `${TOKENS[expected]} must stand where ${TOKENS[at]} is`,
  ],
];

/** Rewords the library's message on an expression for people who do not know the language. */
export function explained(reason: string, text: string): string {
  const named = reason.replaceAll(`${LIST}.`, 'list.');
  const said = inWords(named);
  const hint = hintFor(named, text);
  return hint === undefined ? said : `${said} (${hint})`;
}

function inWords(reason: string): string {
  for (const [said, meant] of SENTENCES) {
    const tokens = said.exec(reason);
    if (tokens !== null) return meant(...tokens.slice(1));
  }
  return reason;
}

function hintFor(reason: string, text: string): string | undefined {
  const name = /^found no matching overload for '(?:.*\.)?(\w+)\(/.exec(reason)?.[1];
  const near = FUNCTIONS[name?.toLowerCase() ?? ''];
  if (near !== undefined) return `it is written ${near}`;
  if (reason.startsWith('no such overload:')) return 'a double is a number, a bool true or false';
  if (/list ?elements/i.test(reason))
    return 'put a longer list into a file: lists: {allowed: {file: allowed.txt}}';
  if (!/^(Unexpected|Expected)/.test(reason)) return undefined;
  return WORDS.find(([other]) => other.test(withoutTexts(text)))?.[1];
}

const LONGEST_SHOWN = 200;

export function shown(text: string): string {
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
}
