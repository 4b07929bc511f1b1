const LETTERS: Readonly<Record<string, string>> = {ı: 'i', ł: 'l', ø: 'o', đ: 'd', ß: 'ss', œ: 'oe', æ: 'ae'};

const UNSPACED =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}ー々';
const UNSPACED_ONLY = new RegExp(`^[${UNSPACED}]+$`, 'u');
const SCRIPTS_MEET = new RegExp(`(?<=[a-z\\d])(?=[${UNSPACED}])|(?<=[${UNSPACED}])(?=[a-z\\d])`, 'gu');

/** True for a word in a script without spaces between words. */
export function isUnspaced(token: string): boolean {
  return UNSPACED_ONLY.test(token);
}

/**
 * A header's words in lower case, without accents, marks and emoji: `signupIP`, `Signup IP` and `📍signup_ip` have
 * the same two words. Arabic words lose their article.
 */
export function tokensOf(text: string): string[] {
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
