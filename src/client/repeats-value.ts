import {isIPv4} from 'node:net';

/** Field names that repeat the value are counted under this name, so that no summary shows them. */
export const NAMED_BY_VALUE = '[value]';

/** Parameters that hold no personal data. Codes and names from the service may repeat their values. */
const PLAIN = new Set(['action_id']);
/** Minimum length of a spelling to look for. A shorter one may occur by chance in an error code or a name. */
const SHORTEST = 4;
/** A text repeats a value if it has this many consecutive characters of the value: services may cut values off. */
const PART = 12;
/** Number of final digits that identify a phone number without its country. */
const NATIONAL = 7;

/**
 * Returns a check that is true for a text of the service that repeats a value of the call, in any usual spelling.
 * Such a text is not a code or a name, and must not get into a summary or a log.
 */
export function repeaterOf(sent: Readonly<Record<string, string>>): (text: string) => boolean {
  const tests = Object.entries(sent).flatMap(([name, value]) =>
    PLAIN.has(name) ? [] : [repeaterOfOne(value)],
  );
  return text => {
    const said = text.toLowerCase();
    const bareSaid = bare(said);
    return tests.some(isRepeatedIn => isRepeatedIn(said, bareSaid));
  };
}

function repeaterOfOne(given: string): (said: string, bareSaid: string) => boolean {
  const value = given.toLowerCase();
  const octets = isIPv4(value) ? value.split('.').map(Number) : [];
  const forms = [bare(value), ...encoded(given), ...numbersOf(octets), national(value)].filter(
    form => form.length >= SHORTEST,
  );
  const parts = value.includes('@') ? value.split('@').filter(part => part !== '') : [];
  return (said, bareSaid) =>
    forms.some(form => bareSaid.includes(form)) ||
    hasPart(bareSaid, bare(value)) ||
    (octets.length > 0 && hasNumbers(said, octets)) ||
    parts.some(part => isWithin(words(part), words(said)) || words(said).includes(bare(part)));
}

function hasNumbers(said: string, octets: readonly number[]): boolean {
  const numbers = (said.match(/\d+/g) ?? []).map(Number);
  return isWithin(octets, numbers) || isWithin(octets.toReversed(), numbers);
}

/** The ASCII letters and digits of a text in lower case. */
function bare(text: string): string {
  return text.replace(/[^a-z0-9]/g, '');
}

function words(text: string): string[] {
  return text.split(/[^a-z0-9]+/).filter(word => word !== '');
}

function encoded(value: string): string[] {
  const bytes = Buffer.from(value);
  return [bytes.toString('base64'), bytes.toString('hex'), encodeURIComponent(value)].map(text =>
    bare(text.toLowerCase()),
  );
}

/** An IPv4 address as one number (decimal, hexadecimal), and as four numbers of three digits each. */
function numbersOf(octets: readonly number[]): string[] {
  if (octets.length === 0) return [];
  const number = octets.reduce((sum, octet) => sum * 256 + octet, 0);
  const padded = octets.map(octet => String(octet).padStart(3, '0')).join('');
  return [String(number), number.toString(16), padded];
}

function national(value: string): string {
  return /^\+\d+$/.test(value) ? value.slice(-NATIONAL) : '';
}

function hasPart(said: string, value: string): boolean {
  for (let at = 0; at + PART <= said.length; at += 1)
    if (value.includes(said.slice(at, at + PART))) return true;
  return false;
}

/** True if `list` contains the items of `some` one after the other. */
function isWithin<T>(some: readonly T[], list: readonly T[]): boolean {
  return some.length > 0 && list.some((_, from) => some.every((one, index) => one === list[from + index]));
}
