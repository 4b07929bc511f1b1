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

/** A part of a {@link Sentence} that the command and the library write in ways of their own. */
interface Worded {
  asFlag(): string;
  inCode(): string;
}

/** A setting in a {@link Sentence}, with its value if the sentence names one. */
class SettingNamed implements Worded {
  readonly name: string;
  readonly value: string | boolean | undefined;

  constructor(name: string, value: string | boolean | undefined) {
    this.name = name;
    this.value = value;
  }

  asFlag(): string {
    if (this.value === false) return `--no-${spellName(this.name, '-')}`;
    const flag = this.name === 'output' ? '-o' : `--${spellName(this.name, '-')}`;
    return typeof this.value === 'string' ? `${flag} ${shellWord(this.value)}` : flag;
  }

  inCode(): string {
    const {name, value} = this;
    if (value === undefined) return name;
    return `${name}: ${placeholders.has(value) ? value : JSON.stringify(value)}`;
  }
}

/** The gap between two settings that belong together. */
const BESIDE: Worded = {asFlag: () => ' ', inCode: () => ', '};

/**
 * A sentence for the user, whose settings are apart from its words: the command tells them as flags, and the library
 * as its caller writes them. As a string, it names flags: in a template without {@link say}, it becomes one.
 */
export class Sentence {
  readonly parts: readonly (string | Worded)[];

  constructor(parts: readonly (string | Worded)[]) {
    this.parts = parts;
  }

  toString(): string {
    return this.parts.map(part => (typeof part === 'string' ? part : part.asFlag())).join('');
  }

  toJSON(): string {
    return this.toString();
  }

  inCode(): string {
    return this.parts.map(part => (typeof part === 'string' ? part : part.inCode())).join('');
  }
}

/** A text for the user. A plain string names no setting. */
export type Said = string | Sentence;

/**
 * A setting in a sentence. `value`: `true` for a switch, `false` for one that is turned off, else the value to give
 * it, or one of the {@link placeholders}.
 */
export function set(name: string, value?: string | boolean): SettingNamed {
  return new SettingNamed(name, value);
}

/** The settings that flags give, each for a sentence. `flags`: words such as `--no-header --ip 'last ip'`. */
export function settingsOfFlags(flags: readonly string[]): SettingNamed[] {
  const words = flags.values();
  return Array.from(words, flag => {
    const name = camelCase(flag.replace(/^-+(?:no-)?/, ''));
    return flag.startsWith('--no-')
      ? set(name, false)
      : set(name === 'o' ? 'output' : name, words.next().value);
  });
}

/** The same, as an error offers them in its sentence. */
export function sayFlags(flags: readonly string[]): Sentence {
  return new Sentence(settingsOfFlags(flags).flatMap((each, at) => (at === 0 ? [each] : [BESIDE, each])));
}

/** Makes a sentence of a template. Its values are settings, other sentences, and texts. */
export function say(texts: TemplateStringsArray, ...values: readonly unknown[]): Sentence {
  const partsOf = (value: unknown) =>
    value instanceof Sentence ? value.parts : [value instanceof SettingNamed ? value : String(value)];
  return new Sentence(
    texts.flatMap((text, at) => [text, ...(at < values.length ? partsOf(values[at]) : [])]),
  );
}

/** The sentence as a caller of the library reads it. */
export function formatForLibrary(said: Said): string {
  return typeof said === 'string' ? said : said.inCode();
}

/** Characters that a message can't hold: a break of the line, one that steers a terminal, a command to a CI runner. */
const UNPRINTABLE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|(?<=#)#(?=\[|vso\[)/gu;

/**
 * A word for a shell, quoted if needed. All words of others in a command or flag that is shown go through here, as
 * users paste it: a column may be named `$(…)`. A dot at the end is quoted too, since a sentence may end there.
 * {@link UNPRINTABLE} characters become escapes in `$'…'`, as bash, zsh and ksh read them.
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
