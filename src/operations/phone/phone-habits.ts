import {isIPv4} from 'node:net';
import {type CellRules, normalizeCharacters, readCell} from '../cell.ts';
import {parsePhoneCountry} from '../country.ts';
import {type BareNumberFacts, extractBareDigits, judgeBareDigits} from './bare-digits.ts';
import {endingOf} from './phone-parts.ts';
import {lacksZero, parsePhoneNumber} from './phone-shape.ts';

/** A whole number with `.0` behind it. It has at most 15 digits, the precision of a spreadsheet. */
export const WHOLE = /^(\+?\d{1,15})[.,]0+$/;

/** Finds out how a column writes its numbers, which a single cell does not show. */
export function phoneHabits(
  cells: readonly (readonly [text: string, country: string | undefined])[],
  isInHeader = false,
): CellRules {
  const numbers: BareNumberFacts[] = [];
  const endings = {range: 0, extension: 0};
  let zeroLost = false;
  for (const [raw, country] of cells) {
    const cell = readCell(raw);
    if (cell.state !== 'text') continue;
    const plain = normalizeCharacters(cell.text);
    const text = WHOLE.exec(plain)?.[1] ?? plain;
    const digits = extractBareDigits(text);
    if (isIPv4(text) || (digits === undefined && !/\d{3}/.test(text))) continue;
    const region = parsePhoneCountry(country);
    const number = region && parsePhoneNumber(text, region);
    const national = number?.isPossible() === true ? number : undefined;
    const ending = endingOf(text, undefined, region);
    if (ending !== undefined) endings[ending] += 1;
    if (!text.startsWith('+')) numbers.push({digits, national});
    if (digits !== undefined && national?.isValid() === false && lacksZero(national)) zeroLost = true;
  }
  const bare = numbers.some(({digits}) => digits !== undefined)
    ? judgeBareDigits(numbers, isInHeader)
    : undefined;
  const areExtensions = endings.extension >= endings.range && endings.extension > 0;
  return {...(bare && {bare}), ...(zeroLost && {zeroLost}), ...(areExtensions && {areExtensions})};
}
