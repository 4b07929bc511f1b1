import {closestMatch} from 'leven';

/** `maxCredits` → `max-credits` with `-` (flags), `max_credits` with `_` (job files). */
export function spellName(name: string, joiner: '-' | '_'): string {
  return name.replace(/[A-Z]/g, letter => `${joiner}${letter.toLowerCase()}`);
}

/** `max-credits` (flags) or `max_credits` (job files) → `maxCredits` (code). */
export function camelCase(key: string): string {
  return key.replace(/[_-]([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Words for a value that the reader is to find. A user's own name may be in capitals, too. */
const placeholders: ReadonlySet<unknown> = new Set(['COLUMN', 'COUNTRY', 'OUT', 'FILE']);

/**
 * A text for the user that names settings: as flags for the command, as properties for the library. As a string, it has
 * flags.
 */
export class Sentence {
  readonly #withFlags: string;
  readonly inCode: string;

  constructor(withFlags: string, inCode: string) {
    this.#withFlags = withFlags;
    this.inCode = inCode;
  }

  toString(): string {
    return this.#withFlags;
  }

  toJSON(): string {
    return this.#withFlags;
  }
}

/** A text for the user. A plain string names no setting. */
export type Said = string | Sentence;

/** A setting in a sentence: `true` for a switch, `false` for one turned off, else its value or a placeholder. */
export function setting(name: string, value?: string | boolean): Sentence {
  const flag = name === 'output' ? '-o' : `--${value === false ? 'no-' : ''}${spellName(name, '-')}`;
  const inCode = placeholders.has(value) ? value : JSON.stringify(value);
  return new Sentence(
    typeof value === 'string' ? `${flag} ${shellWord(value)}` : flag,
    value === undefined ? name : `${name}: ${inCode}`,
  );
}

/** The settings that flags give. `flags`: words such as `--no-header --ip 'last ip'`. */
export function settingsOfFlags(
  flags: readonly string[],
): {name: string; value: string | boolean | undefined}[] {
  const words = flags.values();
  return Array.from(words, flag => {
    const name = camelCase(flag.replace(/^-+(?:no-)?/, ''));
    return flag.startsWith('--no-')
      ? {name, value: false}
      : {name: name === 'o' ? 'output' : name, value: words.next().value};
  });
}

/** The same, as an error offers them in its sentence. */
export function sayFlags(flags: readonly string[]): Sentence {
  const settings = settingsOfFlags(flags).map(({name, value}) => setting(name, value));
  return new Sentence(settings.join(' '), settings.map(formatForLibrary).join(', '));
}

/** Makes a sentence of a template. Its values are settings, other sentences, and texts. */
export function say(texts: TemplateStringsArray, ...values: readonly unknown[]): Sentence {
  return new Sentence(
    String.raw({raw: texts}, ...values),
    String.raw({raw: texts}, ...values.map(value => formatForLibrary(value as Said))),
  );
}

/** The sentence as a caller of the library reads it. */
export function formatForLibrary(said: Said): string {
  return said instanceof Sentence ? said.inCode : String(said);
}

/** The text with a capital at its beginning. */
export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Characters that a message can't hold: a break of the line, one that steers a terminal, a command to a CI runner. */
const UNPRINTABLE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|(?<=#)#(?=\[|vso\[)/gu;

/**
 * A word for a shell, quoted if needed: users paste what is shown, and a column may be named `$(…)`. A dot at the end
 * is quoted, as a sentence may end there. {@link UNPRINTABLE} becomes escapes in `$'…'`, as bash, zsh and ksh read
 * them.
 */
export function shellWord(text: string): string {
  if (text.search(UNPRINTABLE) >= 0) {
    const bytes = (part: string) =>
      [...Buffer.from(part)].map(byte => `\\${byte.toString(8).padStart(3, '0')}`);
    return `$'${text.replace(/[\\']/g, '\\$&').replace(UNPRINTABLE, part => bytes(part).join(''))}'`;
  }
  const isPlain = /^(?!=)[\w@%+=:,./-]*[\w@%+=:,/-]$/.test(text);
  return isPlain ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The candidate that the user probably meant: nearest in spelling, else one that begins with the typed word. */
export function closestName(word: string, candidates: readonly string[]): string | undefined {
  const typed = word.toLowerCase();
  const names = candidates.map(name => name.toLowerCase());
  // Two swapped letters are a distance of two, so words of four letters or more may have that distance.
  const maxDistance = typed.length < 4 ? 1 : Math.max(2, Math.floor(typed.length / 3));
  const letters = (name: string) => [...name].sort().join('');
  const swapped = names.findIndex(name => letters(name) === letters(typed));
  if (swapped >= 0) return candidates[swapped];
  const near = closestMatch(typed, names, {maxDistance});
  return candidates[
    near === undefined ? names.findIndex(name => name.startsWith(typed)) : names.indexOf(near)
  ];
}

/** The end of a message, with a space before it: a suggestion, or `otherwise` if no candidate is near. */
export function didYouMean(given: string, candidates: readonly string[], otherwise = ''): string {
  const near = closestName(given, candidates);
  const said = near === undefined ? otherwise : `Did you mean "${near}"?`;
  return said && ` ${said}`;
}
