import iconv from 'iconv-lite';
/**
 * Letters outside ASCII by language, from CLDR's exemplar characters, under the first encoding in which programs write
 * the language.
 */
import letters from './alphabets.json' with {type: 'json'};
import type {EncodingName} from './transcode.ts';

/**
 * Encodings of the same languages. An encoding is guessed by these letters, since names are too short for letter
 * statistics: chardet was certain and right on only 7 of 14 lists. Without ISO-8859-1: windows-1252 has the same
 * letters, and is what Windows programs write.
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
 * Encodings of old Macs and DOS. Their bytes are letters of other encodings too: a Mac's ü and ö are Polish and
 * Czech letters in Windows-1250. So a message may suggest these encodings, but no list is read in them without
 * --encoding.
 */
const NEVER_GUESSED: readonly EncodingName[] = ['macintosh', 'cp850'];

const candidates = [
  ...families.flatMap(names => names.map(name => [name, letters[names[0]]] as const)),
  ...NEVER_GUESSED.map(name => [name, letters['windows-1252']] as const),
].map(([name, some]) => ({name, languages: some.map(alphabet => new Set(alphabet))}));

/** Required share of words that fit a language. */
const FITTING = 0.9;
/** Minimum lead of the best encoding's score over others, which turn the bytes into another text. */
const MARGIN = 0.1;
/** Maximum number of further encodings that a message suggests. */
const MOST_RIVALS = 2;
/** Characters that occur in any language. They separate words. */
const NO_LETTERS = /[\s\d’‘“”–—…€°ºª®™©«»]+/u;

/**
 * Languages without capitals, whose words are recognized by the order of their letters. Most of Hebrew's bytes
 * are also small letters of Russian and Greek. So a message may suggest these encodings, but no list is read in
 * them without --encoding.
 */
const uncased: readonly (readonly [EncodingName, word: RegExp])[] = [
  // Hebrew: five letters have another form at the end of a word.
  ['windows-1255', /^(?:(?![ךםןףץ][א-ת])[א-ת])+(?<![א-ת][כמנצ])$/u],
  ['windows-1256', /^(?:(?![ةى][ء-ي])[ء-يپچژگک])+$/u],
  // Thai: vowels and tones are written before, above, below and after a consonant.
  ['windows-874', /^(?:[เ-ไ]?[ก-ฮ][ัิ-ฺ็-๎]*[ะาำฯๆ]?)+$/u],
];
const FEW_UNCASED = 2;

/** The encoding in which words with bytes outside ASCII are Hebrew, Arabic, Persian or Thai; else undefined. */
export function guessUncasedEncoding(head: Buffer): EncodingName | undefined {
  const bytes = oddWords(head);
  const found = uncased.find(([name, isWord]) => {
    const words = wordsOutsideAscii(iconv.decode(bytes, name));
    const sound = words.filter(word => isWord.test(word)).length;
    return words.length >= FEW_UNCASED && sound >= FITTING * words.length;
  });
  return found?.[0];
}

export interface EncodingGuess {
  /** The encodings that fit about as well, best first. */
  readonly names: readonly EncodingName[];
  /** Number of words with bytes outside ASCII. */
  readonly words: number;
  /** True if one encoding fits, and a list may be read in it without --encoding. */
  readonly mayRead: boolean;
}

/** The encodings in which the words with bytes outside ASCII fit a language; undefined if none or many fit. */
export function guessByLetters(head: Buffer): EncodingGuess | undefined {
  const bytes = oddWords(head);
  const judged = candidates.map(({name, languages}) => {
    const text = iconv.decode(bytes, name);
    return {name, text, ...fitOf(text, languages)};
  });
  const [best, ...others] = judged.sort((a, b) => b.score - a.score || b.letters - a.letters);
  if (best === undefined || best.fit < FITTING) return undefined;
  const {name, words} = best;
  const other = /\p{Lu}/u.test(best.text) ? undefined : guessUncasedEncoding(head);
  if (other !== undefined) return {names: [other], words, mayRead: false};
  const rivals = others.filter(({text, score}) => text !== best.text && best.score - score < MARGIN);
  // Of many encodings that fit alike, only those of most lists in the West are worth a try.
  if (rivals.length > MOST_RIVALS && name !== 'windows-1252') return undefined;
  const mayRead = rivals.length === 0 && !NEVER_GUESSED.includes(name);
  return {names: [name, ...rivals.map(rival => rival.name)], words, mayRead};
}

/** Signs of a wrong encoding: capitals within a word, and a final sigma before another letter. */
const ODD_CASE = /\p{Ll}(?!\p{ASCII})\p{Lu}|\p{Lu}{2}\p{Ll}|ς\p{L}/u;

const MOST_WORDS = 2_000;

/** The first words with bytes outside ASCII, joined by spaces. */
function oddWords(head: Buffer): Buffer {
  const found = head.toString('latin1').match(/[A-Za-z\x80-\xff]*[\x80-\xff][A-Za-z\x80-\xff]*/g) ?? [];
  return Buffer.from(found.slice(0, MOST_WORDS).join(' '), 'latin1');
}

function wordsOutsideAscii(text: string): string[] {
  return text.split(NO_LETTERS).filter(word => /[^\p{ASCII}]/u.test(word));
}

/**
 * `fit`: share of words that fit any of these languages. `score`: `fit` plus the share that fits the best language.
 */
function fitOf(text: string, languages: readonly ReadonlySet<string>[]) {
  const words = wordsOutsideAscii(text);
  const sound = words.filter(
    word => /^(?:\p{Script=Latin}+|[^\P{L}\p{Script=Latin}]+)$/u.test(word) && !ODD_CASE.test(word),
  );
  const odd = sound.map(word => [...word].filter(letter => letter > '\x7f'));
  const has = (letters: ReadonlySet<string>) => (word: readonly string[]) =>
    word.every(letter => letters.has(letter) || letters.has(letter.toLowerCase()));
  const counts = languages.map(letters => odd.filter(has(letters)).length);
  const some = odd.filter(word => languages.some(letters => has(letters)(word))).length;
  const all = Math.max(1, words.length);
  // A letter of one Greek code page is a quotation mark in the other.
  const letters = sound.join('').length;
  return {words: words.length, letters, fit: some / all, score: (some + Math.max(...counts)) / all};
}
