import {randomUUID} from 'node:crypto';
import {JSON_NUMBER_PATTERN} from '../operations/field-types.ts';

/**
 * Keeps numbers as an answer spells them. `JSON.parse` turns 12345678901234567890, 1.10 and 1e400 into the nearest
 * double, which is written differently. So in memory such a number is a string with a mark; in JSON text it has
 * its own spelling.
 */

/** The mark before a number's spelling. Random, so that no service can send it by chance. */
const MARK = `#${randomUUID()}:`;
const STRING_OR_NUMBER = new RegExp(`"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"|${JSON_NUMBER_PATTERN}`, 'g');
const MARKED = new RegExp(`"${MARK}(${JSON_NUMBER_PATTERN})"`, 'g');
/** Matches every text with a number that a double would spell differently, and some others. */
const SUSPECT = /[\d.]{16}|\d[eE]|\.\d*0(?!\d)|-0|\.0{6}/;
/** The same where JSON text may have a number, and not within its texts, as in a postal code. It takes longer. */
const SUSPECT_NUMBER = /(?:^|[:,[\s])-?(?:(?<=-)0|[\d.]{16}|\d+(?:\.\d+)?[eE]|\d+\.(?:\d*0(?!\d)|0{6}))/;

/**
 * Returns JSON text with marks on the numbers that would lose their spelling; `json` itself without such a number.
 */
export function markNumbers(json: string): string {
  if (!SUSPECT.test(json) || !SUSPECT_NUMBER.test(json)) return json;
  return json.replace(STRING_OR_NUMBER, token =>
    token.startsWith('"') || String(Number(token)) === token ? token : JSON.stringify(markNumber(token)),
  );
}

export function markNumber(spelled: string): string {
  return `${MARK}${spelled}`;
}

/** Returns JSON text without marks: each marked number as the answer spelled it. */
export function unmarkNumbers(json: string): string {
  return json.includes(MARK) ? json.replace(MARKED, '$1') : json;
}

/** The spelling of a marked number; undefined for anything else. */
export function markedNumber(value: unknown): string | undefined {
  return typeof value === 'string' && value.startsWith(MARK) ? value.slice(MARK.length) : undefined;
}
