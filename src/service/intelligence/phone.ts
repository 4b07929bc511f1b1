import type {NumberType, PhoneNumber} from 'libphonenumber-js/max';
import {phoneLibrary} from '../../operations/country.ts';
import {canonicalPhone} from '../../operations/phone.ts';
import type {PhoneData} from '../../operations/table.ts';
import type {OpenData} from '../data/open-data.ts';

/**
 * libphonenumber's types, with our coarser line type for each. `risk` is on our own scale from 0 (none) to 100: how
 * unusual such a number is for a signup.
 */
const types: Record<NonNullable<NumberType>, {line: string; risk: number}> = {
  MOBILE: {line: 'mobile', risk: 10},
  FIXED_LINE_OR_MOBILE: {line: 'landline_or_mobile', risk: 15},
  FIXED_LINE: {line: 'landline', risk: 20},
  UAN: {line: 'company', risk: 40},
  TOLL_FREE: {line: 'toll_free', risk: 50},
  SHARED_COST: {line: 'shared_cost', risk: 50},
  PAGER: {line: 'pager', risk: 50},
  VOICEMAIL: {line: 'voicemail', risk: 50},
  PERSONAL_NUMBER: {line: 'voip', risk: 60},
  VOIP: {line: 'voip', risk: 60},
  PREMIUM_RATE: {line: 'premium', risk: 70},
};

/** The risk of a valid number whose type the numbering plan does not show. */
const UNKNOWN_TYPE_RISK = 30;

/** Risk of a number on the list of public SMS inboxes: everyone can read its messages. */
const DISPOSABLE_RISK = 95;

const INVALID_RISK = 100;

/** Leaves out fields that no open data answers. */
export function phoneIntelligence(data: OpenData, written: string): PhoneData {
  const phone = written.trim();
  const number = phoneLibrary().parsePhoneNumberFromString(phone, {extract: false});
  const type = number?.getType();
  if (number === undefined || !isValid(number, type)) return invalid(data, phone, number);
  const disposable = data.disposablePhones().has(number.number);
  return {
    is_valid: true,
    is_disposable: disposable,
    ...virtual(type),
    ...originOf(data, number),
    ...(type !== undefined && {number_type: type.toLowerCase(), line_type: types[type].line}),
    ...carrier(data, number, type),
    risk_score: riskScore(type, disposable),
  };
}

/** True for a valid number. A number with a type is valid, so `number.isValid` need not find the type again. */
const isValid = (number: PhoneNumber, type: NumberType): boolean => type !== undefined || number.isValid();

const riskScore = (type: NumberType, disposable: boolean): number =>
  disposable ? DISPOSABLE_RISK : type === undefined ? UNKNOWN_TYPE_RISK : types[type].risk;

function invalid(data: OpenData, phone: string, number: PhoneNumber | undefined): PhoneData {
  return {
    is_valid: false,
    ...(number !== undefined && originOf(data, number)),
    validation_error: validationError(phone, number),
    risk_score: INVALID_RISK,
  };
}

/** The reason why a phone number is invalid: the code that a cell with it has, such as `too_short`. */
function validationError(phone: string, number: PhoneNumber | undefined): string {
  if (number?.isPossible()) return 'not_allocated';
  const judged = canonicalPhone(phone);
  return judged.state === 'invalid' ? judged.code.replace(/^phone_/, '') : 'malformed';
}

function originOf(data: OpenData, number: PhoneNumber): PhoneData {
  const {country} = number;
  const name = country === undefined ? undefined : data.countryNames()[country]?.name;
  return {
    e164_format: number.number,
    country_code: number.countryCallingCode,
    ...(country !== undefined && {country}),
    ...(name !== undefined && {country_name: name}),
  };
}

/**
 * Left out if the type is unknown, and where fixed and mobile numbers share ranges (North America), as VoIP may too.
 */
function virtual(type: NumberType): PhoneData {
  if (type === undefined || type === 'FIXED_LINE_OR_MOBILE') return {};
  return {is_virtual: type === 'VOIP' || type === 'PERSONAL_NUMBER'};
}

/** The carrier of a number that is or may be mobile. Others have none: the carrier table lists mobile ranges. */
function carrier(data: OpenData, number: PhoneNumber, type: NumberType): PhoneData {
  if (type !== 'MOBILE' && type !== 'FIXED_LINE_OR_MOBILE') return {};
  const name = data.carriers().find(number.countryCallingCode, number.nationalNumber);
  return name === undefined ? {} : {carrier: name, carrier_type: 'mobile'};
}
