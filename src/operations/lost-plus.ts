import {type PhoneNumber, parsePhoneNumberFromString} from 'libphonenumber-js/max';

/**
 * Kinds of numbers without a plus. A spreadsheet that reads `+491713924001` as a quantity leaves `491713924001`: a valid
 * German number both as it is (0491 …) and with its plus (0171 …).
 */
export type BareNumber =
  /** It begins with its country's calling code and is valid only with it. */
  | 'whole'
  /** It begins with its country's calling code, and is valid with and without it. */
  | 'unclear'
  /** It begins like a national number, and with a plus it is a number of another country. */
  | 'foreign'
  /** It can only be national. */
  | 'national';

/**
 * The other reading of a text without a plus, beside libphonenumber's `number`; undefined if the text is not bare
 * digits.
 */
export function bareNumber(text: string, number: PhoneNumber): BareNumber | undefined {
  const digits = digitsOf(text);
  if (text.startsWith('+')) return undefined;
  if (digits.startsWith(number.number.slice(1))) return 'whole';
  // A trunk or an international prefix shows what it is.
  if (!digits.startsWith(number.nationalNumber)) return undefined;
  if (withPlus(number) === undefined) return 'national';
  return number.nationalNumber.startsWith(number.countryCallingCode) ? 'unclear' : 'foreign';
}

/** The number that the digits are with a plus in front; undefined if that is invalid. */
export function withPlus({nationalNumber}: PhoneNumber): PhoneNumber | undefined {
  const number = parsePhoneNumberFromString(`+${nationalNumber}`, {extract: false});
  return number?.isValid() === true ? number : undefined;
}

/** Minimum number of values that tell something about a column. */
const FEW_VALUES = 5;
const MOST = 0.9;
const SOME = 0.2;
/** National numbers of nearly all countries have fewer digits. */
export const LONG_NUMBER = 12;

/** True if most of a column's numbers without a plus begin with a calling code, above all the country's own. */
export function areWrittenWhole(values: number, bare: readonly BareNumber[], areLong: boolean): boolean {
  const share = (...kinds: BareNumber[]) =>
    bare.filter(kind => kinds.includes(kind)).length / Math.max(1, bare.length);
  const isOwn = share('whole', 'unclear') >= SOME;
  return values >= FEW_VALUES && (isOwn || areLong) && share('whole', 'unclear', 'foreign') >= MOST;
}

/** ASCII, full-width, Arabic and Persian digits, as libphonenumber reads them. */
function digitsOf(text: string): string {
  return text.replace(/[^\d０-９٠-٩۰-۹]/g, '').replace(/\D/g, digit => String(digit.charCodeAt(0) & 0xf));
}
