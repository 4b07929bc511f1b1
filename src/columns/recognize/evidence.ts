import type {CellRules} from '../../operations/cell.ts';
import {hasPhoneShape} from '../../operations/phone/phone-shape.ts';
import {type Intelligence, operations} from '../../operations/table.ts';
import type {Column} from './column.ts';
import {type CellFault, type ColumnGuess, HALF, mostFrequent, placeholderText, type Reason} from './guess.ts';
import {type HeaderMeaning, hasHeaderWord, namesFax} from './header.ts';

/** Share of a column's values that must show or suggest their kind to decide it without the header. */
const NEARLY_ALL = 0.9;

export interface ColumnCell {
  readonly row: number;
  readonly text: string;
  readonly country: string | undefined;
}

/** Share of values of a kind from which a column whose header has a word for it is named. */
const FEW = 0.1;

type ColumnEvidence = ReturnType<typeof gatherEvidence>;

/**
 * From a column's evidence to a verdict, for a list of one row as for one of a million: the first line that holds
 * decides, and without one the column is not spoken of. docs/formats.md has the table in words.
 */
const VERDICTS: readonly (readonly [
  holds: (evidence: ColumnEvidence) => boolean,
  ...verdict: ['sure' | 'ask'] | ['name', Reason],
])[] = [
  [e => e.isNamed && (e.values === 0 || e.fit >= HALF), 'sure'],
  [e => e.isNamed, 'ask'],
  [e => e.telling >= NEARLY_ALL && e.mayBeOthers, 'name', 'alike'],
  [e => e.telling >= NEARLY_ALL, 'sure'],
  [e => e.says === 'mentioned' && !e.areDigits && e.likely >= NEARLY_ALL && e.fit >= HALF, 'sure'],
  [e => e.perhaps >= HALF || (e.hasWord && e.ofKind >= HALF), 'name', 'values'],
  [e => e.hasWord && (e.shaped >= HALF || e.ofKind >= FEW), 'name', 'nothing'],
];

/** The guess that a column has values of this operation; undefined if nothing speaks for it. */
export function guessColumn(
  operation: Intelligence,
  column: Column,
  cells: readonly ColumnCell[],
  rules: CellRules | undefined,
): ColumnGuess | undefined {
  const judged = judgeCells(operation, column, cells, rules);
  const evidence = gatherEvidence(operation, column, judged, cells);
  const [, verdict, shown] = VERDICTS.find(([holds]) => holds(evidence)) ?? [];
  if (verdict === undefined) return undefined;
  const {values, share, national, listed, ofKind} = evidence;
  const distinct = new Set(judged.map(({value, text}) => value ?? text.trim()));
  const ownReason = reasonOfColumn(operation, column, judged, distinct);
  // A column with a reason of its own is reported only if its values mostly fit the kind.
  if (ownReason !== undefined && verdict !== 'name' && ofKind < HALF) return undefined;
  const meaning = column.says.get(operation);
  const isByValues = verdict === 'name' && shown !== 'nothing';
  const reason = ownReason ?? shown;
  return {
    ...{operation, column: column.name, cell: column.cell},
    ...{values, national, listed, ofKind, reason, distinct: distinct.size},
    verdict: reason === undefined ? verdict : 'name',
    share: values === 0 ? undefined : share,
    header: meaning === undefined || isByValues ? 'silent' : meaning.isPlain ? 'plain' : 'strange',
    fault: faultIn(judged),
  };
}

/** The facts that speak for one kind of value in a column. Shares are of the filled cells; placeholders are not values. */
function gatherEvidence(
  operation: Intelligence,
  {heading, says}: Column,
  judged: readonly JudgedCell[],
  cells: readonly ColumnCell[],
) {
  const {isTelling, isLikely, mayBeOthers} = operations[operation];
  const values = judged.length;
  const share = (holds: (cell: JudgedCell) => boolean) => judged.filter(holds).length / Math.max(1, values);
  const [isOther, isCard] = [hasHeaderWord(heading, 'otherDigits'), hasHeaderWord(heading, 'cards')];
  const tells = ({text}: JudgedCell) => isTelling?.(text) !== false;
  const isBare = ({text}: JudgedCell) => /^\d+$/.test(text.trim());
  const isFit = (cell: JudgedCell) => cell.value !== undefined || UNSURE(cell) || BEYOND(cell);
  const isOfKind = (cell: JudgedCell) => isFit(cell) || LACKING(cell) || LISTED(cell);
  const isLikelyOne = (cell: JudgedCell) =>
    (isLikely?.(cell.text, cell.country) === true && !(isOther && isBare(cell)) && !isCard) ||
    (tells(cell) && (cell.value !== undefined || BEYOND(cell)));
  // Once: it takes most of a short run's time.
  const likelyOnes = new Set(judged.filter(isLikelyOne));
  const isShaped = ({text}: JudgedCell) => isLikely !== undefined && hasPhoneShape(text.trim());
  const isSeveral = ({text, country}: JudgedCell) =>
    text.split(PARTING).some(part => isLikely?.(part, country) !== false);
  const [ofKind, likely] = [share(isOfKind), share(cell => likelyOnes.has(cell))];
  const areDigits = share(isBare) >= HALF || isOther || isCard;
  const word = strengthOf(says.get(operation), values > 0 && (isLikely ? likely : ofKind) >= HALF);
  /** Likely of the kind, or of its shape beside a header with a word of it. */
  const seems = (cell: JudgedCell) =>
    likelyOnes.has(cell) || (word !== 'silent' && !areDigits && isShaped(cell));
  return {
    ...{values, ofKind, likely, says: word},
    share: share(({value}) => value !== undefined),
    national: share(LACKING),
    listed: share(LISTED),
    /** Values that can be looked up, or lack only what the user can add, or the service does not know. */
    fit: share(isFit),
    telling: share(cell => BEYOND(cell) || (cell.value !== undefined && tells(cell))),
    shaped: share(isShaped),
    /** True if the header names the kind, or has a word of it that most values bear out. */
    isNamed: word === 'named' || (word === 'harmless' && share(seems) >= HALF),
    perhaps: share(cell => seems(cell) || (LISTED(cell) && isSeveral(cell))),
    /** True if the values are digits that may be something else, such as customer numbers. */
    areDigits,
    /** True if the values may be something that looks the same, such as versions. */
    mayBeOthers: mayBeOthers?.(distinctTexts(cells)) === true,
    /** True if the header has a word for the kind, and none for other digits: values with a fault are named. */
    hasWord: says.has(operation) && !isOther && !isCard,
  };
}

/**
 * `named`: the header names the kind, or hints at it and most values confirm it (almost any digits may be a phone number,
 * so they must be likely ones). `mentioned`: it has a word of the kind among words that may change its meaning;
 * `harmless`: those words are all known not to. `silent`: no such word.
 */
function strengthOf(says: HeaderMeaning | undefined, isConfirmed: boolean) {
  if (says === undefined) return 'silent';
  if (says.strength === 'hinted') return isConfirmed ? 'named' : 'silent';
  return says.strength === 'named' ? 'named' : says.isPlain ? 'harmless' : 'mentioned';
}

/** Header of copied mail recipients. For e-mail columns only: beside phones, `CC` means country code. */
const COPIED = /^(?:mail\W?)?cc$/i;

/** Minimum number of values of a column that is called masked by them. */
const FEW_VALUES = 5;

/** A reason to name the column, and not look it up, that its header or its values give, whatever the evidence. */
function reasonOfColumn(
  operation: Intelligence,
  {heading, isAnothers, isInList, says}: Column,
  judged: readonly JudgedCell[],
  distinct: ReadonlySet<string>,
): Reason | undefined {
  if (judged.length > 0 && judged.every(BEYOND)) return 'unknowable';
  if (isAnothers) return namesFax(heading) ? 'fax' : 'another';
  if (operation === 'email' && COPIED.test(heading)) return 'another';
  const areMasked = judged.length >= FEW_VALUES && operations[operation].areMasked?.([...distinct]) === true;
  if (hasHeaderWord(heading, 'masked') || areMasked) return 'masked';
  if (operation === 'ip' && says.get('ip')?.isPlain !== true && hasHeaderWord(heading, 'versions'))
    return 'alike';
  return isInList ? 'list' : undefined;
}

const PARTING = /:::|[,;|\r\n]|\s\/\s/;

/** Codes of cells that can be judged only with their column's habits: how it writes its values. */
const BY_HABIT = ['calling_code_unclear', 'leading_zero_lost', 'country_unknown', 'phone_list'];

interface JudgedCell extends ColumnCell {
  readonly value?: string;
  readonly code?: string;
}

const isOf =
  (...codes: readonly string[]) =>
  ({code}: JudgedCell) =>
    code !== undefined && codes.includes(code);

/** Addresses that the service knows nothing about, numbers without a country, in doubt, and cells with several values. */
const BEYOND = isOf('ipv6_unsupported', 'ip_private');
const LACKING = isOf('country_unknown');
const UNSURE = isOf('calling_code_unclear');
const LISTED = isOf('email_list', 'phone_list', 'ip_list');

function judgeCells(
  operation: Intelligence,
  {heading}: Column,
  cells: readonly ColumnCell[],
  rules: CellRules | undefined,
): JudgedCell[] {
  const {canonical, habits} = operations[operation];
  const judgeBy = (known: CellRules | undefined) =>
    cells.flatMap((cell): JudgedCell[] => {
      const read = canonical(cell.text, cell.country, known);
      if (read.state === 'value') return [{...cell, value: read.value}];
      return read.state === 'invalid' ? [{...cell, code: read.code}] : [];
    });
  const judged = judgeBy(rules);
  // Habits are slow to find. So this is done only if a cell can't be judged without them.
  if (habits === undefined || !judged.some(isOf(...BY_HABIT))) return judged;
  const shown = cells.map(({text, country}) => [text, country] as const);
  return judgeBy({...habits(shown, hasHeaderWord(heading, 'whole')), ...rules});
}

function faultIn(judged: readonly JudgedCell[]): CellFault | undefined {
  const {text: code} = mostFrequent(judged.flatMap(cell => cell.code ?? []));
  if (code === undefined) return undefined;
  const same = judged.filter(isOf(code));
  const text = placeholderText(
    same.map(cell => cell.text),
    judged.length,
  );
  return {code, row: same[0]?.row, text};
}

function distinctTexts(cells: readonly ColumnCell[]): string[] {
  return [...new Set(cells.map(({text}) => text.trim()))].filter(text => text !== '');
}
