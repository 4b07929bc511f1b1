import type {CellRules} from '../../operations/cell.ts';
import {hasPhoneShape} from '../../operations/phone/phone-shape.ts';
import {type Intelligence, operations} from '../../operations/table.ts';
import type {Column} from './column.ts';
import {
  type CellFault,
  CONFIRMING_SHARE,
  type ColumnGuess,
  LIST_CODES,
  mostFrequent,
  placeholderText,
  type Reason,
} from './guess.ts';
import {type HeaderMeaning, namesFax, hasHeaderWord as namesWord} from './header.ts';

/** Share of a column's values that must show or suggest their kind to decide it without the header. */
const NEARLY_ALL = 0.9;

/** A cell of a column, with the country of its row. */
export interface ColumnCell {
  readonly row: number;
  readonly text: string;
  readonly country: string | undefined;
}

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
  /** Number of cells with a phone number's shape, and of those that count beside a header with a word of the kind. */
  readonly shaped: number;
  readonly seeming: number;
  /** Number of cells with several values. */
  readonly several: number;
  /** True if all values are digits that may be something else, such as customer numbers. */
  readonly areOtherDigits: boolean;
  /** True if the values may be something that looks the same, such as versions. */
  readonly mayBeOthers: boolean;
  /** True if the header has a word for the kind, and none for other digits: values with a fault are named. */
  readonly hasWord: boolean;
}

/**
 * `named`: the header names the kind, or hints at it and most values confirm it. `mentioned`: it has a word of the kind
 * among words that may change its meaning; `harmless`: those words are all known not to. `silent`: no such word.
 */
type Header = 'named' | 'harmless' | 'mentioned' | 'silent';

const isHalf = ({values}: KindEvidence, count: number) => values > 0 && count >= CONFIRMING_SHARE * values;
const isNearlyAll = ({values}: KindEvidence, count: number) => values > 0 && count >= NEARLY_ALL * values;

/**
 * From a column's evidence to a verdict, for a list of one row as for one of a million: the first line that holds
 * decides, and without one the column is not spoken of. docs/formats.md has the table in words.
 */
const VERDICTS: readonly (readonly [
  holds: (evidence: KindEvidence) => boolean,
  ...verdict: ['sure' | 'ask'] | ['name', Reason],
])[] = [
  [e => e.header === 'named' && (e.values === 0 || isHalf(e, e.fit)), 'sure'],
  [e => e.header === 'named', 'ask'],
  [e => e.header === 'harmless' && isHalf(e, e.seeming) && isHalf(e, e.fit), 'sure'],
  [e => e.header === 'harmless' && isHalf(e, e.seeming), 'ask'],
  [e => isNearlyAll(e, e.telling) && e.mayBeOthers, 'name', 'alike'],
  [e => isNearlyAll(e, e.telling), 'sure'],
  [
    e => e.header === 'mentioned' && !e.areOtherDigits && isNearlyAll(e, e.likely) && isHalf(e, e.fit),
    'sure',
  ],
  [e => isHalf(e, e.seeming + e.several) || (e.hasWord && isHalf(e, e.ofKind)), 'name', 'values'],
  [
    e => e.hasWord && (isHalf(e, e.shaped) || (e.values > 0 && e.ofKind >= FEW * e.values)),
    'name',
    'nothing',
  ],
];

/** Share of values of a kind from which a column whose header has a word for it is named. */
const FEW = 0.1;

/** The guess that a column has values of this operation; undefined if nothing speaks for it. */
export function guessColumn(
  operation: Intelligence,
  column: Column,
  cells: readonly ColumnCell[],
  rules: CellRules | undefined,
): ColumnGuess | undefined {
  const judged = judgeCells(operation, column, cells, rules);
  const values = judged.length;
  const count = (holds: (cell: JudgedCell) => boolean) => judged.filter(holds).length;
  const of = (some: number) => (values === 0 ? 0 : some / values);
  const valid = count(({value}) => value !== undefined);
  const [national, listed] = [count(isOf('country_unknown')), count(isOf(...LIST_CODES))];
  const [unclear, beyond] = [count(isOf('calling_code_unclear')), count(isOf(...BEYOND))];
  const {isTelling, isLikely, mayBeOthers} = operations[operation];
  const several = count(cell => {
    const isOne = (part: string) => isLikely?.(part, cell.country) !== false;
    return isOf(...LIST_CODES)(cell) && cell.text.split(PARTING).some(isOne);
  });
  const tells = ({text}: JudgedCell) => isTelling?.(text) !== false;
  const isBare = ({text}: JudgedCell) => /^\d+$/.test(text.trim());
  const [isOther, isCard] = [namesWord(column.heading, 'otherDigits'), namesWord(column.heading, 'cards')];
  const likely = count(cell => {
    const isMaybe = isLikely?.(cell.text, cell.country) === true && !(isOther && isBare(cell)) && !isCard;
    return isMaybe || (tells(cell) && (cell.value !== undefined || isOf(...BEYOND)(cell)));
  });
  const single = valid + national + unclear + beyond;
  const ofKind = single + listed;
  const says = column.says.get(operation);
  const header = headerOf(operation, says, {values, likely, ofKind});
  const areOtherDigits = count(isBare) >= CONFIRMING_SHARE * values || isOther || isCard;
  const shaped = isLikely === undefined ? 0 : count(({text}) => hasPhoneShape(text.trim()));
  const evidence: KindEvidence = {
    ...{header, values, ofKind, several, shaped, likely, areOtherDigits},
    seeming: header === 'silent' || areOtherDigits ? likely : Math.max(likely, shaped),
    telling: count(cell => cell.value !== undefined && tells(cell)) + beyond,
    fit: valid + unclear + beyond,
    mayBeOthers: mayBeOthers?.(cells.map(({text}) => text)) === true,
    hasWord: says !== undefined && !isOther && !isCard,
  };
  const [, verdict, shown] = VERDICTS.find(([holds]) => holds(evidence)) ?? [];
  if (verdict === undefined) return undefined;
  const distinct = new Set(judged.map(({value, text}) => value ?? text.trim()));
  const own = ownReason(operation, column, judged, distinct);
  // A column with a reason of its own is reported only if its values mostly fit the kind.
  if (own !== undefined && verdict !== 'name' && of(ofKind) < CONFIRMING_SHARE) return undefined;
  const isSilent = says === undefined || (header !== 'named' && verdict === 'name' && shown !== 'nothing');
  const reason = own ?? shown;
  return {
    operation,
    column: column.name,
    verdict: reason === undefined ? verdict : 'name',
    reason,
    share: values === 0 ? undefined : of(valid),
    national: of(national),
    listed: of(listed),
    values,
    ofKind: of(Math.max(ofKind, shown === 'values' ? single + several : 0)),
    distinct: distinct.size,
    header: isSilent ? 'silent' : says.isPlain ? 'plain' : 'strange',
    fault: faultIn(judged),
  };
}

/** Almost any digits may be a phone number, so a hint at them needs values that are at least likely ones. */
function headerOf(
  operation: Intelligence,
  says: HeaderMeaning | undefined,
  {values, likely, ofKind}: Pick<KindEvidence, 'values' | 'likely' | 'ofKind'>,
): Header {
  if (says === undefined) return 'silent';
  if (says.strength === 'named') return 'named';
  const confirming = operations[operation].isLikely === undefined ? ofKind : likely;
  if (says.strength === 'hinted')
    return values > 0 && confirming >= CONFIRMING_SHARE * values ? 'named' : 'silent';
  return says.isPlain ? 'harmless' : 'mentioned';
}

/** Header of copied mail recipients. For e-mail columns only: beside phones, `CC` means country code. */
const COPIED = /^(?:mail\W?)?cc$/i;

/** Minimum number of values of a column that is called masked by them. */
const FEW_VALUES = 5;

/** A reason to name the column, and not look it up, that its header or its values give, whatever the evidence. */
function ownReason(
  operation: Intelligence,
  {heading, isAnothers, isInList, says}: Column,
  judged: readonly JudgedCell[],
  distinct: ReadonlySet<string>,
): Reason | undefined {
  if (judged.length > 0 && judged.every(isOf(...BEYOND))) return 'unknowable';
  if (isAnothers) return namesFax(heading) ? 'fax' : 'another';
  if (operation === 'email' && COPIED.test(heading)) return 'another';
  const areMasked = judged.length >= FEW_VALUES && operations[operation].areMasked?.([...distinct]) === true;
  if (namesWord(heading, 'masked') || areMasked) return 'masked';
  if (operation === 'ip' && says.get('ip')?.isPlain !== true && namesWord(heading, 'versions'))
    return 'alike';
  return isInList ? 'list' : undefined;
}

/** Codes of addresses that the service knows nothing about. */
const BEYOND = ['ipv6_unsupported', 'ip_private'];

/** Characters between several values in a cell. */
const PARTING = /:::|[,;|\r\n]|\s\/\s/;

/** Codes of cells that can be judged only with their column's habits: how it writes its values. */
const BY_HABIT = ['calling_code_unclear', 'leading_zero_lost', 'country_unknown', 'phone_list'];

/** A filled cell: its canonical value, or the code of its fault. */
interface JudgedCell extends ColumnCell {
  readonly value?: string;
  readonly code?: string;
}

const isOf =
  (...codes: readonly string[]) =>
  ({code}: JudgedCell) =>
    code !== undefined && codes.includes(code);

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
  return judgeBy({...habits(shown, namesWord(heading, 'whole')), ...rules});
}

/** The most frequent fault of a column's cells. */
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
