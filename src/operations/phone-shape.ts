import {parsePhoneNumberFromString} from 'libphonenumber-js/max';
import {phoneCountry} from './country.ts';

/** 2026-01-31, 31.01.2026, 1/31/2026. */
const DATE =
  /^(?:(?:19|20)\d\d([-/.])[01]?\d\1[0-3]?\d|[0-3]?\d([-/.])[01]?\d\2(?:19|20)\d\d|[01]?\d([-/.])[0-3]?\d\3(?:19|20)\d\d)$/;

/** True for a date of the last or this century, which libphonenumber takes for digits with punctuation. */
export function isDate(text: string): boolean {
  return DATE.test(text);
}

const PUNCTUATED = /^\+?[\d\s()./-]+$/;
/** A quantity, an IPv4 address. */
const OTHER_DIGITS = /^[+-]?\d+\.\d+$|^\d{1,3}(?:\.\d{1,3}){3}$/;
/** With area codes a number has this many digits in nearly all countries. */
const FEWEST_DIGITS = 7;
const MOST_DIGITS = 15;

/** True for what is written as phone numbers are, and as no date, quantity or address. */
export function hasPhoneShape(text: string): boolean {
  const digits = text.replace(/\D/g, '').length;
  const isLong = digits >= FEWEST_DIGITS && digits <= MOST_DIGITS;
  return isLong && PUNCTUATED.test(text) && !isDate(text) && !OTHER_DIGITS.test(text);
}

/** A leading zero before the area code, brackets around it, or three, three and four digits. */
const NATIONAL = /^\(?0[1-9][\d\s()./-]*[\s()./-][\d\s()./-]*$|^\(\d+\)|^\d{3}[\s.-]\d{3}[\s.-]\d{4}$/;

/**
 * True for what is a phone number where no header says so: a valid one of its country; without a country one that is
 * written as nothing else is. Digits alone have to be of the one length that their country's numbers have: where others
 * would do as well, as in Germany, any customer's number is a valid one.
 */
export function isLikelyPhone(given: string, country: string | undefined): boolean {
  const text = given.trim();
  if (!hasPhoneShape(text)) return false;
  const region = phoneCountry(country);
  if (region === undefined) return NATIONAL.test(text) || hasCallingCode(text);
  const isValid = (digits: string) =>
    parsePhoneNumberFromString(digits, {...region, extract: false})?.isValid() === true;
  if (!isValid(text)) return false;
  return !/^[1-9]\d*$/.test(text) || !(isValid(`${text}0`) || isValid(text.slice(0, -1)));
}

/** Digits of a number with its calling code and no plus; shorter ones are valid somewhere too often. */
const INTERNATIONAL = /^[1-9]\d{10,14}$/;

function hasCallingCode(text: string): boolean {
  return INTERNATIONAL.test(text) && parsePhoneNumberFromString(`+${text}`)?.isValid() === true;
}
