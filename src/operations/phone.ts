import {
  type CountryCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
  validatePhoneNumberLength,
} from 'libphonenumber-js/min';
import {z} from 'zod';
import {
  type Canonical,
  empty,
  invalid,
  isPlaceholder,
  spreadsheetCodes,
  spreadsheetFault,
  valid,
} from './canonical.ts';
import {fields, flag, intelligence, text} from './operation.ts';

const codes = {
  ...spreadsheetCodes,
  phone_malformed: 'No phone number: no digits, or words among them.',
  phone_too_short: 'Too short for any number, or without its area code.',
  phone_too_long: 'Too long for any number.',
  phone_list: 'Several numbers in one cell.',
  country_unknown: 'In national form, and nothing says of which country.',
} as const;

type Code = keyof typeof codes;

const data = fields({
  is_valid: flag.describe('Whether it is a number that can be assigned.'),
  is_disposable: flag.describe('Whether it is of a service that anybody can read messages at.'),
  is_virtual: flag.describe('Whether it is a number without a line of its own.'),
  is_threat: flag.describe('Whether the service knows it as a threat.'),
  is_spam: flag.describe('Whether it is known for spam.'),
  e164_format: text.describe('The number in E.164 form.'),
  country_code: text.describe('Its country calling code.'),
  country: text.describe('Its country, as a code.'),
  country_name: text.describe("Its country's name."),
  number_type: text.describe('What kind of number it is.'),
  line_type: text.describe('What kind of line it is on.'),
  carrier: text.describe('Who carries it.'),
  carrier_type: text.describe('What kind of carrier that is.'),
  validation_error: text.describe('What is wrong with a number that is not valid.'),
  risk_score: z.number().describe("The service's score of its risk; the interface does not show its range."),
});

export const phone = intelligence('phone', {
  summary: 'Validate and enrich a phone number.',
  value: z.string().min(1).describe('The phone number to validate.'),
  data,
  singular: 'phone number',
  plural: 'phone numbers',
  title: 'Phone numbers',
  about: 'Column of phone numbers.',
  prefix: 'phone_',
  storedFor: '90d',
  cost: 1,
  codes,
  canonical: canonicalPhone,
  header: {
    named:
      'phone|phonenumber|telephone|tel|telefon[eo]?|telefoon|mobile?|mobiel|handy|cell|cellphone|celular|cellulare|movil' +
      '|telemovel|msisdn|rufnummer|(?:telefon|telefoon|handy|mobil|mobilfunk)(?:nummer|nr)',
    detail: 'no|nr|num|number|nummer|numero|e164',
  },
  // Any long number can be a phone number: without a header only the international form speaks for one.
  isTelling: given => given.trim().startsWith('+'),
  top: [['phone_countries', ['country']]],
  rules: [
    {when: 'phone.is_threat', add: 45, reason: 'phone_threat'},
    {when: 'phone.is_disposable', add: 45, reason: 'phone_disposable'},
    {when: '!phone.is_valid', add: 30, reason: 'phone_not_valid'},
    {when: 'phone.is_spam', add: 30, reason: 'phone_spam'},
    {when: 'phone.is_virtual', add: 15, reason: 'phone_virtual'},
    {when: 'status.phone == "invalid"', add: 20, reason: 'phone_invalid'},
  ],
});

/**
 * A phone number in E.164 form, extension dropped. Invalid only where no number can look like that (length); whether it
 * is assigned is what the service is asked. `country` is where a number in national form belongs.
 */
export function canonicalPhone(raw: string, country?: string): Canonical<Code> {
  const given = raw.trim().replace(/^tel:/i, '');
  if (isPlaceholder(given)) return empty;
  const fault = spreadsheetFault(given);
  if (fault !== undefined) return invalid(fault);
  const code = country?.trim().toUpperCase() ?? '';
  const options = isSupportedCountry(code) ? {defaultCountry: code, extract: false} : {extract: false};
  if (listsPhones(given)) return invalid('phone_list');
  const number = parsePhoneNumberFromString(given, options);
  // A local number without its area code is possible in its country, but is no whole number.
  const whole = number?.isPossible() === true && validatePhoneNumberLength(number.number) === undefined;
  return whole ? valid(number.number) : invalid(phoneFault(given, options));
}

function phoneFault(given: string, options: {defaultCountry?: CountryCode; extract: boolean}): Code {
  if (!/\d/.test(given) || /[a-z@]{3,}/i.test(given.replace(/ext\w*/i, ''))) return 'phone_malformed';
  if (options.defaultCountry === undefined && !given.startsWith('+')) return 'country_unknown';
  switch (validatePhoneNumberLength(given, options)) {
    case 'TOO_SHORT':
    case undefined:
      return 'phone_too_short';
    case 'TOO_LONG':
      return 'phone_too_long';
    default:
      return 'phone_malformed';
  }
}

/** Digits from which on a part of a cell is a phone number of its own, and no area code or extension. */
const SHORTEST_LISTED = 7;

function listsPhones(given: string): boolean {
  const parts = given.split(/[,;/|]+/);
  return parts.filter(part => part.replace(/\D/g, '').length >= SHORTEST_LISTED).length > 1;
}
