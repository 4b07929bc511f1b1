import {isUtf8} from 'node:buffer';
import iconv from 'iconv-lite';
/** Letters outside ASCII by language (CLDR's exemplar characters), under the first encoding that programs write it in. */
import letters from './alphabets.json' with {type: 'json'};
import type {EncodingName} from './transcode.ts';

/** The result of a guess by the letters of a text. */
export interface EncodingGuess {
  /**
   * `sure`: `name` was guessed by the letters. `unsure`: the text is not UTF-8, which is used anyway. `mixed`: some lines
   * are UTF-8 and others are not, so that no encoding fits all. `shown`: letters outside ASCII show that it is UTF-8.
   */
  readonly guess: 'sure' | 'unsure' | 'mixed' | 'shown';
  readonly name?: EncodingName;
  /** Likely encodings that are not certain enough to use, the likeliest first. */
  readonly likely?: readonly EncodingName[];
}

/** Minimum number of words with bytes outside ASCII for a sure guess. Fewer such words may be damaged ASCII. */
const FEW_WORDS = 3;

/**
 * Guesses the encoding of a text that is not UTF-8, only by words with bytes outside ASCII: the digits and addresses of a
 * list fit any language.
 */
export function guessEncoding(head: Buffer): EncodingGuess {
  const text = head.toString('latin1');
  const areUtf8 = (parts: readonly string[]) => parts.some(part => isUtf8(Buffer.from(part, 'latin1')));
  if (areUtf8(text.split('\n').filter(line => /[\x80-\xff]/.test(line)))) return {guess: 'mixed'};
  // If some of these bytes are valid UTF-8, the text is probably damaged UTF-8. Then no other encoding is guessed.
  if (areUtf8(text.match(/[\x80-\xff]+/g) ?? [])) return {guess: 'unsure'};
  const guess = guessByLetters(head);
  if (guess?.mayRead === true && guess.words >= FEW_WORDS)
    return {guess: 'sure', ...(guess.names[0] && {name: guess.names[0]})};
  const cjk = guess?.names.length === 1 ? [] : likelyCjkEncodings(head);
  if (cjk.length > 0) return {guess: 'unsure', likely: cjk};
  const uncased = guess === undefined ? guessUncasedEncoding(head) : undefined;
  return {guess: 'unsure', likely: guess?.names ?? (uncased === undefined ? [] : [uncased])};
}

/**
 * Encodings of the same languages, which are guessed by their letters. Names are too short for letter statistics: chardet
 * was certain and right on only 7 of 14 lists. windows-1252 includes the letters of ISO-8859-1.
 */
const families = [
  ['windows-1252'],
  ['windows-1250', 'iso-8859-2'],
  ['windows-1254', 'iso-8859-9'],
  ['windows-1257'],
  ['windows-1251', 'koi8-r', 'iso-8859-5'],
  ['windows-1253', 'iso-8859-7'],
] as const;

/**
 * Encodings of old Macs and DOS, which a message may suggest. No list is read in them without --encoding: their bytes are
 * letters of other encodings too, as a Mac's ü and ö are Polish and Czech letters in Windows-1250.
 */
const NEVER_GUESSED: readonly EncodingName[] = ['macintosh', 'cp850'];

const candidates = [
  ...families.flatMap(names => names.map(name => [name, letters[names[0]]] as const)),
  ...NEVER_GUESSED.map(name => [name, letters['windows-1252']] as const),
].map(([name, alphabets]) => ({name, languages: alphabets.map(alphabet => new Set(alphabet))}));

/** Required share of words that fit a language. */
const FITTING = 0.9;
/** Minimum lead of the best encoding's score over others, which turn the bytes into another text. */
const MARGIN = 0.1;
/** Maximum number of further encodings that a message suggests. */
const MOST_RIVALS = 2;
/** Characters that occur in any language. They separate words. */
const NO_LETTERS = /[\s\d’‘“”–—…€°ºª®™©«»]+/u;

/**
 * Languages without capitals, whose words are recognized by the order of their letters. A message may suggest these
 * encodings. No list is read in them without --encoding: most bytes of Hebrew are also small letters of Russian and Greek.
 */
const uncasedWords: readonly (readonly [EncodingName, word: RegExp])[] = [
  // Hebrew: five letters have another form at the end of a word.
  ['windows-1255', /^(?:(?![ךםןףץ][א-ת])[א-ת])+(?<![א-ת][כמנצ])$/u],
  ['windows-1256', /^(?:(?![ةى][ء-ي])[ء-يپچژگک])+$/u],
  // Thai: vowels and tones are written before, above, below and after a consonant.
  ['windows-874', /^(?:[เ-ไ]?[ก-ฮ][ัิ-ฺ็-๎]*[ะาำฯๆ]?)+$/u],
];
const FEW_UNCASED = 2;

function guessUncasedEncoding(head: Buffer): EncodingName | undefined {
  const bytes = wordsWithHighBytes(head);
  const encoding = uncasedWords.find(([name, isWord]) => {
    const words = wordsOutsideAscii(iconv.decode(bytes, name));
    const fitting = words.filter(word => isWord.test(word)).length;
    return words.length >= FEW_UNCASED && fitting >= FITTING * words.length;
  });
  return encoding?.[0];
}

interface LetterGuess {
  /** The encodings that fit about as well, best first. */
  readonly names: readonly EncodingName[];
  /** Number of words with bytes outside ASCII. */
  readonly words: number;
  /** True if one encoding fits, and a list may be read in it without --encoding. */
  readonly mayRead: boolean;
}

/** The encodings in which the words with bytes outside ASCII fit a language; undefined if none or many fit. */
export function guessByLetters(head: Buffer): LetterGuess | undefined {
  const bytes = wordsWithHighBytes(head);
  const judged = candidates.map(({name, languages}) => {
    const text = iconv.decode(bytes, name);
    return {name, text, ...fitOf(text, languages)};
  });
  const [best, ...others] = judged.sort((a, b) => b.score - a.score || b.letters - a.letters);
  if (best === undefined || best.fit < FITTING) return undefined;
  const {name, words} = best;
  const uncased = /\p{Lu}/u.test(best.text) ? undefined : guessUncasedEncoding(head);
  if (uncased !== undefined) return {names: [uncased], words, mayRead: false};
  const rivals = others.filter(({text, score}) => text !== best.text && best.score - score < MARGIN);
  // Of many encodings that fit alike, only those of most lists in the West are worth a try.
  if (rivals.length > MOST_RIVALS && name !== 'windows-1252') return undefined;
  const mayRead = rivals.length === 0 && !NEVER_GUESSED.includes(name);
  return {names: [name, ...rivals.map(rival => rival.name)], words, mayRead};
}

/** Signs of a wrong encoding: capitals within a word, and a final sigma before another letter. */
const ODD_CASE = /\p{Ll}(?!\p{ASCII})\p{Lu}|\p{Lu}{2}\p{Ll}|ς\p{L}/u;

const MOST_WORDS = 2_000;

function wordsWithHighBytes(head: Buffer): Buffer {
  const words = head.toString('latin1').match(/[A-Za-z\x80-\xff]*[\x80-\xff][A-Za-z\x80-\xff]*/g) ?? [];
  return Buffer.from(words.slice(0, MOST_WORDS).join(' '), 'latin1');
}

function wordsOutsideAscii(text: string): string[] {
  return text.split(NO_LETTERS).filter(word => /[^\p{ASCII}]/u.test(word));
}

/** `fit`: share of words that fit any of these languages. `score`: `fit` plus the share that fits the best language. */
function fitOf(text: string, languages: readonly ReadonlySet<string>[]) {
  const words = wordsOutsideAscii(text);
  const plausible = words.filter(
    word => /^(?:\p{Script=Latin}+|[^\P{L}\p{Script=Latin}]+)$/u.test(word) && !ODD_CASE.test(word),
  );
  const highLetters = plausible.map(word => [...word].filter(letter => letter > '\x7f'));
  const fits = (word: readonly string[], alphabet: ReadonlySet<string>) =>
    word.every(letter => alphabet.has(letter) || alphabet.has(letter.toLowerCase()));
  const counts = languages.map(alphabet => highLetters.filter(word => fits(word, alphabet)).length);
  const fitting = highLetters.filter(word => languages.some(alphabet => fits(word, alphabet))).length;
  const all = Math.max(1, words.length);
  // A letter of one Greek code page is a quotation mark in the other.
  const letters = plausible.join('').length;
  return {words: words.length, letters, fit: fitting / all, score: (fitting + Math.max(...counts)) / all};
}

/** A Chinese, Japanese or Korean encoding, with ranges of first bytes. */
interface CjkEncoding {
  readonly name: EncodingName;
  /** Of kana, the Japanese syllables. */
  readonly kana?: readonly [from: number, to: number];
  /** Of the common letters besides kana: frequent ideographs, or Korean syllables. */
  readonly common: readonly [from: number, to: number];
}

const cjkEncodings: readonly CjkEncoding[] = [
  {name: 'shift_jis', kana: [0x82, 0x83], common: [0x88, 0x98]},
  {name: 'euc-jp', kana: [0xa4, 0xa5], common: [0xb0, 0xcf]},
  {name: 'gbk', common: [0xb0, 0xd7]},
  {name: 'big5', common: [0xa4, 0xc6]},
  {name: 'euc-kr', common: [0xb0, 0xc8]},
];

/** Numbers of letters: those that share a first byte, all kana, and all others (rare ideographs, symbols), roughly. */
const PER_BYTE = 94;
const KANA = 170;
const RARE = 10_000;
/** Minimum number of letters for a guess. */
const FEW_LETTERS = 4;
const MOST_BYTES = 8_192;

/**
 * The Chinese, Japanese or Korean encodings that a text may be in, the likeliest first. Most of their bytes are letters in
 * several of them, so that only enough different letters rule one out.
 */
export function likelyCjkEncodings(head: Buffer): EncodingName[] {
  const bytes = head.subarray(0, MOST_BYTES);
  const fitting = cjkEncodings.flatMap(encoding => {
    const firsts = firstBytes(bytes, encoding.name) ?? [];
    const {name, kana, common} = encoding;
    const usual = firsts.filter(first => isIn(first, common) || isIn(first, kana));
    if (firsts.length === 0 || usual.length / firsts.length < MOSTLY) return [];
    const letters = firsts.some(first => isIn(first, kana)) ? encoding : {common};
    return [{name, chance: firsts.reduce((sum, first) => sum + Math.log(chanceOf(first, letters)), 0)}];
  });
  const best = Math.max(...fitting.map(({chance}) => chance));
  const likely = fitting.filter(({chance}) => best - chance < CLEAR);
  return likely.sort((a, b) => b.chance - a.chance).map(({name}) => name);
}

/** Minimum share of letters that must be common ones. */
const MOSTLY = 0.8;
/** An encoding in which the text is ten times as likely rules another one out. */
const CLEAR = Math.log(10);

/**
 * Expected frequency of a letter with this first byte, if all letters of its kind are equally frequent, 5% of a text's
 * letters are rare, and 40% of a Japanese text's are kana.
 */
function chanceOf(first: number, {kana, common}: Omit<CjkEncoding, 'name'>): number {
  const inCommon = 1 / ((common[1] - common[0] + 1) * PER_BYTE);
  if (kana === undefined) return isIn(first, common) ? 0.95 * inCommon : 0.05 / RARE;
  if (isIn(first, kana)) return 0.4 / KANA;
  return isIn(first, common) ? 0.55 * inCommon : 0.05 / RARE;
}

function isIn(byte: number, range: readonly [number, number] | undefined): boolean {
  return range !== undefined && byte >= range[0] && byte <= range[1];
}

/** The first byte of each different letter outside ASCII; none if they are few. Undefined if the text is invalid. */
function firstBytes(bytes: Buffer, name: EncodingName): number[] | undefined {
  // The end of the sample may divide a character.
  const lastEnd = bytes.lastIndexOf(0x0a);
  const text = iconv.decode(lastEnd < 0 ? bytes : bytes.subarray(0, lastEnd), name);
  if (text.includes('\uFFFD')) return undefined;
  const wide = [...text].filter(letter => letter > '\x7f');
  // The same name in each row says no more than one.
  return wide.length < FEW_LETTERS
    ? []
    : [...new Set(wide)].map(letter => iconv.encode(letter, name)[0] ?? 0);
}
