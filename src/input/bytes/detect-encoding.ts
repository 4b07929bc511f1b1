import {isUtf8} from 'node:buffer';
import {guessByLetters, likelyUncased} from './alphabets.ts';
import type {Encoding, EncodingName, InputEncoding} from './transcode.ts';
import {likelyWide} from './wide-letters.ts';

/** An encoding, and how certain it is. */
export interface FoundEncoding extends Encoding {
  /**
   * Set if the text is not UTF-8. `sure`: `name` was guessed by the letters. `unsure`: UTF-8 is used anyway. `mixed`:
   * some lines are UTF-8, so that no other encoding fits all.
   */
  readonly guess?: 'sure' | 'unsure' | 'mixed';
  /** A likely encoding that is not certain enough to use. */
  readonly perhaps?: EncodingName | undefined;
  /** Several encodings that are about as likely. */
  readonly among?: readonly EncodingName[];
  /** True if letters outside ASCII show that the text is UTF-8. */
  readonly isShown?: boolean;
}

/**
 * The encoding that the setting names. For `auto`, decides by the first bytes: a byte order mark, else UTF-8, else
 * a guess by the letters.
 */
export function detectEncoding(head: Buffer, setting: InputEncoding): FoundEncoding {
  const marked = byteOrderMark(head);
  if (setting !== 'auto') return marked?.name === setting ? marked : {name: setting, bomBytes: 0};
  if (marked !== undefined) return marked;
  if (!isUtf8(wholeCharacters(head))) return guessEncoding(head);
  const isShown = wholeCharacters(head).some(byte => byte > 0x7f);
  return {name: 'utf-8', bomBytes: 0, ...(isShown && {isShown})};
}

/** UTF-32's byte order mark. In UTF-16 it would be a byte order mark and a NUL, but no list begins with a NUL. */
const UTF_32LE = Buffer.from('fffe0000', 'hex');

function byteOrderMark(head: Buffer): Encoding | undefined {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return {name: 'utf-8', bomBytes: 3};
  if (head.subarray(0, 4).equals(UTF_32LE)) return {name: 'utf-32le', bomBytes: 4};
  if (head[0] === 0xff && head[1] === 0xfe) return {name: 'utf-16le', bomBytes: 2};
  if (head[0] === 0xfe && head[1] === 0xff) return {name: 'utf-16be', bomBytes: 2};
  return undefined;
}

/** Leaves out the last character if it is outside ASCII, since the end of the sample may divide it. */
function wholeCharacters(head: Buffer): Buffer {
  let end = head.length;
  while (end > 0 && end > head.length - 4 && ((head[end - 1] ?? 0) & 0xc0) === 0x80) end -= 1;
  return end > 0 && (head[end - 1] ?? 0) >= 0xc0 ? head.subarray(0, end - 1) : head;
}

/** Minimum number of words with bytes outside ASCII for a sure guess. Fewer such words may be damaged ASCII. */
const FEW_WORDS = 3;

/** Guesses only by words with bytes outside ASCII: the digits and addresses of a list fit any language. */
function guessEncoding(head: Buffer): FoundEncoding {
  const unsure = {name: 'utf-8', bomBytes: 0, guess: 'unsure'} as const;
  const text = head.toString('latin1');
  const areUtf8 = (texts: readonly string[]) =>
    texts.filter(some => isUtf8(Buffer.from(some, 'latin1'))).length;
  if (areUtf8(text.split('\n').filter(line => /[\x80-\xff]/.test(line))) > 0)
    return {...unsure, guess: 'mixed'};
  // If some of these bytes are valid UTF-8, the text is probably damaged UTF-8. Then no other encoding is guessed.
  if (areUtf8(text.match(/[\x80-\xff]+/g) ?? []) > 0) return unsure;
  const guessed = guessByLetters(head);
  if (guessed !== undefined)
    return guessed.mayRead && guessed.words >= FEW_WORDS
      ? {name: guessed.name, bomBytes: 0, guess: 'sure'}
      : {...unsure, perhaps: guessed.name};
  const wide = likelyWide(head);
  return wide.length > 1 ? {...unsure, among: wide} : {...unsure, perhaps: wide[0] ?? likelyUncased(head)};
}
