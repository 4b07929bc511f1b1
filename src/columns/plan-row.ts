import type {Row} from '../input/row.ts';
import {
  type CellResult,
  type InternalFailure,
  type Lookup,
  lookupForRequest,
  makeInternalFailure,
} from '../ledger/lookup-outcome.ts';
import type {CanonicalCell, CellRules, RepairCode} from '../operations/cell.ts';
import {rowCountry} from '../operations/country.ts';
import {RecentValues} from '../operations/memoize.ts';
import type {IntelligenceSpec} from '../operations/operation.ts';
import {operations} from '../operations/table.ts';
import {perVerifyInput, type VerifyInput, verifyInputNames} from '../operations/verify.ts';
import {hasHeaderWord} from './recognize/header.ts';
import {createHeaderVocabulary, tokenize} from './recognize/vocabulary.ts';
import type {CellReader, Target} from './targets.ts';

export type PlannedCell =
  | Extract<CellResult, {status: 'empty' | 'invalid' | 'skipped'}>
  | InternalFailure
  | {readonly status: 'ask'; readonly lookup: Lookup; readonly repairs?: readonly RepairCode[]};

/** The other cells and the settings on which a target's lookup depends. */
export interface PlanInputs {
  /** Returns the reader of a phone column's countries; undefined if the column has no country column. */
  readonly countryOf?: ((column: string) => CellReader | undefined) | undefined;
  readonly defaultCountry?: string | undefined;
  readonly rules?: CellRules | undefined;
  readonly verdict?: VerdictCellReaders | undefined;
}

export type VerdictCellReaders = {readonly actionId: string; readonly country?: CellReader | undefined} & {
  readonly [Name in VerifyInput]?: CellReader | undefined;
};

/** Plans a row: a cell for each target. Pure: depends on the row, and on how the first rows write values. */
export type RowPlanner = (row: Row) => PlannedCell[];

/** Makes a planner of rows. `first`: the first rows of the list, which show how its columns write their values. */
export function createRowPlanner(
  targets: readonly Target[],
  cells: PlanInputs,
  first: readonly Row[] = [],
): RowPlanner {
  const plans = targets.map(target => planOf(target, cells, first));
  const isFooter = footersOf(first);
  return row => {
    const planned = plans.map(plan => plan(row));
    const isBelow = row.type === 'csv' && row.isFooter === true;
    return isBelow || isFooter(row)
      ? planned.map(cell => (cell.status === 'empty' ? cell : FOOTER))
      : planned;
  };
}

/** Returns the list's rules together with one column's habits: how it usually writes its values. */
function rulesOf(
  habits: IntelligenceSpec['habits'],
  {column = '', cell}: {readonly column?: string; readonly cell?: CellReader | undefined},
  country: CountryOf,
  cells: PlanInputs,
  first: readonly Row[],
): CellRules {
  const shown = first.map(row => [cell?.(row) ?? '', country(row)] as const);
  return {...habits?.(shown, hasHeaderWord(column, 'whole')), ...cells.rules};
}

/** The repairs of each cell of a row; undefined if no cell was repaired, as in most rows. */
export function listRepairs(planned: readonly PlannedCell[]): readonly (readonly RepairCode[])[] | undefined {
  const isRepaired = planned.some(cell => cell.status === 'ask' && cell.repairs !== undefined);
  return isRepaired ? planned.map(cell => (cell.status === 'ask' ? (cell.repairs ?? []) : [])) : undefined;
}

const EMPTY: PlannedCell = {status: 'empty'};
const FOOTER: PlannedCell = {status: 'skipped', error: 'footer'};

function planOf(
  {operation, column, cell}: Target,
  cells: PlanInputs,
  first: readonly Row[],
): (row: Row) => PlannedCell {
  const spec = operations[operation];
  if ('beside' in spec) {
    const country = countryFrom(cells.verdict?.country, cells.defaultCountry);
    const rulesBeside = perVerifyInput(({name, habits}) =>
      rulesOf(habits, {cell: cells.verdict?.[name]}, country, cells, first),
    );
    return row =>
      planned(spec.canonical(cell(row) ?? '', undefined, cells.rules), found =>
        askWithBeside(spec, found, row, country(row), cells, rulesBeside),
      );
  }
  const country = countryFrom(cells.countryOf?.(column), cells.defaultCountry);
  const rules = rulesOf(spec.habits, {column, cell}, country, cells, first);
  const judge: JudgeCell = (text, country) =>
    planned(spec.canonical(text, country, rules), ({value, repairs}) =>
      toAsk(lookupForRequest(operation, {[spec.field]: value}), repairs),
    );
  const judgeOnce = operation === 'phone' ? remembering(judge) : judge;
  return row => {
    const text = cell(row);
    return text === undefined ? EMPTY : judgeOnce(text, country(row));
  };
}

type JudgeCell = (text: string, country: string | undefined) => PlannedCell;
type CanonicalValue = Extract<CanonicalCell, {readonly state: 'value'}>;

function planned(canonical: CanonicalCell, ask: (value: CanonicalValue) => PlannedCell): PlannedCell {
  switch (canonical.state) {
    case 'empty':
      return EMPTY;
    case 'invalid':
      return {status: 'invalid', error: canonical.code};
    case 'broken':
      return makeInternalFailure(canonical.thrown);
    case 'value':
      return ask(canonical);
    default:
      return canonical satisfies never;
  }
}

/** Maximum bytes of remembered cells, about 16,000, and those of one: a lookup, its key and their container. */
const REMEMBERED_BYTES = 4_000_000;
const CELL_BYTES = 150;

/** Remembers the planned cells of phone numbers: judging one takes ten times as long as finding it here. */
function remembering(judge: JudgeCell): JudgeCell {
  const known = new RecentValues<PlannedCell>(REMEMBERED_BYTES, () => CELL_BYTES);
  return (text, country) => {
    const name = country === undefined ? text : `${country}\0${text}`;
    const before = known.get(name);
    if (before !== undefined) return before;
    const cell = judge(text, country);
    known.set(name, cell);
    return cell;
  };
}

function toAsk(lookup: Lookup, repairs: readonly RepairCode[] = []): PlannedCell {
  return {status: 'ask', lookup, ...(repairs.length > 0 && {repairs: [...new Set(repairs)]})};
}

type CountryOf = (row: Row) => string | undefined;

function countryFrom(country: CellReader | undefined, defaultCountry: string | undefined): CountryOf {
  return row => rowCountry(country?.(row), defaultCountry);
}

/** Plans the lookup of a session token. Other valid values of the row are sent with it (`beside`). */
function askWithBeside(
  {name: operation, field, beside}: typeof operations.verify,
  {value, repairs = []}: CanonicalValue,
  row: Row,
  country: string | undefined,
  {verdict}: PlanInputs,
  rules: Readonly<Record<VerifyInput, CellRules>>,
): PlannedCell {
  const params: Record<string, string> = {action_id: verdict?.actionId ?? '', [field]: value};
  const all = [...repairs];
  for (const name of verifyInputNames) {
    const {param, canonical} = beside[name];
    const read = canonical(verdict?.[name]?.(row) ?? '', country, rules[name]);
    if (read.state === 'broken') return makeInternalFailure(read.thrown);
    if (read.state !== 'value') continue;
    params[param] = read.value;
    all.push(...(read.repairs ?? []));
  }
  return toAsk(lookupForRequest(operation, params), all);
}

const FEW_ROWS = 5;
const USUALLY = 0.8;
/** Minimum number of usually filled columns that a note without a label leaves empty. */
const SEVERAL = 2;

/**
 * Returns a test for rows below a list: totals, and notes such as `Exported by,jo@example.com,`. Their values
 * belong to no person of the list. There are two forms of such rows:
 *
 * - The row begins with a label, and a column is empty that the first rows usually fill.
 * - The row begins with text in a column of numbers, and at least two usually filled columns are empty.
 */
function footersOf(first: readonly Row[]): (row: Row) => boolean {
  const isNote = (fields: readonly string[]) => {
    const text = fields.find(isFilled);
    return text === undefined || isLabel(text);
  };
  const tables = first.filter(row => row.type === 'csv').filter(({fields}) => !isNote(fields));
  if (tables.length < FEW_ROWS) return () => false;
  const columns = (tables[0]?.fields ?? []).map((_, at) => at);
  const mostly = (holds: (text?: string) => boolean) =>
    columns.filter(at => tables.filter(({fields}) => holds(fields[at])).length >= USUALLY * tables.length);
  const usual = mostly(isFilled);
  const numbered = mostly(hasDigit);
  const isOdd = (fields: readonly string[]) => {
    const at = fields.findIndex(isFilled);
    return numbered.includes(at) && !hasDigit(fields[at]);
  };
  return row => {
    if (row.type !== 'csv') return false;
    const empty = usual.filter(at => !isFilled(row.fields[at])).length;
    return (empty > 0 && isNote(row.fields)) || (empty >= SEVERAL && isOdd(row.fields));
  };
}

const isFilled = (text = '') => text.trim() !== '';
const hasDigit = (text = '') => /\d/.test(text);

/** True for the label of a note about the list, or of a total: then it is all that the text says, except numbers. */
function isLabel(text: string): boolean {
  if (/[:：]\s*$/.test(text)) return true;
  const tokens = tokenize(text);
  if (createHeaderVocabulary('notes').matches(tokens, 0).length > 0) return true;
  const words = tokens.filter(token => !/^\d+$/.test(token));
  return createHeaderVocabulary('totals')
    .matches(words, 0)
    .some(({length}) => length === words.length);
}
