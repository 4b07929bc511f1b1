import type {PhoneNumber} from 'libphonenumber-js/max';
import {z} from 'zod';
import texts from '../codes.json' with {type: 'json'};
import {
  type CanonicalCell,
  type CellRules,
  chooseEntry,
  emptyCell,
  isScientific,
  judgeEntries,
  judgeNormalizedCell,
  makeInvalidCell,
  validCell,
  withRepairs,
} from './cell.ts';
import {isInternationalCountry, type PhoneCountry, parsePhoneCountry, phoneLibrary} from './country.ts';
import {answerSchema, defineIntelligence, flag, text} from './operation.ts';
import {besideItsCode, extractBareDigits, phoneHabits, readBare, WHOLE} from './phone/bare-digits.ts';
import {endingOf, endsOfRange, partsOf, SHORTEST_LISTED, withoutExtension} from './phone/phone-parts.ts';
import {
  isDate,
  isInNumberingPlan,
  isLikelyPhone,
  lacksZero,
  parsePhoneNumber,
  parseValidPhone,
  restorePlus,
} from './phone/phone-shape.ts';

const codes = {...texts.any, ...texts.digits, ...texts.phone};

/** Maximum length of one number, with its punctuation, as libphonenumber has it. */
const LONGEST_NUMBER = 250;

type PhoneCode = keyof typeof codes;

const data = answerSchema({
  is_valid: flag.describe('True if the number can be assigned to a line.'),
  is_disposable: flag.describe('True if it belongs to a public inbox that anybody can read.'),
  is_virtual: flag.describe('True if it has no line of its own, as with VoIP.'),
  is_threat: flag.describe('True if the service calls it a threat.'),
  is_spam: flag.describe('True if it is known for spam.'),
  e164_format: text.describe('The number in E.164 form.'),
  country_code: text.describe('Country calling code.'),
  country: text.describe('Country of the number.'),
  country_name: text.describe('Name of the country.'),
  number_type: text.describe('Kind of number, such as mobile.'),
  line_type: text.describe('Kind of line, such as landline.'),
  carrier: text.describe('Carrier.'),
  carrier_type: text.describe('Kind of carrier, such as mobile.'),
  validation_error: text.describe('Why the number is not valid.'),
  risk_score: z.number().describe('Risk score of the service; range not shown.'),
});

export const phone = defineIntelligence('phone', {
  summary: 'Validate and enrich a phone number.',
  value: z.string().min(1).describe('The phone number to validate.'),
  data,
  singular: 'phone number',
  plural: 'phone numbers',
  title: 'Phone numbers',
  label: 'phone',
  isDetected: true,
  about: 'Column of phone numbers.',
  prefix: 'phone_',
  storedFor: '90d',
  cost: 1,
  codes,
  personFaults: ['phone_malformed', 'phone_too_short', 'phone_too_long', 'phone_out_of_plan'],
  canonical: canonicalPhone,
  habits: phoneHabits,
  // Any long number may be a phone number. Without a header, only a plus proves it.
  isTelling: given =>
    /^\s*['"“”„«»‘’‚‹›]?(?:[a-z]+:)?\s*(?:[+＋]|\(?00)/i.test(given.slice(0, LONGEST_NUMBER)),
  isLikely: isLikelyPhone,
  echoes: [{path: ['e164_format'], param: 'phone', as: 'digits'}],
  top: [['phone_countries', ['country']]],
  rules: [
    {when: 'phone.is_threat', add: 45, reason: 'phone_threat'},
    {when: 'phone.is_disposable', add: 45, reason: 'phone_disposable'},
    {when: '!phone.is_valid', add: 30, reason: 'phone_not_valid'},
    {when: 'phone.is_spam', add: 30, reason: 'phone_spam'},
    {when: 'phone.is_virtual', add: 15, reason: 'phone_virtual'},
    {
      when: 'error.phone in ["phone_malformed", "phone_too_short", "phone_too_long", "phone_out_of_plan"]',
      add: 20,
      reason: 'phone_invalid',
    },
  ],
});

/**
 * A phone number in E.164 form, without its extension. `country`: for national form. A number with a plus is invalid
 * only if no number can have its length: the service finds out if it is assigned.
 */
export function canonicalPhone(raw: string, country?: string, rules?: CellRules): CanonicalCell<PhoneCode> {
  const isOpen = rules?.isPlusDefault === true && rules.bare !== 'international';
  const bare = isInternationalCountry(country) ? 'international' : isOpen ? 'foreign' : rules?.bare;
  const all = {...rules, bare};
  return judgeNormalizedCell(raw, rules, text => {
    const uri = /^(?:tel|callto|sms|whatsapp|p):(?:\/\/)?/i.exec(text)?.[0] ?? '';
    const region = parsePhoneCountry(country);
    const whole = text.slice(uri.length).trim();
    const parts = partsOf(whole);
    const judge = (part: string) => judgeWritten(part, region, all);
    const isOne = parts.length === 1;
    const chosen = isOne ? judge(whole) : chooseEntry(judgeEntries(parts, judge), rules?.fromList);
    const found =
      chosen !== undefined && (isOne || mayBeRight(chosen)) ? chosen : makeInvalidCell('phone_list');
    return withRepairs(found, uri === '' ? [] : ['uri']);
  });
}

function judgeWritten(
  text: string,
  country: PhoneCountry | undefined,
  habits: CellRules | undefined,
): CanonicalCell<PhoneCode> {
  if (text.length > LONGEST_NUMBER)
    return makeInvalidCell(/\d/.test(text) ? 'phone_too_long' : 'phone_malformed');
  const front = withoutExtension(text);
  const written = restorePlus(front ?? text);
  if (written === undefined) return makeInvalidCell('phone_in_text');
  const judged = withRepairs(judgePhone(written, country, habits), front === undefined ? [] : ['extension']);
  const isShort = (front ?? '').replace(/\D/g, '').length < SHORTEST_LISTED;
  if (isShort || judged.state === 'empty') return judged;
  return mayBeRight(judged) ? judged : makeInvalidCell('phone_in_text');
}

/** A text's number in E.164 form. If the text may have lost a plus, adds it. Undefined for an invalid number. */
export function validPhone(text: string, country: string | undefined): string | undefined {
  const plain = canonicalPhone(text, country);
  const isUnclear = plain.state === 'invalid' && plain.code === 'calling_code_unclear';
  const judged = isUnclear ? canonicalPhone(text, country, {bare: 'international'}) : plain;
  return judged.state === 'value' && parseValidPhone(judged.value) ? judged.value : undefined;
}

/** Zeros only, which people type into a form instead of a number. */
const ZEROS = /^(?:[+\p{P}\p{Z}]*0)+[\p{P}\p{Z}]*$/u;

function judgePhone(
  text: string,
  country: PhoneCountry | undefined,
  habits: CellRules | undefined,
): CanonicalCell<PhoneCode> {
  if (ZEROS.test(text)) return emptyCell;
  if (isScientific(text)) return makeInvalidCell('scientific_notation');
  if (isDate(text)) return makeInvalidCell('phone_date');
  const [, glue] = GLUED.exec(text) ?? [];
  if (glue !== undefined) return makeInvalidCell(glue === '/' ? 'phone_list' : 'phone_in_text');
  if (DECIMAL.test(text)) return judgeDecimal(text, country, habits);
  const number = parsePhoneNumber(text, country);
  if (number !== undefined && ZEROS.test(number.nationalNumber)) return emptyCell;
  // `isPossible` accepts a local number without its area code. The length in E.164 form shows that
  // it is incomplete.
  const whole =
    number?.isPossible() === true &&
    // If the text is in E.164 form itself, `isPossible` has already checked its length.
    (number.number === text || phoneLibrary().validatePhoneNumberLength(number.number) === undefined);
  if (whole && number.number === text) return validCell(text);
  const digits = extractBareDigits(text);
  const beside = country !== undefined && 'defaultCallingCode' in country && whole ? number : undefined;
  const coded = beside && besideItsCode(beside, digits);
  if (coded !== undefined)
    return coded === beside
      ? (planFault(text, coded, habits) ?? validCell(coded.number))
      : validCell(coded.number, ['plus_added']);
  const isRead = country !== undefined || (habits?.bare !== undefined && habits.bare !== 'doubt');
  const read = isRead && digits ? readBare(digits, whole ? number : undefined, habits?.bare) : undefined;
  if (read === 'unclear') return makeInvalidCell('calling_code_unclear');
  if (read) return validCell(read.number, ['plus_added']);
  if (!whole) return makeInvalidCell(phoneFault(text, country));
  const mayBeRange = habits?.areExtensions !== true && text.includes('-', 5);
  if (mayBeRange && endingOf(text, number.formatNational(), country) === 'range')
    return fromRange(text, country, habits?.fromList);
  const hasExtension = number.ext !== undefined || SUBADDRESS.test(text);
  return planFault(text, number, habits) ?? validCell(number.number, hasExtension ? ['extension'] : []);
}

function fromRange(
  text: string,
  country: PhoneCountry | undefined,
  which: CellRules['fromList'],
): CanonicalCell<PhoneCode> {
  const number = which === 'first' || which === 'last' ? endsOfRange(text)[which] : undefined;
  return number === undefined
    ? makeInvalidCell('phone_list')
    : withRepairs(judgePhone(number, country, undefined), ['list_entry']);
}

/** A subaddress (RFC 3966), which counts as an extension. libphonenumber drops it, without setting `ext`. */
const SUBADDRESS = /;isub=/i;

/**
 * The fault of a number without plus that is not valid in its country, or may have lost its leading zero. The service
 * judges the others.
 */
function planFault(
  text: string,
  number: PhoneNumber,
  habits: CellRules | undefined,
): CanonicalCell<PhoneCode> | undefined {
  if (text.startsWith('+')) return undefined;
  const isValid = isInNumberingPlan(number);
  if (isValid && habits?.zeroLost !== true) return undefined;
  if (lacksZero(number)) return makeInvalidCell('leading_zero_lost');
  return isValid ? undefined : makeInvalidCell('phone_out_of_plan');
}

/** Faults of digits that may be right: only their country or calling code is unclear. */
const UNCLEAR: ReadonlySet<PhoneCode> = new Set(['country_unknown', 'calling_code_unclear']);
const mayBeRight = (cell: CanonicalCell<PhoneCode>) =>
  cell.state === 'value' || (cell.state === 'invalid' && UNCLEAR.has(cell.code));

/** A decimal number such as 30901820.5: five digits or more before the point or comma, or only zeros behind it. */
const DECIMAL = /^\+?\d+[.,]0+$|\d{5,}[.,](?:\d{1,2}|0+)$/;
/**
 * Judges 30901820.0, which a program took for a quantity. It would also have dropped a leading zero, so only digits
 * that are valid without one are accepted.
 */
function judgeDecimal(
  text: string,
  country: PhoneCountry | undefined,
  habits: CellRules | undefined,
): CanonicalCell<PhoneCode> {
  const digits = WHOLE.exec(text)?.[1];
  if (digits === undefined) return makeInvalidCell('decimal_number');
  const judged = judgePhone(digits, country, {...habits, zeroLost: true});
  const isRight = judged.state !== 'value' || parsePhoneNumber(judged.value)?.isValid() === true;
  return isRight && mayBeRight(judged)
    ? withRepairs(judged, ['decimal_zero'])
    : makeInvalidCell('decimal_number');
}

/** Quotes, and punctuation outside ASCII. With one of these, a number counts as part of a text. */
const ODD = /["']|[^\P{P}\p{ASCII}]/u;

function phoneFault(text: string, country: PhoneCountry | undefined): PhoneCode {
  const holdsNumber = text.replace(/\D/g, '').length >= SHORTEST_LISTED;
  if (!/\d/.test(text) || /[a-z@]{3,}|(?![a-z])\p{L}/iu.test(text.replace(/ext\w*/i, '')))
    return holdsNumber ? 'phone_in_text' : 'phone_malformed';
  if (country === undefined && !text.startsWith('+')) return 'country_unknown';
  switch (phoneLibrary().validatePhoneNumberLength(text, country)) {
    case 'TOO_SHORT':
    case undefined:
      return 'phone_too_short';
    case 'TOO_LONG':
      return 'phone_too_long';
    default:
      return holdsNumber && ODD.test(text) ? 'phone_in_text' : 'phone_malformed';
  }
}

/** A number with a few more digits (`/12`, `(12)`): they are an extension, or the end of a second phone number. */
const GLUED = /^\D*(?:\d\D*){7,}?([/(])\s*\d{1,6}\s*\)?$/;
