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
  readonly fromList?: ListChoice | undefined;
  /** The same for IP addresses alone; goes before `fromList`. */
  readonly ipFromList?: ListChoice | undefined;
  /** True if the numbers of the column end in extensions (`669697-40`), so that `23125011-15` is no range. */
  readonly areExtensions?: boolean | undefined;
  /** How the column's phone numbers without plus or zero in front are read. */
  readonly bare?: BareDigitsReading;
  /** True if the default country is `+`: bare digits are read with a plus, unless the row's own country says otherwise. */
  readonly isPlusDefault?: boolean | undefined;
  /** True if some of the column's phone numbers have lost their leading zero. */
  readonly zeroLost?: boolean;
}

/** Repairs that are made to a cell before it is judged. Their codes never change, as those of faults. */
export type RepairCode = keyof typeof codes.repairs;

/** A cell as read: its text without wrappings such as quotes, or the reason why it has no text. */
export type CellReading =
  | {readonly state: 'text'; readonly text: string; readonly repairs: readonly RepairCode[]}
  | typeof emptyCell
  | {readonly state: 'invalid'; readonly code: 'unreadable_characters'};

/** The usual cell: printable ASCII without wrapping. */
const PLAIN = /^[!#-&(-<>-~][ -~]*$/;
const ODD_BLANKS = /[\u00A0\u1680\u2000-\u200A\u202F\u205F\u3000]/g;
/** Invisible characters to remove: zero-width spaces, soft hyphens, direction marks, joiners at either end. */
const UNSEEN =
  /[\u00AD\u200B\u200E\u200F\u202A\u202C\u2060\u2066\u2068\u2069\uFEFF]|^\p{Join_Control}+|\p{Join_Control}+$/gu;
/**
 * A value with one of these is not what it looks like: control characters, marks that change the reading order, the
 * replacement character, and joiners inside a value.
 */
const UNREADABLE =
  /(?![\t\n\r])\p{Cc}|\p{Join_Control}|[\u202B\u202D\u202E\u2067\uFFFD\uFFFE\uFFFF]|\p{Surrogate}/u;

/** Reads a cell's text. Removes the wrappings that programs put around values, if that is unambiguous. */
export function readCell(raw: string, {empties}: CellRules = {}): CellReading {
  const trimmed = raw.trim();
  const isEmpty = (text: string) => isPlaceholder(text) || empties?.has(text.toLowerCase()) === true;
  if (isEmpty(trimmed)) return emptyCell;
  if (trimmed.length === raw.length && PLAIN.test(raw)) return {state: 'text', text: raw, repairs: []};
  const repairs: RepairCode[] = [];
  const seen = raw.replace(ODD_BLANKS, ' ').replace(UNSEEN, '');
  if (seen !== raw) repairs.push('invisible_characters');
  if (UNREADABLE.test(seen)) return makeInvalidCell('unreadable_characters');
  const text = unwrap(seen.trim(), repairs);
  return isEmpty(text) ? emptyCell : {state: 'text', text, repairs};
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

function trimPunctuation(given: string) {
  const text = given.replace(TRAILING, '');
  if (text === given) return undefined;
  const repairs: RepairCode[] = ['trailing_punctuation'];
  return {text: unwrap(text, repairs), repairs};
}

/** Texts, in lower case, that programs and people write into a cell for "no value", by language. */
const PLACEHOLDERS = new Set(words.placeholders.join('|').split('|'));

export const isPlaceholder = (text: string): boolean =>
  text.length < 20 && (meansNothing(text.toLowerCase()) || FAULTY.test(text));

/** True for a placeholder, and for an address that a program joined of them: `null@`, `undefined@undefined`. */
function meansNothing(text: string): boolean {
  const hasPart = (part: string) => part !== '' && !PLACEHOLDERS.has(part);
  return PLACEHOLDERS.has(text) || (text.includes('@') && !text.split('@').some(hasPart));
}

/** Texts that spreadsheets show in place of a value: an error (`#ERROR!`, `#N/D`), or a column that is too narrow. */
const FAULTY = /^(?:#+|#[¡¿]?[\p{L}\d/_]+[!?]|#\p{Lu}[\p{Lu}/_ ]*|[Ee]rr ?:\d{3})$/u;

/**
 * A cell's value in its canonical spelling, so that equal values are paid for once. Codes of faults never change: the
 * output's `…_error` columns have them.
 */
export type CanonicalCell<Code extends string = string> =
  | {readonly state: 'value'; readonly value: string; readonly repairs?: readonly RepairCode[]}
  | {readonly state: 'empty'}
  | {readonly state: 'invalid'; readonly code: Code}
  /** This program failed at the cell. Such a cell never ends the list. */
  | {readonly state: 'broken'; readonly thrown: unknown};

export const emptyCell = {state: 'empty'} as const;
export const makeInvalidCell = <const Code extends string>(code: Code) => ({state: 'invalid', code}) as const;

export const validCell = (value: string, repairs: readonly RepairCode[] = []) =>
  ({state: 'value', value, ...(repairs.length > 0 && {repairs})}) as const;

/** The cell with the repairs that were made before it was judged. */
export function withRepairs<Code extends string>(
  cell: CanonicalCell<Code>,
  before: readonly RepairCode[],
): CanonicalCell<Code> {
  return cell.state === 'value' ? validCell(cell.value, [...before, ...(cell.repairs ?? [])]) : cell;
}

export const isScientific = (text: string): boolean => /^[+-]?\d+([.,]\d+)?E[+-]?\d+$/i.test(text);

/** Maximum characters of a cell that is judged. Patterns would take minutes for some of the longer ones. */
const LONGEST = 10_000;

/** Removes a cell's wrapping, such as quotes. Then `judge` decides if the text is a valid value. */
export function judgeCell<Code extends string>(
  raw: string,
  rules: CellRules | undefined,
  judge: (text: string) => CanonicalCell<Code>,
): CanonicalCell<Code | keyof typeof codes.any> {
  if (raw.length > LONGEST) return makeInvalidCell('cell_too_long');
  try {
    const cell = readCell(raw, rules);
    return cell.state === 'text' ? withRepairs(judge(cell.text), cell.repairs) : cell;
  } catch (thrown) {
    return {state: 'broken', thrown};
  }
}

/** Like {@link judgeCell}, in one spelling ({@link normalizeCharacters}). If the text is invalid, judges it again without the punctuation at its end, if any. */
export function judgeNormalizedCell<Code extends string>(
  raw: string,
  rules: CellRules | undefined,
  judge: (text: string) => CanonicalCell<Code>,
): CanonicalCell<Code | keyof typeof codes.any> {
  return judgeCell(raw, rules, given => {
    const text = normalizeCharacters(given);
    const judged = judge(text);
    const entry = judged.state === 'invalid' ? trimPunctuation(text) : undefined;
    const trimmed = entry && withRepairs(judge(entry.text), entry.repairs);
    return withRepairs(trimmed?.state === 'value' ? trimmed : judged, text === given ? [] : ['folded']);
  });
}

/** Separators of several values in one cell, as programs and people write them: `a@x.com ::: b@x.com`. */
export const LIST_SEPARATOR = /\s*(?::::|[,;|\r\n]|\s\/\s)\s*/;

/** The entry of a list that a setting chooses. `only`: the entries must all be the same. */
export type ListChoice = 'first' | 'last' | 'only';

/** Judges the entries of a cell with several values. */
export function judgeEntries<Code extends string>(
  texts: readonly string[],
  judge: (text: string) => CanonicalCell<Code>,
): readonly CanonicalCell<Code>[] {
  return texts.map(text => (isPlaceholder(text) ? emptyCell : judge(text)));
}

/**
 * The chosen entry of a cell with several values; undefined without a choice. An empty one is not replaced: the next
 * would be another person's.
 */
export function chooseEntry<Code extends string>(
  entries: readonly CanonicalCell<Code>[],
  which: ListChoice | undefined,
): CanonicalCell<Code> | undefined {
  const distinct = new Set(entries.map(entry => (entry.state === 'value' ? entry.value : '')));
  const isChosen = which === 'only' ? distinct.size === 1 : which !== undefined;
  const meant = which === 'last' ? entries.at(-1) : entries[0];
  if (!isChosen || meant === undefined || meant.state === 'empty') return undefined;
  return withRepairs(meant, ['list_entry']);
}
