import type {CellRules} from '../../operations/cell.ts';
import {hasPhoneShape} from '../../operations/phone-shape.ts';
import {type Intelligence, operations} from '../../operations/table.ts';
import type {Column} from './column.ts';
import {type Aside, type Guess, LISTS, MOSTLY} from './guess.ts';
import {type HeaderSays, namesFax, names as namesWord} from './header.ts';

/** Share of a column's values that must show or suggest their kind to decide it without the header. */
const NEARLY_ALL = 0.9;
/** Number of different values that a column needs to be called masked. */
const FEW_VALUES = 5;

export type ColumnCells = readonly (readonly [text: string, country: string | undefined])[];

/** Facts that speak for one kind of value in a column. Placeholders such as n/a are not values. */
interface KindEvidence {
  readonly header: Header;
  readonly values: number;
  /** Number of values that can be looked up, or lack only what the user can add, or the service does not know. */
  readonly fit: number;
  /** Number of values that are of the kind, or may be: also phone numbers without a country. */
  readonly ofKind: number;
  /** Number of values that show their kind without a header, and of those that are at least likely of it. */
  readonly telling: number;
  readonly likely: number;
  /** Numbers of cells with several values, and of those with a phone number's shape: they only help to name a column. */
  readonly several: number;
  readonly shaped: number;
  /** True if all values are digits that may be something else, such as customer numbers. */
  readonly areOtherDigits: boolean;
  /** True if the values may be something that looks the same, such as versions. */
  readonly mayBeOthers: boolean;
}

/**
 * `named`: the header names the kind, or hints at it and most values confirm it. `mentioned`: it has a word of the kind
 * among words that may change its meaning; `harmless`: those words are all known not to. `silent`: no such word.
 */
type Header = 'named' | 'harmless' | 'mentioned' | 'silent';
type Verdict = 'sure' | 'unsure' | 'likely' | 'alike' | 'no';

/**
 * From a column's evidence to a verdict, for a list of one row as for one of a million; docs/formats.md has the table.
 * `sure`: looked up. `unsure`: the run stops and asks. `likely`, `alike`: named with the flag that looks them up.
 */
function judge(evidence: KindEvidence): Verdict {
  const {header, values, fit, telling, likely, several, shaped} = evidence;
  const {areOtherDigits, mayBeOthers} = evidence;
  const isHalf = (count: number) => values > 0 && count >= MOSTLY * values;
  const isNearlyAll = (count: number) => values > 0 && count >= NEARLY_ALL * values;
  if (header === 'named') return values === 0 || isHalf(fit) ? 'sure' : 'unsure';
  const mayBe = areOtherDigits ? likely : Math.max(likely, shaped);
  if (header === 'harmless' && isHalf(mayBe)) return isHalf(fit) ? 'sure' : 'unsure';
  if (isNearlyAll(telling)) return mayBeOthers ? 'alike' : 'sure';
  const isMentioned = header === 'mentioned';
  if (isMentioned && !areOtherDigits && isNearlyAll(likely) && isHalf(fit)) return 'sure';
  return isHalf((isMentioned ? mayBe : likely) + several) ? 'likely' : 'no';
}

/** The guess that a column has values of this operation; undefined if nothing speaks for it. */
export function guessColumn(
  operation: Intelligence,
  column: Column,
  cells: ColumnCells,
  rules: CellRules | undefined,
): Guess | undefined {
  const tally = tallyOf(operation, column, cells, rules);
  const {values, valid, national, listed, unclear, beyond, several} = tally;
  const of = (count: number) => (values === 0 ? 0 : count / values);
  const single = valid + national + unclear + beyond;
  const ofKind = single + listed;
  const says = column.says.get(operation);
  const header = headerOf(operation, says, {...tally, ofKind});
  const isMaybe = operations[operation].mayBeOthers?.(cells.map(([text]) => text)) === true;
  const verdict = judge({
    ...{
      header,
      values,
      ofKind,
      several,
      shaped: tally.shaped,
      likely: tally.likely,
      telling: tally.telling + beyond,
    },
    fit: valid + unclear + beyond,
    areOtherDigits: tally.bare >= MOSTLY * values || isOtherDigits(column),
    mayBeOthers: isMaybe,
  });
  if (verdict === 'no') return undefined;
  const aside = asideOf(operation, column, tally) ?? asides[verdict];
  // A column with a reason to leave it out is reported only if its values mostly fit the kind.
  if (aside !== undefined && asides[verdict] === undefined && of(ofKind) < MOSTLY) return undefined;
  return {
    operation,
    column: column.name,
    share: values === 0 ? undefined : of(valid),
    ...{national: of(national), listed: of(listed), values},
    ofKind: of(verdict === 'likely' ? single + several : ofKind),
    distinct: tally.distinct.size,
    header:
      says === undefined || !(header === 'named' || verdict === 'sure' || verdict === 'unsure')
        ? 'silent'
        : says.isPlain
          ? 'plain'
          : 'strange',
    confidence: verdict === 'sure' && aside === undefined ? 'sure' : 'unsure',
    aside,
  };
}

const asides: Readonly<Partial<Record<Verdict, Aside>>> = {likely: 'values', alike: 'alike'};

function isOtherDigits({heading}: Column): boolean {
  return namesWord(heading, 'otherDigits') || namesWord(heading, 'cards');
}

/** Almost any digits may be a phone number, so a hint at them needs values that are at least likely ones. */
function headerOf(
  operation: Intelligence,
  says: HeaderSays | undefined,
  {values, likely, ofKind}: Pick<KindEvidence, 'values' | 'likely' | 'ofKind'>,
): Header {
  if (says === undefined) return 'silent';
  if (says.strength === 'named') return 'named';
  const confirming = operations[operation].isLikely === undefined ? ofKind : likely;
  if (says.strength === 'hinted') return values > 0 && confirming >= MOSTLY * values ? 'named' : 'silent';
  return says.isPlain ? 'harmless' : 'mentioned';
}

/** Header of copied mail recipients. For e-mail columns only: beside phones, `CC` means country code. */
const COPIED = /^(?:mail\W?)?cc$/i;

function asideOf(
  operation: Intelligence,
  {heading, isAnothers, isInList, says}: Column,
  {values, beyond, distinct}: ColumnTally,
): Aside | undefined {
  if (values > 0 && beyond === values) return 'unknowable';
  if (isAnothers) return namesFax(heading) ? 'fax' : 'another';
  if (operation === 'email' && COPIED.test(heading)) return 'another';
  const {areMasked} = operations[operation];
  if (namesWord(heading, 'masked') || (values >= FEW_VALUES && areMasked?.([...distinct]) === true))
    return 'masked';
  if (operation === 'ip' && says.get('ip')?.isPlain !== true && namesWord(heading, 'versions'))
    return 'alike';
  return isInList ? 'list' : undefined;
}

type ColumnTally = ReturnType<typeof tallyOf>;

/** Codes of addresses that the service knows nothing about. */
const BEYOND: ReadonlySet<string> = new Set(['ipv6_unsupported', 'ip_private']);

/** Characters between several values in a cell. */
const PARTING = /[,;|\r\n]|\s\/\s/;

/** Codes of cells that can be judged only with their column's habits: how it writes its values. */
const BY_HABIT: ReadonlySet<string> = new Set([
  'calling_code_unclear',
  'leading_zero_lost',
  'country_unknown',
]);

/** Counts a column's values. `isKnown`: `rules` has the column's habits, which are slow to find. */
function tallyOf(
  operation: Intelligence,
  column: Column,
  cells: ColumnCells,
  rules: CellRules | undefined,
  isKnown = false,
) {
  const {canonical, habits, isTelling, isLikely} = operations[operation];
  const {heading} = column;
  const [isOther, isCard] = [namesWord(heading, 'otherDigits'), namesWord(heading, 'cards')];
  const distinct = new Set<string>();
  const tally = {values: 0, valid: 0, telling: 0, likely: 0, bare: 0, distinct};
  const counts = {national: 0, listed: 0, several: 0, shaped: 0, unclear: 0, beyond: 0};
  for (const [text, country] of cells) {
    const judged = canonical(text, country, rules);
    if (judged.state === 'empty' || judged.state === 'broken') continue;
    // Habits are slow to find. So this is done only if a cell can't be judged without them.
    if (judged.state === 'invalid' && BY_HABIT.has(judged.code) && !isKnown && habits !== undefined) {
      const found = {...habits(cells, namesWord(heading, 'whole')), ...rules};
      return tallyOf(operation, column, cells, found, true);
    }
    tally.values += 1;
    const isBare = /^\d+$/.test(text.trim());
    if (isBare) tally.bare += 1;
    if (isLikely !== undefined && hasPhoneShape(text.trim())) counts.shaped += 1;
    distinct.add(judged.state === 'value' ? judged.value : text.trim());
    const tells = isTelling?.(text) !== false;
    if (judged.state === 'value') {
      tally.valid += 1;
      if (tells) tally.telling += 1;
    } else {
      if (judged.code === 'calling_code_unclear') counts.unclear += 1;
      if (judged.code === 'country_unknown') counts.national += 1;
      if (judged.code === 'ip_list') counts.listed += 1;
      const isOne = (part: string) => isLikely?.(part, country) !== false;
      if (LISTS.has(judged.code) && text.split(PARTING).some(isOne)) counts.several += 1;
      if (BEYOND.has(judged.code)) counts.beyond += 1;
    }
    const isMaybe = isLikely?.(text, country) === true && !(isOther && isBare) && !isCard;
    if (isMaybe || (tells && (judged.state === 'value' || BEYOND.has(judged.code)))) tally.likely += 1;
  }
  return {...tally, ...counts};
}
