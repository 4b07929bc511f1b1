import type codes from '../codes.json';
import words from './words.json' with {type: 'json'};

/**
 * How a column's bare digits (without plus, 00 or a zero in front) are read where they are valid with a plus.
 * Undefined: as a national number if they are written as their country writes national numbers, else in doubt.
 *
 * `international`: with a plus. `header`: with a plus, but in doubt if written as national numbers. `doubt`:
 * in doubt however they are written. `foreign`: with a plus, but in doubt if the row's own country makes them valid.
 */
export type BareDigitsReading = 'international' | 'header' | 'foreign' | 'doubt' | undefined;

/** How to read a cell: settings for the whole list, and how its column usually writes values (habits). */
export interface CellRules {
  /** Texts that count as empty in this list, in lower case. */
  readonly empties?: ReadonlySet<string> | undefined;
  /** The value to use if a cell has several. `only`: the cell is invalid unless all of them are the same. */
  readonly fromList?: 'first' | 'last' | 'only' | undefined;
  /** The same for IP addresses alone; goes before `fromList`. */
  readonly ipFromList?: 'first' | 'last' | 'only' | undefined;
  /** True if the numbers of the column end in extensions (`669697-40`), so that `23125011-15` is no range. */
  readonly areExtensions?: boolean | undefined;
  /** How the column's phone numbers without plus or zero in front are read. */
  readonly bare?: BareDigitsReading;
  /** True if the default country is `+`: bare digits are read with a plus, unless the row's own country says otherwise. */
  readonly isPlusDefault?: boolean | undefined;
  /** True if some of the column's phone numbers have lost their leading zero. */
  readonly zeroLost?: boolean;
}

/** Repairs that are made to a cell before it is judged. Like the codes of faults, their codes never change. */
export type RepairCode = keyof typeof codes.repairs;

/** A cell as read: its text without wrappings such as quotes, or the reason why it has no text. */
export type CellReading =
  | {readonly state: 'text'; readonly text: string; readonly repairs: readonly RepairCode[]}
  | {readonly state: 'empty'}
  | {readonly state: 'unreadable'};

/** The usual cell: printable ASCII without wrapping. */
const PLAIN = /^[!#-&(-<>-~][ -~]*$/;
const ODD_BLANKS = /[\u00A0\u1680\u2000-\u200A\u202F\u205F\u3000]/g;
/**
 * Invisible characters to remove: zero-width spaces, soft hyphens, harmless direction marks, and joiners at
 * the start or end of the text.
 */
const UNSEEN =
  /[\u00AD\u200B\u200E\u200F\u202A\u202C\u2060\u2066\u2068\u2069\uFEFF]|^\p{Join_Control}+|\p{Join_Control}+$/gu;
/**
 * Control characters, marks that change the reading order, the replacement character, and joiners inside a
 * value (two different addresses would look the same). A value with one of these is not what it looks like, so
 * it is a fault.
 */
const UNREADABLE =
  /(?![\t\n\r])\p{Cc}|\p{Join_Control}|[\u202B\u202D\u202E\u2067\uFFFD\uFFFE\uFFFF]|\p{Surrogate}/u;

/** Reads a cell's text. Removes the wrappings that programs put around values, if that is unambiguous. */
export function readCell(raw: string, {empties}: CellRules = {}): CellReading {
  const trimmed = raw.trim();
  const isEmpty = (text: string) => isPlaceholder(text) || empties?.has(text.toLowerCase()) === true;
  if (isEmpty(trimmed)) return {state: 'empty'};
  if (trimmed.length === raw.length && PLAIN.test(raw)) return {state: 'text', text: raw, repairs: []};
  const repairs: RepairCode[] = [];
  const seen = raw.replace(ODD_BLANKS, ' ').replace(UNSEEN, '');
  if (seen !== raw) repairs.push('invisible_characters');
  if (UNREADABLE.test(seen)) return {state: 'unreadable'};
  const text = unwrap(seen.trim(), repairs);
  return isEmpty(text) ? {state: 'empty'} : {state: 'text', text, repairs};
}

const wrappings: readonly (readonly [RepairCode, RegExp])[] = [
  ['formula_text', /^="([^"]*)"$/],
  ['quoted', /^["“”„‟«»]([^"“”„‟«»]*)["“”„‟«»]$/],
  ['quoted', /^['‘’‚‛‹›]([^'‘’‚‛‹›]*)['‘’‚‛‹›]$/],
  ['leading_apostrophe', /^'([^']*)$/],
];

/** Removes wrappings one by one, since they may be nested. Each pass removes characters, so the recursion ends. */
function unwrap(given: string, repairs: RepairCode[]): string {
  for (const [code, wrapping] of wrappings) {
    const inner = wrapping.exec(given)?.[1];
    if (inner === undefined) continue;
    repairs.push(code);
    return unwrap(inner.trim(), repairs);
  }
  return given;
}

const isDigit = (code: number) => /\p{Nd}/u.test(String.fromCodePoint(code));

/** The value of a digit of any script: the digits of a script follow one another. */
function digitOf(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let zero = code;
  while (isDigit(zero - 1)) zero -= 1;
  return String((code - zero) % 10);
}

/** The offset of full-width ASCII (`！` to `～`). */
const FULL_WIDTH = 0xfee0;

/** A text in one spelling: composed letters (NFC), and ASCII for digits, full-width characters and dots. */
export function normalizeCharacters(text: string): string {
  if (/^[ -~]*$/.test(text)) return text;
  return text
    .normalize('NFC')
    .replace(/[！-～]/g, wide => String.fromCharCode(wide.charCodeAt(0) - FULL_WIDTH))
    .replace(/[。｡]/g, '.')
    .replace(/(?![0-9])\p{Nd}/gu, digitOf);
}

const TRAILING = /[\s,;.،؛、。，；]{1,8}$/;

/** A cell's text without its trailing punctuation; undefined if it has none. */
export function trimPunctuation(given: string, before: readonly RepairCode[]) {
  const text = given.replace(TRAILING, '');
  if (text === given) return undefined;
  const repairs: RepairCode[] = [...before, 'trailing_punctuation'];
  return {text: unwrap(text, repairs), repairs};
}

/** Texts, in lower case, that programs and people write into a cell for "no value", by language. */
const PLACEHOLDERS = new Set(words.placeholders.join('|').split('|'));

export const isPlaceholder = (text: string): boolean =>
  text.length < 20 && (PLACEHOLDERS.has(text.toLowerCase()) || FAULTY.test(text));

/** Texts that spreadsheets show in place of a value: an error (`#ERROR!`, `Err:502`), or a column that is too narrow. */
const FAULTY = /^(?:#{3,}|#[\p{L}\d/_]+[!?]|err:\d{3})$/iu;
