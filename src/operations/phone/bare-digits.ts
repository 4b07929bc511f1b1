import {isIPv4} from 'node:net';
import type {PhoneNumber} from 'libphonenumber-js/max';
import {type BareDigitsReading, type CellRules, normalizeCharacters, readCell} from '../cell.ts';
import {parsePhoneCountry} from '../country.ts';
import {endingOf} from './phone-parts.ts';
import {isInNumberingPlan, lacksZero, parsePhoneNumber, parseValidPhone} from './phone-shape.ts';

/** The digits of a text without plus or zero in front; undefined for any other text. */
export function extractBareDigits(text: string): string | undefined {
  const digits = text.replace(/\D/g, '');
  return text.startsWith('+') || !/^[1-9]/.test(digits) || /[a-z]/i.test(text) ? undefined : digits;
}

/** True for digits as their country itself writes a number: with its area code and, if usual, its trunk prefix. */
function isUsualForm(digits: string, number: PhoneNumber): boolean {
  return number.formatNational().replace(/\D/g, '') === digits;
}

/**
 * Reads bare digits. `national`: what libphonenumber reads in the row's country, if it is known. Returns the number
 * with its plus; `unclear` if both readings are possible; undefined if the digits can only be a national number.
 */
export function readBare(
  digits: string,
  national: PhoneNumber | undefined,
  reading: BareDigitsReading,
): PhoneNumber | 'unclear' | undefined {
  // The digits begin with their country's calling code, and are valid only with it.
  if (national?.number === `+${digits}` && isInNumberingPlan(national)) return undefined;
  const isUsual = national !== undefined && isInNumberingPlan(national) && isUsualForm(digits, national);
  if (isUsual && reading === undefined && !digits.startsWith(national.countryCallingCode)) return undefined;
  const whole = parseValidPhone(`+${digits}`);
  // Beside numbers with their calling codes, digits without one are national only as their country writes them.
  if (whole === undefined)
    return isUsual || reading === undefined || reading === 'doubt' ? undefined : 'unclear';
  const isOwn = national !== undefined && isInNumberingPlan(national);
  const isMeant =
    reading === 'international' || (reading === 'header' && !isUsual) || (reading === 'foreign' && !isOwn);
  return isMeant ? whole : 'unclear';
}

/** Facts about one phone number of a column, by which {@link judgeBareDigits} judges the column. */
interface BareNumberFacts {
  /** Undefined for numbers that are not bare digits. */
  readonly digits: string | undefined;
  readonly national: PhoneNumber | undefined;
}

const NEARLY_ALL = 0.9;
const MOSTLY = 0.5;
/** In most countries, national numbers have fewer digits than this. */
const LONG_NUMBER = 11;
/** Numbers that must agree, since fewer may do so by chance: with different calling codes, or with their own. */
const SEVERAL = 3;
const SEVERAL_OWN = 5;

/**
 * How a column's bare digits are read. Evidence for a plus: nearly all bare digits are valid with it, hardly any
 * number is written in national form, and either the column's header means it, or several numbers are valid only
 * with a plus and begin with different calling codes, or several begin with their own country's calling code.
 */
function judgeBareDigits(all: readonly BareNumberFacts[], isInHeader: boolean): BareDigitsReading {
  const bare = all.flatMap(({digits, national}) =>
    digits === undefined ? [] : [{digits, national, whole: parseValidPhone(`+${digits}`)}],
  );
  const whole = bare.filter(one => one.whole !== undefined);
  const isValid = (number: PhoneNumber | undefined) => number !== undefined && isInNumberingPlan(number);
  const only = whole.filter(
    ({digits, national}) =>
      digits.length >= LONG_NUMBER && !(isValid(national) && national?.number !== `+${digits}`),
  );
  const withOwnCode = whole.filter(({digits, national}) =>
    digits.startsWith(national?.countryCallingCode ?? ' '),
  );
  const foreign = only.filter(one => !withOwnCode.includes(one));
  const codes = new Set(only.map(({whole}) => whole?.countryCallingCode));
  const isNearlyAll = whole.length >= NEARLY_ALL * bare.length;
  const isAlone = bare.length >= NEARLY_ALL * all.length;
  const isShown =
    (only.length >= SEVERAL && codes.size > 1) ||
    (withOwnCode.length >= SEVERAL_OWN && withOwnCode.length >= MOSTLY * bare.length);
  if (bare.length > 0 && isNearlyAll && isAlone && (isShown || (isInHeader && foreign.length > 0)))
    return 'international';
  if (isInHeader) return whole.length > 0 && whole.length >= MOSTLY * bare.length ? 'header' : 'doubt';
  return foreign.length > 0 ? 'doubt' : undefined;
}

/**
 * The number that belongs to the calling code beside it, whatever its digits would be with a plus. If they begin with
 * that code: the mobile number that they are with it; undefined if both readings are possible.
 */
export function besideItsCode(number: PhoneNumber, digits: string | undefined): PhoneNumber | undefined {
  const isCoded = digits?.startsWith(number.countryCallingCode) === true;
  const coded = isCoded ? parseValidPhone(`+${digits}`) : undefined;
  if (coded === undefined || coded.number === number.number) return number;
  return coded.getType() === 'MOBILE' && number.getType() !== 'MOBILE' ? coded : undefined;
}

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
