import type {PhoneNumber} from 'libphonenumber-js/max';
import {type PhoneCountry, parsePhoneCountry, phoneLibrary} from '../country.ts';

/** The number that a whole text is; undefined for any other text. `country`: for numbers in national form. */
export function parsePhoneNumber(text: string, country?: PhoneCountry): PhoneNumber | undefined {
  // libphonenumber would search in vain, and takes long.
  if (!/\d/.test(text) || (country === undefined && !text.includes('+'))) return undefined;
  return phoneLibrary().parsePhoneNumberFromString(text, {...country, extract: false});
}

/** The number that a whole text with its plus is; undefined if it is not in its country's plan. */
export function parseValidPhone(text: string): PhoneNumber | undefined {
  const number = parsePhoneNumber(text);
  return number !== undefined && isInNumberingPlan(number) ? number : undefined;
}

/** Dates such as 2026-01-31, 31.01.2026 and 1/31/2026. */
const DATE =
  /^(?:(?:19|20)\d\d([-/.])[01]?\d\1[0-3]?\d|[0-3]?\d([-/.])[01]?\d\2(?:19|20)\d\d|[01]?\d([-/.])[0-3]?\d\3(?:19|20)\d\d)$/;

/** True for a date of this or the last century, which libphonenumber would read as a number. */
export const isDate = (text: string): boolean => DATE.test(text);

const PUNCTUATED = /^\+?[\d\s()./-]+$/;
/** Digits that are no phone number: quantities such as 12.5, and IPv4 addresses. */
const OTHER_DIGITS = /^[+-]?\d+\.\d+$|^\d{1,3}(?:\.\d{1,3}){3}$/;
/** Minimum digits of a phone number with its area code, in nearly all countries. */
const FEWEST_DIGITS = 7;
const MOST_DIGITS = 15;
/** Maximum length of a number with its punctuation. */
const LONGEST_SHAPE = 80;

export function hasPhoneShape(text: string): boolean {
  if (text.length > LONGEST_SHAPE) return false;
  const digits = text.replace(/\D/g, '').length;
  const isLong = digits >= FEWEST_DIGITS && digits <= MOST_DIGITS;
  return isLong && PUNCTUATED.test(text) && !isDate(text) && !OTHER_DIGITS.test(text);
}

/** A zero before the area code, the area code in brackets, or North America's groups of three, three and four. */
const NATIONAL =
  /^\(?0[1-9][\d\s()./-]*[\s()./-][\d\s()./-]*$|^(?:1[\s.-]?)?\(\d+\)|^(?:1[\s.-])?\d{3}[\s.-]\d{3}[\s.-]\d{4}$/;
const EXTENSION = /\s*(?:\bext\.?|x|#)\s*\d{1,6}$/i;

/**
 * True if a text is probably a phone number even without a header: valid in its country, or without one of an
 * unmistakable form. Bare digits count only if their country's numbers have one length; else, as in Germany, any
 * customer number would be valid.
 */
export function isLikelyPhone(given: string, country: string | undefined): boolean {
  if (given.length > LONGEST_SHAPE) return false;
  const text = given.trim().replace(EXTENSION, '');
  if (!hasPhoneShape(text)) return false;
  const region = parsePhoneCountry(country);
  if (region === undefined) return NATIONAL.test(text) || hasCallingCode(text);
  if (hasCallingCode(text, region)) return true;
  const isValid = (digits: string) => parsePhoneNumber(digits, region)?.isValid() === true;
  if (!isValid(text)) return false;
  return !/^[1-9]\d*$/.test(text) || !(isValid(`${text}0`) || isValid(text.slice(0, -1)));
}

/** A number with its calling code and no plus. Shorter texts are too often valid by chance. */
const INTERNATIONAL = /^[1-9]\d{10,14}$/;

/** True for digits that form a valid number with a plus in front. With a `region`, it must be of that region. */
function hasCallingCode(text: string, region?: PhoneCountry): boolean {
  if (!INTERNATIONAL.test(text)) return false;
  const number = parseValidPhone(`+${text}`);
  if (number === undefined) return false;
  if (region === undefined) return true;
  const callingCode =
    'defaultCountry' in region
      ? phoneLibrary().getCountryCallingCode(region.defaultCountry)
      : region.defaultCallingCode;
  return number.countryCallingCode === callingCode;
}

/** Numbers for examples and films (Ofcom's and ComReg's drama numbers, ARCEP decision 2018-0881, NANPA's 555-01xx). */
const FICTIONAL =
  /^\+(?:44(?:7700900|1632960)\d{3}|33(?:19900|26191|35301|46571|53649|63998)\d{4}|3532091\d{5}|1[2-9]\d{2}55501\d\d)$/;

/** True if the number is valid in its country, or reserved for examples: new users try example numbers first. */
export function isInNumberingPlan(number: PhoneNumber): boolean {
  return FICTIONAL.test(number.number) || number.isValid();
}

/** A plus in brackets. libphonenumber-js would ignore it and read a wrong number. */
const PLUS = /^[\s(]*[+﹢]/;

/** A trunk zero in brackets behind the calling code: `+44 (0)20`. */
const BRACKETED_ZERO = /^(\+[\d\s]{1,5}[\s-]*)\(\s*0\s*\)\s*/;
const withoutZero = (text: string) => text.replace(BRACKETED_ZERO, '$1');
/** Mexico's mobile numbers had a 1 behind the calling code until 2019. */
const MEXICAN_ONE = /^\+52[\s-]*1(?=(?:\D*\d){10}\D*$)/;

/**
 * A text with its plus. `00` is one if the number is valid with it, whatever the prefix of the row's country. A zero
 * in brackets is removed where the number is valid only without it: an Italian landline keeps it. Undefined if two
 * numbers are valid, with that zero and without it.
 */
export function restorePlus(text: string): string | undefined {
  const plus = text.replace(PLUS, '+');
  const prefixed = /^\(?00(?=[\s\d)])/.test(plus) ? plus.replace(/^\(?00[\s)]*/, '+') : plus;
  if (!prefixed.startsWith('+')) return plus;
  const written = prefixed.replace(MEXICAN_ONE, '+52 ');
  const without = withoutZero(written);
  const [kept, dropped] =
    without === written ? [] : [written, without].map(one => parseValidPhone(one)?.number);
  if (kept !== undefined && dropped !== undefined && kept !== dropped) return undefined;
  const whole = kept === undefined && dropped !== undefined ? without : written;
  if (plus.startsWith('+')) return whole;
  // Digits that libphonenumber would drop show that `00` is the beginning of another prefix, such as 0011.
  const digits = parseValidPhone(whole)?.number.slice(1);
  const isWhole = digits !== undefined && withoutZero(whole).replace(/\D/g, '').startsWith(digits);
  return isWhole ? whole : plus;
}

/** True if a zero in front makes the number valid and stays in its E.164 form, as in Italy. */
export function lacksZero({nationalNumber, countryCallingCode}: PhoneNumber): boolean {
  if (nationalNumber.startsWith('0')) return false;
  const longer = parsePhoneNumber(`+${countryCallingCode}0${nationalNumber}`);
  return longer?.nationalNumber.startsWith('0') === true && longer.isValid();
}
