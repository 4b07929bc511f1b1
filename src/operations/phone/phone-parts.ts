import {LIST_SEPARATOR} from '../cell.ts';
import type {PhoneCountry} from '../country.ts';
import words from '../words.json' with {type: 'json'};
import {parsePhoneNumber} from './phone-shape.ts';

/** Minimum digits of a number among several in a cell. Area codes and extensions are shorter. */
export const SHORTEST_LISTED = 7;

/** The numbers of a cell with several; the whole text of any other. */
export function partsOf(text: string): string[] {
  const parts = text
    .split(LISTED)
    .map(part => part.trim())
    .filter(part => part !== '');
  return parts.filter(part => part.replace(/\D/g, '').length >= SHORTEST_LISTED).length > 1 ? parts : [text];
}

const LISTED = new RegExp(`${LIST_SEPARATOR.source}|/`);

/** Maximum length of a text that is read as a number with an extension. Longer ones are notes. */
const LONGEST = 80;

/** A word for an extension or a pause, in many languages, with the digits to dial behind it: `DW 12`, `内線123`, `,,123#`. */
const EXTENSION = new RegExp(
  `^(.*\\d\\)?)[\\s,;(-]*(?:(?:${words.extensions.join('|')})[.:=]?\\s*(?:no|nr)?\\.?|(?<=\\d),,+|(?<=\\d)[,;](?=\\d+#))\\s*\\d{1,7}[#)]*$`,
  'iu',
);

/** The number before an extension; undefined for a text without one. */
export function withoutExtension(text: string): string | undefined {
  return text.length > LONGEST ? undefined : EXTENSION.exec(text)?.[1];
}

/** A number with a further group of up to three digits: `669697-40`, `030 23125011-15`. */
const ENDING = /^(.*\d)\s*[-–]\s*(\d{1,3})$/;
/** Maximum numbers of a range of lines, such as 11 to 15. */
const LONGEST_RANGE = 20;

/**
 * How a number ends. `range`: its last group replaces as many digits by a slightly larger number. `extension`: any
 * other last group behind a number that is valid without it (DIN 5008).
 */
export function endingOf(
  text: string,
  national: string | undefined,
  country: PhoneCountry | undefined,
): 'range' | 'extension' | undefined {
  const [, start = '', end = ''] = (text.length > LONGEST ? null : ENDING.exec(text)) ?? [];
  const groupsOf = (some = '') => some.match(/\d+/g)?.join(' ');
  if (start === '' || groupsOf(text) === groupsOf(national)) return undefined;
  if (parsePhoneNumber(start, country)?.isValid() !== true) return undefined;
  const replaced = Number(start.replace(/\D/g, '').slice(-end.length));
  const isRange = Number(end) > replaced && Number(end) - replaced <= LONGEST_RANGE;
  return isRange ? 'range' : 'extension';
}

/** The first and the last number of a range such as `030 23125011-15`. */
export function endsOfRange(text: string): {readonly first: string; readonly last: string} {
  const [, first = '', end = ''] = ENDING.exec(text) ?? [];
  return {first, last: first.slice(0, -end.length) + end};
}
