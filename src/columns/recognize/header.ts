import {intelligenceNames} from '../../operations/table.ts';
import {
  type ColumnKind,
  createHeaderVocabulary,
  type HeaderVocabulary,
  isUnspacedScript,
  listPhrases,
  type PhraseMatch,
  tokenize,
  type WordGroup,
} from './vocabulary.ts';

export interface HeaderMeaning {
  /**
   * `named`: the column is of the kind that its header names, whatever it holds. `hinted`: it is of this kind if
   * its values confirm that. `mentioned`: words follow that may change the meaning, as in `phone_type`.
   */
  readonly strength: Strength;
  /** The words before the kind's name: `billing` in `billing_country`. */
  readonly ahead: readonly string[];
  /** True if all words of the header are known to be about the row's own person: not `Accountant Phone`. */
  readonly isPlain: boolean;
}

const strengths = ['named', 'hinted', 'mentioned'] as const;
type Strength = (typeof strengths)[number];

const KINDS: readonly ColumnKind[] = [...intelligenceNames, 'country'];

/** The kinds of values that a header names; empty if it names none. */
export function readHeaderKinds(header: string): ReadonlyMap<ColumnKind, HeaderMeaning> {
  const tokens = tokenize(header);
  return new Map(
    KINDS.flatMap(kind => {
      const meanings = tokens.flatMap((_, at) => saidAt(kind, tokens, at));
      const [says] = meanings.sort((a, b) => strengths.indexOf(a.strength) - strengths.indexOf(b.strength));
      return says === undefined ? [] : [[kind, {...says, isPlain: isPlain(kind, tokens)}] as const];
    }),
  );
}

/**
 * An unknown word counts as harmful: a list of harmful words could never be complete. Beside a word for country only
 * the words of a person, an address, a number and containers of fields are harmless: a login has a country, too.
 */
function isPlain(kind: ColumnKind, tokens: readonly string[]): boolean {
  const visits = kind === 'ip' ? (['visits'] as const) : [];
  const known =
    kind === 'country'
      ? createHeaderVocabulary('country', 'behindCountry', 'persons', 'homes', 'phone')
      : createHeaderVocabulary(kind, 'behind', 'persons', 'visitors', 'neutral', 'whole', ...visits);
  // Beside other words, CC is a card.
  if (kind === 'country' && tokens.length > 1 && tokens.includes('cc')) return false;
  const isHarmless = (token: string) => isNumber(token) || PARTICLES.has(token) || known.makesUp(token);
  return firstUnknown(tokens, known, isHarmless) === tokens.length;
}

/** Index of the first word outside known phrases that is not harmless by itself; else the number of words. */
function firstUnknown(
  tokens: readonly string[],
  known: HeaderVocabulary,
  isHarmless: (token: string) => boolean,
): number {
  let at = 0;
  while (at < tokens.length) {
    const lengths = known.matches(tokens, at).map(({length}) => length);
    if (lengths.length === 0 && !isHarmless(tokens[at] ?? '')) break;
    at += Math.max(1, ...lengths);
  }
  return at;
}

const isNumber = (token: string) => /^\d+$/.test(token);

/** True if a header names someone or something other than the row's person: staff, a server, a referrer. */
export function namesSomeoneElse(header: string): boolean {
  const words = createHeaderVocabulary('another');
  return tokenize(header).some(
    (token, at, tokens) =>
      words.matches(tokens, at).length > 0 || words.endOf(token).length > 0 || words.isIn(token),
  );
}

const FAX = new RegExp(listPhrases('fax').join('|'));

export function namesFax(header: string): boolean {
  return tokenize(header).some(token => FAX.test(token) || FAX.test(token.normalize('NFKC')));
}

/** True if a header has a word of this group of words, such as `versions`, whatever its other words mean. */
export function hasHeaderWord(header: string, which: WordGroup): boolean {
  const words = createHeaderVocabulary(which);
  return tokenize(header).some((_, at, tokens) => words.matches(tokens, at).length > 0);
}

function saidAt(kind: ColumnKind, tokens: readonly string[], at: number): Omit<HeaderMeaning, 'isPlain'>[] {
  const token = tokens[at] ?? '';
  const named = createHeaderVocabulary(kind).matches(tokens, at);
  const matches = named.length > 0 ? named : createHeaderVocabulary(kind).endOf(token);
  const isCompound = named.length === 0;
  return matches.flatMap(({length, isHint}: PhraseMatch) => {
    const tail = tailOf(kind, tokens.slice(at + length));
    // A kind's name at the end of a compound, as in `kundentelefon`, is only a hint. In scripts without
    // spaces, such a name counts as a word of its own.
    const isLoose = isHint || tail === 'someone' || (isCompound && !isUnspacedScript(token));
    const ahead = tokens.slice(0, isCompound ? at + 1 : at);
    const isMentioned = tail === 'other' || (tail === 'someone' && kind === 'country');
    return [{strength: isMentioned ? 'mentioned' : isLoose ? 'hinted' : 'named', ahead} as const];
  });
}

/** Words between the name of a kind and the owner of the values: `Teléfono del cliente`. */
const PARTICLES: ReadonlySet<string> = new Set(listPhrases('particles'));
const LONGEST_OWNER = 3;

/** The words after a kind's name: they change nothing, name the owner, or may change the meaning. */
function tailOf(kind: ColumnKind, tail: readonly string[]): 'plain' | 'someone' | 'other' {
  const visits = kind === 'ip' ? (['visits'] as const) : [];
  const ofKind = kind === 'country' ? (['behindCountry', 'homes'] as const) : visits;
  const known = createHeaderVocabulary('behind', 'persons', 'visitors', 'whole', ...ofKind);
  const at = firstUnknown(tail, known, isNumber);
  if (at === tail.length) return 'plain';
  return PARTICLES.has(tail[at] ?? '') && tail.length - at <= LONGEST_OWNER ? 'someone' : 'other';
}
