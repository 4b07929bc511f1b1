import {isIPv4, isIPv6} from 'node:net';
import {domainToASCII} from 'node:url';
import ipaddr from 'ipaddr.js';
import {
  type CountryCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
  validatePhoneNumberLength,
} from 'libphonenumber-js/min';
import {UsageError} from '../job/errors.ts';

/**
 * One spelling per value, so that it is paid for once, and a local verdict on what can't be a value at all.
 * Codes are stable: they stand in the output's `…_error` column.
 */
export type Canonical =
  | {readonly state: 'value'; readonly value: string}
  | {readonly state: 'empty'}
  | {readonly state: 'invalid'; readonly code: InvalidCode};

export const invalidCodes = [
  'leading_apostrophe',
  'scientific_notation',
  'ip_malformed',
  'ip_with_port',
  'ip_list',
  'ip_range',
  'ipv6_unsupported',
  'phone_malformed',
  'phone_too_short',
  'phone_too_long',
  'phone_list',
  'country_unknown',
  'email_malformed',
  'email_list',
  'email_display_name',
  'token_malformed',
] as const;

export type InvalidCode = (typeof invalidCodes)[number];

const empty: Canonical = {state: 'empty'};
const invalid = (code: InvalidCode): Canonical => ({state: 'invalid', code});
const valid = (value: string): Canonical => ({state: 'value', value});

/** What exports write where they have nothing. */
const PLACEHOLDER = /^(?:|-{1,3}|\(?null\)?|\\N|#?n\/?a|nan|none|nil|undefined)$/i;

/** Faults that spreadsheets leave in any column. */
function spreadsheetFault(text: string): InvalidCode | undefined {
  if (text.startsWith("'")) return 'leading_apostrophe';
  return /^[+-]?\d+([.,]\d+)?E[+-]?\d+$/i.test(text) ? 'scientific_notation' : undefined;
}

/** IPv4 in dotted-quad form; IPv4-mapped IPv6 counts as the IPv4 address in it. The service takes IPv4 only. */
export function canonicalIp(raw: string): Canonical {
  const text = raw.trim();
  if (isIPv4(text)) return valid(text);
  if (PLACEHOLDER.test(text)) return empty;
  const fault = spreadsheetFault(text);
  if (fault !== undefined) return invalid(fault);
  if (isIPv6(text)) {
    const address = ipaddr.parse(text) as ipaddr.IPv6;
    return address.isIPv4MappedAddress()
      ? valid(address.toIPv4Address().toString())
      : invalid('ipv6_unsupported');
  }
  if (/^\[?[\da-f:.]+\]?:\d{1,5}$/i.test(text) && isIPv4(text.slice(0, text.lastIndexOf(':')))) {
    return invalid('ip_with_port');
  }
  if (/^[\d.]+\/\d{1,2}$/.test(text)) return invalid('ip_range');
  const parts = text.split(/[\s,;|]+/);
  if (parts.length > 1 && parts.every(part => isIPv4(part) || isIPv6(part))) return invalid('ip_list');
  return invalid('ip_malformed');
}

/**
 * A phone number in E.164 form, extension dropped. Invalid only where no number can look like that (length); whether it
 * is assigned is what the service is asked. `country` is where a number in national form belongs.
 */
export function canonicalPhone(raw: string, country: string | undefined): Canonical {
  const text = raw.trim().replace(/^tel:/i, '');
  if (PLACEHOLDER.test(text)) return empty;
  const fault = spreadsheetFault(text);
  if (fault !== undefined) return invalid(fault);
  const code = country?.trim().toUpperCase() ?? '';
  const options = isSupportedCountry(code) ? {defaultCountry: code, extract: false} : {extract: false};
  if (listsPhones(text)) return invalid('phone_list');
  const number = parsePhoneNumberFromString(text, options);
  // A local number without its area code is possible in its country, but is no whole number.
  const whole = number?.isPossible() === true && validatePhoneNumberLength(number.number) === undefined;
  return whole ? valid(number.number) : invalid(phoneFault(text, options));
}

/**
 * Checks the code of a country that phone numbers in national form belong to.
 *
 * @throws {UsageError} that begins with `place`.
 */
export function demandCountry(code: string | undefined, place: string): void {
  if (code === undefined || isSupportedCountry(code)) return;
  const hint = code === 'UK' ? ' Did you mean "GB"?' : ' Use a two-letter code such as US or DE.';
  throw new UsageError('unknown_country', `${place}: there is no country "${code}".${hint}`);
}

function phoneFault(text: string, options: {defaultCountry?: CountryCode; extract: boolean}): InvalidCode {
  if (!/\d/.test(text) || /[a-z@]{3,}/i.test(text.replace(/ext\w*/i, ''))) return 'phone_malformed';
  if (options.defaultCountry === undefined && !text.startsWith('+')) return 'country_unknown';
  switch (validatePhoneNumberLength(text, options)) {
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

function listsPhones(text: string): boolean {
  const parts = text.split(/[,;/|]+/);
  return parts.filter(part => part.replace(/\D/g, '').length >= SHORTEST_LISTED).length > 1;
}

/** RFC 5321: at most 64 octets of local part, 254 of address. */
const MAX_LOCAL = 64;
const MAX_ADDRESS = 254;
/** RFC 5321's dot-string, and beyond ASCII RFC 6531's; or a quoted string. */
const LOCAL_PART = /^(?:[^\s@"(),:;<>[\]\\]+|"[^"\r\n]*")$/u;
/** As written, before it is put into ASCII; `domainToASCII` parses a URL's host, which takes more than a domain. */
const WRITTEN_DOMAIN = /^[^\s"#%/:<>?@[\\\]^|]+$/u;
/** Labels of letters, digits and inner hyphens; the last one is no number. */
const DOMAIN = /^(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+(?!\d+$)[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/;

/** An e-mail address with its domain lower-cased and in ASCII; the local part, whose case may matter, as it came. */
export function canonicalEmail(raw: string): Canonical {
  const text = raw.trim();
  if (PLACEHOLDER.test(text)) return empty;
  if (text.startsWith("'")) return invalid('leading_apostrophe');
  const at = text.lastIndexOf('@');
  const local = text.slice(0, at);
  if (at > 0 && LOCAL_PART.test(local)) {
    const written = text.slice(at + 1).replace(/\.$/, '');
    const domain = WRITTEN_DOMAIN.test(written) ? domainToASCII(written) : '';
    const dots =
      !local.startsWith('"') && (local.startsWith('.') || local.endsWith('.') || local.includes('..'));
    const address = `${local}@${domain}`;
    const fits = Buffer.byteLength(local) <= MAX_LOCAL && Buffer.byteLength(address) <= MAX_ADDRESS;
    return DOMAIN.test(domain) && fits && !dots ? valid(address) : invalid('email_malformed');
  }
  if (/^[^<>]*<[^<>@\s]+@[^<>\s]+>$/.test(text)) return invalid('email_display_name');
  return invalid(
    text.split(/[\s,;]+/).filter(part => /^[^@]+@[^@]+$/.test(part)).length > 1
      ? 'email_list'
      : 'email_malformed',
  );
}

/** A session token as it came, blanks trimmed; a blank inside means that the column holds something else. */
export function canonicalToken(raw: string): Canonical {
  const text = raw.trim();
  if (PLACEHOLDER.test(text)) return empty;
  return /\s/.test(text) ? invalid('token_malformed') : valid(text);
}
