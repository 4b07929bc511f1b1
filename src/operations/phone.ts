import type {PhoneNumber} from 'libphonenumber-js/max';
import {z} from 'zod';
import texts from '../codes.json' with {type: 'json'};
import {
  type CanonicalCell,
  type CellRules,
  chooseEntry,
  emptyCell,
  isScientific,
  judgeNormalizedCell,
  makeInvalidCell,
  type RepairCode,
  validCell,
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
  return judgeNormalizedCell(raw, rules, (text, repairs) => {
    const uri = /^(?:tel|callto|sms|whatsapp|p):(?:\/\/)?/i.exec(text)?.[0] ?? '';
    const found = uri === '' ? repairs : [...repairs, 'uri' as const];
    const region = parsePhoneCountry(country);
    const whole = text.slice(uri.length).trim();
    const parts = partsOf(whole);
    const judge = (part: string, before: readonly RepairCode[]) => judgeWritten(part, before, region, all);
    if (parts.length === 1) return judge(whole, found);
    const chosen = chooseEntry(
      parts,
      rules?.fromList,
      found,
      (part): CanonicalCell<PhoneCode> => judge(part, []),
    );
    const isTaken = chosen?.state === 'value' || (chosen?.state === 'invalid' && UNCLEAR.has(chosen.code));
    return isTaken ? chosen : makeInvalidCell('phone_list');
  });
}

function judgeWritten(
  text: string,
  repairs: readonly RepairCode[],
  country: PhoneCountry | undefined,
  habits: CellRules | undefined,
): CanonicalCell<PhoneCode> {
  if (text.length > LONGEST_NUMBER)
    return makeInvalidCell(/\d/.test(text) ? 'phone_too_long' : 'phone_malformed');
  const front = withoutExtension(text);
  const written = restorePlus(front ?? text);
  if (written === undefined) return makeInvalidCell('phone_in_text');
  const judged = judgePhone(
    written,
    front === undefined ? repairs : [...repairs, 'extension'],
    country,
    habits,
  );
  const isShort = (front ?? '').replace(/\D/g, '').length < SHORTEST_LISTED;
  if (isShort || judged.state === 'empty') return judged;
  const isWhole = judged.state === 'value';
  const isUnclear = judged.state === 'invalid' && UNCLEAR.has(judged.code);
  return isWhole || isUnclear ? judged : makeInvalidCell('phone_in_text');
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
  repairs: readonly RepairCode[],
  country: PhoneCountry | undefined,
  habits: CellRules | undefined,
): CanonicalCell<PhoneCode> {
  if (ZEROS.test(text)) return emptyCell;
  if (isScientific(text)) return makeInvalidCell('scientific_notation');
  if (isDate(text)) return makeInvalidCell('phone_date');
  const [, glue] = GLUED.exec(text) ?? [];
  if (glue !== undefined) return makeInvalidCell(glue === '/' ? 'phone_list' : 'phone_in_text');
  if (DECIMAL.test(text)) return judgeDecimal(text, repairs, country, habits);
  const number = parsePhoneNumber(text, country);
  if (number !== undefined && ZEROS.test(number.nationalNumber)) return emptyCell;
  // `isPossible` accepts a local number without its area code. The length in E.164 form shows that
  // it is incomplete.
  const whole =
    number?.isPossible() === true &&
    // If the text is in E.164 form itself, `isPossible` has already checked its length.
    (number.number === text || phoneLibrary().validatePhoneNumberLength(number.number) === undefined);
  if (whole && number.number === text) return validCell(text, repairs);
  const digits = extractBareDigits(text);
  const beside = country !== undefined && 'defaultCallingCode' in country && whole ? number : undefined;
  const coded = beside && besideItsCode(beside, digits);
  if (coded !== undefined)
    return coded === beside
      ? (planFault(text, coded, habits) ?? validCell(coded.number, repairs))
      : validCell(coded.number, [...repairs, 'plus_added']);
  const isRead = country !== undefined || (habits?.bare !== undefined && habits.bare !== 'doubt');
  const read = isRead && digits ? readBare(digits, whole ? number : undefined, habits?.bare) : undefined;
  if (read === 'unclear') return makeInvalidCell('calling_code_unclear');
  if (read) return validCell(read.number, [...repairs, 'plus_added']);
  if (!whole) return makeInvalidCell(phoneFault(text, country));
  const mayBeRange = habits?.areExtensions !== true && text.includes('-', 5);
  if (mayBeRange && endingOf(text, number.formatNational(), country) === 'range')
    return fromRange(text, repairs, country, habits?.fromList);
  const hasExtension = number.ext !== undefined || SUBADDRESS.test(text);
  return (
    planFault(text, number, habits) ??
    validCell(number.number, hasExtension ? [...repairs, 'extension'] : repairs)
  );
}

function fromRange(
  text: string,
  repairs: readonly RepairCode[],
  country: PhoneCountry | undefined,
  which: CellRules['fromList'],
): CanonicalCell<PhoneCode> {
  const number = which === 'first' || which === 'last' ? endsOfRange(text)[which] : undefined;
  return number === undefined
    ? makeInvalidCell('phone_list')
    : judgePhone(number, [...repairs, 'list_entry'], country, undefined);
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

/** A decimal number such as 30901820.5: five digits or more before the point or comma, or only zeros behind it. */
const DECIMAL = /^\+?\d+[.,]0+$|\d{5,}[.,](?:\d{1,2}|0+)$/;
/**
 * Judges 30901820.0, which a program took for a quantity. It would also have dropped a leading zero, so only digits
 * that are valid without one are accepted.
 */
function judgeDecimal(
  text: string,
  repairs: readonly RepairCode[],
  country: PhoneCountry | undefined,
  habits: CellRules | undefined,
): CanonicalCell<PhoneCode> {
  const digits = WHOLE.exec(text)?.[1];
  if (digits === undefined) return makeInvalidCell('decimal_number');
  const judged = judgePhone(digits, [...repairs, 'decimal_zero'], country, {...habits, zeroLost: true});
  if (judged.state !== 'value')
    return judged.state === 'invalid' && UNCLEAR.has(judged.code)
      ? judged
      : makeInvalidCell('decimal_number');
  return parsePhoneNumber(judged.value)?.isValid() === true ? judged : makeInvalidCell('decimal_number');
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
