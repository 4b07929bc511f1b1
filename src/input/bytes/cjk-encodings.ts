import iconv from 'iconv-lite';
import type {EncodingName} from './transcode.ts';

/** A Chinese, Japanese or Korean encoding, with the first bytes of its common letters. */
interface WideEncoding {
  readonly name: EncodingName;
  /** Range of the first bytes of kana, the Japanese syllables. */
  readonly kana?: readonly [from: number, to: number];
  /** Range of first bytes of the common letters besides kana: frequent ideographs, or Korean syllables. */
  readonly common: readonly [from: number, to: number];
}

const encodings: readonly WideEncoding[] = [
  {name: 'shift_jis', kana: [0x82, 0x83], common: [0x88, 0x98]},
  {name: 'euc-jp', kana: [0xa4, 0xa5], common: [0xb0, 0xcf]},
  {name: 'gbk', common: [0xb0, 0xd7]},
  {name: 'big5', common: [0xa4, 0xc6]},
  {name: 'euc-kr', common: [0xb0, 0xc8]},
];

/** Number of letters that share a first byte. */
const PER_BYTE = 94;
/** Number of kana. */
const KANA = 170;
/** Approximate number of all other letters: rare ideographs, symbols and the like. */
const RARE = 10_000;
/** Minimum number of letters for a guess. */
const FEW_LETTERS = 4;
const MOST_BYTES = 8_192;

/**
 * The Chinese, Japanese or Korean encodings that a text may be in, the likeliest first. Most of such bytes are
 * letters in several of them, so less likely ones are left out only if the text's different letters are enough.
 */
export function likelyCjkEncodings(head: Buffer): EncodingName[] {
  const bytes = head.subarray(0, MOST_BYTES);
  const fitting = encodings.flatMap(encoding => {
    const firsts = firstBytes(bytes, encoding.name) ?? [];
    const usual = firsts.filter(first => isIn(first, encoding.common) || isIn(first, encoding.kana));
    if (firsts.length === 0 || usual.length / firsts.length < MOSTLY) return [];
    const hasKana = firsts.some(first => isIn(first, encoding.kana));
    const of = hasKana ? encoding : {common: encoding.common};
    return [
      {name: encoding.name, chance: firsts.reduce((sum, first) => sum + Math.log(chanceOf(first, of)), 0)},
    ];
  });
  const best = Math.max(...fitting.map(({chance}) => chance));
  const near = fitting.filter(({chance}) => best - chance < CLEAR);
  return near.sort((a, b) => b.chance - a.chance).map(({name}) => name);
}

const MOSTLY = 0.8;
/** An encoding in which the text is this much likelier, as a logarithm, rules another one out: ten times. */
const CLEAR = Math.log(10);

/**
 * Expected frequency of one letter with this first byte, if all letters of its kind were equally frequent. Assumes
 * that 5% of a text's letters are rare, and 40% of a Japanese text's are kana.
 */
function chanceOf(first: number, {kana, common}: Omit<WideEncoding, 'name'>): number {
  const inCommon = 1 / ((common[1] - common[0] + 1) * PER_BYTE);
  if (kana === undefined) return isIn(first, common) ? 0.95 * inCommon : 0.05 / RARE;
  if (isIn(first, kana)) return 0.4 / KANA;
  return isIn(first, common) ? 0.55 * inCommon : 0.05 / RARE;
}

function isIn(byte: number, range: readonly [number, number] | undefined): boolean {
  return range !== undefined && byte >= range[0] && byte <= range[1];
}

/**
 * The first byte of each different letter outside ASCII; none if the letters are few. Undefined if the text has bytes
 * that are invalid in this encoding.
 */
function firstBytes(bytes: Buffer, name: EncodingName): number[] | undefined {
  // Leaves out text after the last line end: the end of the sample may divide a character, which is not a fault.
  const lastEnd = bytes.lastIndexOf(0x0a);
  const text = iconv.decode(lastEnd < 0 ? bytes : bytes.subarray(0, lastEnd), name);
  if (text.includes('\uFFFD')) return undefined;
  const wide = [...text].filter(letter => letter > '\x7f');
  // The same name in each row says no more than one.
  return wide.length < FEW_LETTERS
    ? []
    : [...new Set(wide)].map(letter => iconv.encode(letter, name)[0] ?? 0);
}
