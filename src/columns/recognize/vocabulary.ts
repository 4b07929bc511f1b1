import type {Intelligence} from '../../operations/table.ts';
import words from './words.json' with {type: 'json'};

export type ColumnKind = Intelligence | 'country';

/**
 * Groups of words in words.json, by language: phrases separated by commas, in any case, with or without accents. A `?`
 * marks a phrase with another meaning too, such as Turkish `cep` (CEP is a postcode in Brazil): most values must then
 * fit. A word missing there costs the user a flag; a wrong one costs money.
 *
 * A kind: words that mean the kind and nothing else. `behind`, `behindCountry`: words that may follow a kind's word
 * without changing its meaning (`Phone 1 - Value`, `country_code`). `persons`: the persons of a list. `neutral`: a
 * value's purpose or time, and words of web forms. `visits`: for IP addresses only (`last_login_ip`). `visitors`: persons,
 * too, whose country is that of a visit. `homes`: a person's address, and containers of fields (`billing_country`).
 * `dialling`: calling codes of countries (`dial_code`). `whole`: the
 * numbers have their calling code. `another`: someone other than the row's person, anywhere in the header.
 * `otherDigits`: digits that are no phone numbers (`order_no`). `cards`: no phone numbers either, even in groups.
 * `versions`: they can look like IP addresses. `masked`: values were made unrecognizable. `totals`, `notes`: labels of
 * rows below a list. `fax`: parts of words for a fax or a pager. `areaCodes`: the part of a number that its area has. `particles`:
 * words before the owner of values (`Teléfono del cliente`).
 */
export type WordGroup =
  | ColumnKind
  | ('behind' | 'behindCountry' | 'persons' | 'neutral' | 'visits' | 'visitors' | 'whole')
  | ('another' | 'otherDigits' | 'cards' | 'versions' | 'masked' | 'totals' | 'notes')
  | ('homes' | 'dialling' | 'fax' | 'particles' | 'areaCodes');

const languages: readonly Partial<Record<WordGroup, string>>[] = Object.values(words);
/** Vocabularies by their groups of words, built on first use: some have a thousand phrases. */
const vocabularies = new Map<string, HeaderVocabulary>();

export function listPhrases(group: WordGroup): string[] {
  return languages.flatMap(words => words[group]?.split(',') ?? []).map(phrase => phrase.trim());
}

export function createHeaderVocabulary(...groups: readonly WordGroup[]): HeaderVocabulary {
  const key = groups.join();
  const known = vocabularies.get(key);
  if (known !== undefined) return known;
  const made = new HeaderVocabulary(groups.flatMap(listPhrases));
  vocabularies.set(key, made);
  return made;
}

export interface PhraseMatch {
  readonly length: number;
  /** True if the phrase has another meaning too. */
  readonly isHint: boolean;
}

/** Minimum length of a phrase at the end of a word. Shorter ones end too many unrelated words. */
const SHORTEST_END = 4;
/** The same in scripts other than Latin: Chinese and Japanese write "country" with one character. */
const SHORTEST_OTHER_END = 1;
/** Minimum length of a phrase that is recognized as a part of a word. */
const SHORTEST_PART = 3;

export class HeaderVocabulary {
  /** All phrases, each joined into one word such as `phonenumber`; true for a hint. */
  readonly #joined = new Map<string, boolean>();
  /** Phrases of several words, by their first word. */
  readonly #phrases = new Map<string, {readonly words: readonly string[]; readonly isHint: boolean}[]>();

  /** A phrase that ends in `?` is a hint: it has another meaning too. */
  constructor(phrases: readonly string[]) {
    for (const phrase of phrases) {
      const words = tokenize(phrase);
      const isHint = phrase.endsWith('?');
      const joined = words.join('');
      this.#joined.set(joined, isHint && this.#joined.get(joined) !== false);
      const [first = ''] = words;
      if (words.length > 1) this.#phrases.set(first, [...(this.#phrases.get(first) ?? []), {words, isHint}]);
    }
  }

  /** The phrases that begin at word `at`. Words may end in a number, as in `phone2`. */
  matches(tokens: readonly string[], at: number): PhraseMatch[] {
    const token = tokens[at] ?? '';
    const isHint = this.#joined.get(token) ?? this.#joined.get(withoutNumber(token));
    const phrases = this.#phrases.get(token) ?? [];
    return [
      ...phrases
        .filter(({words}) =>
          words.every((word, n) => word === tokens[at + n] || word === withoutNumber(tokens[at + n])),
        )
        .map(({words, isHint}) => ({length: words.length, isHint})),
      ...(isHint === undefined ? [] : [{length: 1, isHint}]),
    ];
  }

  /** The phrase at the end of a compound: `mobiltelefon`. */
  endOf(token: string): PhraseMatch[] {
    const word = withoutNumber(token);
    for (let from = 1; from <= word.length - SHORTEST_OTHER_END; from++) {
      const end = word.slice(from);
      const isHint = this.#joined.get(end);
      const isLong = end.length >= SHORTEST_END || /[^\p{Script=Latin}]/u.test(end);
      if (isHint !== undefined && isLong) return [{length: 1, isHint}];
    }
    return [];
  }

  /** True if a word consists of phrases written together: `kundentelefon`, `お客様電話番号`. */
  makesUp(token: string): boolean {
    const word = withoutNumber(token);
    const least = isUnspacedScript(word) ? 1 : SHORTEST_PART;
    const reached = [true];
    for (let end = 1; end <= word.length; end++)
      reached[end] = reached.some(
        (isReached, from) => isReached && end - from >= least && this.#joined.has(word.slice(from, end)),
      );
    return word !== '' && reached[word.length] === true;
  }

  /** True if the token contains a phrase anywhere. Always false for a script with spaces between words. */
  isIn(token: string): boolean {
    return isUnspacedScript(token) && [...this.#joined.keys()].some(phrase => token.includes(phrase));
  }
}

function withoutNumber(token = ''): string {
  return token.replace(/\d+$/, '');
}

const LETTERS: Readonly<Record<string, string>> = {ı: 'i', ł: 'l', ø: 'o', đ: 'd', ß: 'ss', œ: 'oe', æ: 'ae'};

const UNSPACED =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}ー々';
const UNSPACED_ONLY = new RegExp(`^[${UNSPACED}]+$`, 'u');
const SCRIPTS_MEET = new RegExp(`(?<=[a-z\\d])(?=[${UNSPACED}])|(?<=[${UNSPACED}])(?=[a-z\\d])`, 'gu');

export function isUnspacedScript(token: string): boolean {
  return UNSPACED_ONLY.test(token);
}

/**
 * A header's words in lower case, without accents, marks and emoji: two in `signupIP` and `📍signup_ip`. Arabic words
 * lose their article.
 */
export function tokenize(text: string): string[] {
  const plain = withoutMarks(text)
    .replace(/(?<=[a-z])['’]s\b/gi, '')
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z]{2})/g, '$1 $2');
  const small = withoutMarks(plain.toLowerCase())
    .replace(/[ıłøđßœæ]/g, letter => LETTERS[letter] ?? letter)
    .replace(SCRIPTS_MEET, ' ');
  return (small.match(/[\p{L}\p{N}\p{Script=Devanagari}]+/gu) ?? []).map(token =>
    token.replace(/^ال(?=.{2})/, ''),
  );
}

/** Removes marks, but few of Devanagari's: without vowel marks a father (पिता) would be an address (पता). */
function withoutMarks(text: string): string {
  return text.normalize('NFKD').replace(/(?!\p{Script=Devanagari})\p{M}|\u093C/gu, '');
}
