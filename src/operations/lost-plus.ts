import {type PhoneNumber, parsePhoneNumberFromString} from 'libphonenumber-js/max';
import {isInPlan} from './phone-plan.ts';

/**
 * Kinds of phone numbers without a plus. A spreadsheet that reads `+491713924001` as a quantity drops the
 * plus. The digits that are left can be read in two ways in Germany: as the national number 0491 …, or, with
 * the plus back, as 0171 ….
 */
export type BareNumber =
  /** The number begins with its country's calling code and is valid only with it. */
  | 'whole'
  /** The number begins with its country's calling code, and is valid with and without it. */
  | 'unclear'
  /** The digits don't begin with their country's calling code. With a plus, they are another country's number. */
  | 'foreign'
  /** With a plus, the digits are not a valid number: they can only be a national number. */
  | 'national';

/**
 * The kind of a text without a plus, which libphonenumber reads as `number`; undefined if the text has a plus
 * or a prefix.
 */
export function bareNumber(text: string, number: PhoneNumber): BareNumber | undefined {
  const digits = digitsOf(text);
  if (text.startsWith('+')) return undefined;
  if (digits.startsWith(number.number.slice(1))) return 'whole';
  // A prefix before the national number, such as 0 or 00, shows how the number is meant.
  if (!digits.startsWith(number.nationalNumber)) return undefined;
  if (withPlus(number) === undefined) return 'national';
  return number.nationalNumber.startsWith(number.countryCallingCode) ? 'unclear' : 'foreign';
}

/** The number that the national digits form with a plus in front; undefined if that number is invalid. */
export function withPlus({nationalNumber}: PhoneNumber): PhoneNumber | undefined {
  const number = parsePhoneNumberFromString(`+${nationalNumber}`, {extract: false});
  return number !== undefined && isInPlan(number) ? number : undefined;
}

/** Facts about a number without a plus, by which {@link areWrittenWhole} judges its column. */
export interface BareEvidence {
  readonly kind: BareNumber;
  readonly digits: number;
  /** The calling code with which a `foreign` number begins. */
  readonly code: string | undefined;
}

export function evidenceOf(text: string, number: PhoneNumber): BareEvidence | undefined {
  const kind = bareNumber(text, number);
  if (kind === undefined) return undefined;
  const code = kind === 'foreign' ? withPlus(number)?.countryCallingCode : undefined;
  return {kind, digits: digitsOf(text).length, code};
}

/** A column with fewer values is not judged. `MOST` and `SOME` are shares of a column's numbers without a plus. */
const FEW_VALUES = 5;
const MOST = 0.9;
const SOME = 0.2;
/** In nearly all countries, national numbers have fewer digits than this. */
const LONG_NUMBER = 12;

/**
 * True if most of a column's numbers without a plus begin with a calling code, and not by chance. Evidence:
 * some numbers begin with their own country's code, or with different foreign codes, or all numbers are long.
 * A single foreign code proves nothing: Chinese mobile numbers look like American numbers.
 */
export function areWrittenWhole(values: number, bare: readonly BareEvidence[]): boolean {
  const count = (...kinds: BareNumber[]) => bare.filter(({kind}) => kinds.includes(kind)).length;
  const isSome = (some: number) => some > 0 && some >= SOME * bare.length;
  const codes = bare.flatMap(({code}) => code ?? []);
  const usual = Math.max(0, ...[...new Set(codes)].map(code => codes.filter(other => other === code).length));
  const isEvident =
    isSome(count('whole', 'unclear')) ||
    isSome(codes.length - usual) ||
    bare.every(({digits}) => digits >= LONG_NUMBER);
  return values >= FEW_VALUES && isEvident && count('whole', 'unclear', 'foreign') >= MOST * bare.length;
}

/** The digits of a text, in ASCII. libphonenumber reads full-width, Arabic and Persian digits too. */
function digitsOf(text: string): string {
  return text.replace(/[^\d０-９٠-٩۰-۹]/g, '').replace(/\D/g, digit => String(digit.charCodeAt(0) & 0xf));
}
