import type {Row} from '../input/row.ts';
import type {CellRules} from '../operations/cell.ts';
import {type Intelligence, intelligenceNames, operations} from '../operations/table.ts';
import {type Column, columnsOf} from './columns/column.ts';
import {type CountryChoice, chooseCountries, countryFor} from './columns/country-column.ts';
import {namesFax, namesOtherDigits} from './columns/header.ts';
import {type ColumnCells, type ColumnTally, tallyOf} from './columns/tally.ts';
import {fieldPaths} from './field-paths.ts';

/** What a column seems to hold, and why. */
export interface Guess {
  readonly operation: Intelligence | 'country';
  readonly column: string;
  /** `sure` is used without asking; `unsure` wants a flag. */
  readonly confidence: 'sure' | 'unsure';
  /** Why an unsure column is passed over where others are sure; undefined where the run asks about it first. */
  readonly aside?: Aside | undefined;
  /** Share of the sample's non-empty cells that can be such a value, 0 to 1; undefined where all were empty. */
  readonly share: number | undefined;
  /** Share of those cells that lack nothing but their country: phone numbers in national form. */
  readonly national: number;
  /** Share of those cells that hold several IP addresses. */
  readonly listed: number;
  /** Share of those cells that are of its kind in any way. */
  readonly ofKind: number;
  /** Number of those cells that can be such a value, and of distinct values in them. */
  readonly valid: number;
  readonly distinct: number;
  readonly byHeader: boolean;
  /** What most of those cells are that are no such value, and the first row that shows it. */
  readonly fault?: Fault | undefined;
  /** The columns of phone numbers that a column of countries was chosen for, or may be. */
  readonly numbers?: readonly string[] | undefined;
  /** The first row that shows why a column of countries is unsure, where one does. */
  readonly row?: number | undefined;
}

/**
 * Reasons to pass over a column:
 *
 * - `another`, `fax`: its header names another party than the row's person, or a fax.
 * - `repeated`: few values stand in all of its rows, and another column of its kind has a value for each row. Such are a
 *   manager's, a seller's or an office's.
 * - `values`: only its values speak for it.
 * - `list`: it is the first entry of a list.
 * - `unknowable`: the service knows nothing of its addresses.
 * - `alike`: its values may be something else that is written alike.
 * - `nothing`: it has no value of its kind, and another column has.
 */
export type Aside = 'another' | 'fax' | 'repeated' | 'values' | 'list' | 'unknowable' | 'alike' | 'nothing';

export interface Fault {
  readonly code: string;
  readonly row: number | undefined;
}

/** From this share on, the content alone speaks for a kind, or confirms a header. */
const CONTENT_SPEAKS = 0.9;
const CONTENT_CONFIRMS = 0.5;
/** Fewer values speak for nothing by themselves. */
const FEW_VALUES = 5;
/** From so many rows for each of its values on, a column is another party's than one with so many times its values. */
const REPEATED = 2.5;

/** What is known of a list before its columns are guessed. */
export interface ColumnHints {
  /** The columns of countries. */
  readonly countries?: readonly string[] | undefined;
  /** The country where no column says it. */
  readonly fallback?: string | undefined;
  readonly rules?: CellRules | undefined;
  /** Whether columns have numbers for names, which say nothing. */
  readonly headless?: boolean;
}

/** Looks at header words and at the first rows: which column holds what, and how sure that is. */
export function detectColumns(
  given: readonly string[],
  sample: readonly Row[],
  known: ColumnHints = {},
): Guess[] {
  const names = sample.some(row => row.type === 'ndjson') ? fieldPaths(given, sample) : given;
  const columns = columnsOf(names, given, known.headless);
  const phones = columns.filter(({says, isAnothers}) => says.has('phone') && !isAnothers);
  const choices = chooseCountries(columns, phones, sample, known.countries);
  const chosen = choices.of.size > 0 ? [...choices.of] : [[undefined, choices.others] as const];
  const countries = known.countries === undefined ? guessCountries(chosen) : [];
  const detected = intelligenceNames.filter(name => operations[name].isDetected);
  const guesses = columns.flatMap(column => {
    const choice = countryFor(choices, column.name);
    const countryCell = choice !== undefined && 'found' in choice ? choice.found.column.cell : undefined;
    const cells = sample.map(row => [column.cell(row) ?? '', countryCell?.(row) || known.fallback] as const);
    const some = detected.flatMap(name => guessColumn(name, column, cells, known) ?? []);
    return best(some).map(guess => ({...guess, fault: faultOf(guess, cells, sample, known)}));
  });
  const isOfFaint = (guess: Guess) =>
    isFaint(guess) && guesses.some(other => other.operation === guess.operation && !isFaint(other));
  return [
    ...countries,
    ...guesses.filter(guess => !isOfFaint(guess)).map(guess => asideOthers(guess, guesses)),
  ];
}

/** A column that is named as its kind and holds nothing of it stops no run that another column has the values for. */
function asideOthers(guess: Guess, all: readonly Guess[]): Guess {
  const isEmpty = guess.confidence === 'unsure' && guess.aside === undefined && guess.ofKind === 0;
  const sure = all.filter(
    other => other !== guess && other.operation === guess.operation && other.confidence === 'sure',
  );
  if (isEmpty && sure.length > 0) return {...guess, aside: 'nothing'};
  return guess.confidence === 'sure' && isRepeatedBeside(guess, sure)
    ? {...guess, confidence: 'unsure', aside: 'repeated'}
    : guess;
}

/** True for few values in many rows beside another column with a value of its own for nearly each of them. */
function isRepeatedBeside({valid, distinct}: Guess, others: readonly Guess[]): boolean {
  const isRepeated = (valid >= FEW_VALUES || distinct === 1) && valid >= REPEATED * distinct;
  return isRepeated && others.some(other => other.distinct >= REPEATED * distinct);
}

/** What is told of a column that asks for a person: most cells' fault. */
function faultOf(
  {operation, confidence}: Guess,
  cells: ColumnCells,
  sample: readonly Row[],
  {rules}: ColumnHints,
): Fault | undefined {
  if (confidence === 'sure' || operation === 'country') return undefined;
  const codes = cells.map(([text, country]) => {
    const judged = operations[operation].canonical(text, country, rules);
    return judged.state === 'invalid' ? judged.code : undefined;
  });
  const count = (code: string | undefined) => codes.filter(other => other === code).length;
  const [code] = [...new Set(codes)].filter(found => found !== undefined).sort((a, b) => count(b) - count(a));
  return code === undefined ? undefined : {code, row: sample[codes.indexOf(code)]?.record};
}

/** The surest, and of those one that its header names. */
function best(some: readonly Guess[]): Guess[] {
  return [...some]
    .sort(
      (a, b) =>
        Number(b.confidence === 'sure') - Number(a.confidence === 'sure') ||
        Number(a.aside !== undefined) - Number(b.aside !== undefined) ||
        Number(b.byHeader) - Number(a.byHeader),
    )
    .slice(0, 1);
}

/** What only most of its values speak for is mentioned where nothing else is of its kind. */
function isFaint({byHeader, confidence, ofKind}: Guess): boolean {
  return !byHeader && confidence === 'unsure' && ofKind < CONTENT_SPEAKS;
}

function guessColumn(
  operation: Intelligence,
  column: Column,
  cells: ColumnCells,
  {rules, headless = false}: ColumnHints,
): Guess | undefined {
  const tally = tallyOf(operation, cells, rules);
  const {values, valid, national, listed, unclear, beyond} = tally;
  const of = (count: number) => (values === 0 ? 0 : count / values);
  const says = column.says.get(operation)?.strength;
  const base = {
    operation,
    column: column.name,
    share: values === 0 ? undefined : of(valid),
    national: of(national),
    listed: of(listed),
    ofKind: of(valid + national + listed + unclear + beyond),
    valid,
    distinct: tally.distinct.size,
  };
  const byHeader = says === 'named' || (says === 'hinted' && isConfirmed(operation, cells, base.ofKind));
  const confidence = byHeader ? byName(tally) : byContent(operation, column, cells, tally, headless);
  if (confidence === undefined) return undefined;
  const aside =
    asideOf(column, tally) ??
    (confidence === 'likely' ? 'values' : confidence === 'alike' ? 'alike' : undefined);
  const guess = {
    ...base,
    byHeader,
    confidence: confidence === 'sure' && aside === undefined ? 'sure' : 'unsure',
    aside,
  } as const;
  // Another's column that holds something else is nobody's business.
  return aside === undefined || aside === 'values' || aside === 'alike' || base.ofKind >= CONTENT_CONFIRMS
    ? guess
    : undefined;
}

/** True if most values are what a header hints at; any digits may be a phone number, so that those have to be likely ones. */
function isConfirmed(operation: Intelligence, cells: ColumnCells, ofKind: number): boolean {
  const {isLikely, isTelling} = operations[operation];
  if (isLikely === undefined) return ofKind >= CONTENT_CONFIRMS;
  const fits = (text: string, country: string | undefined) =>
    isTelling?.(text) === true || isLikely(text, country);
  return isShare(CONTENT_CONFIRMS, cells, fits);
}

/** True if so many of the cells that hold something fit; no more of them are looked at than that takes. */
function isShare(
  share: number,
  cells: ColumnCells,
  fits: (text: string, country: string | undefined) => boolean,
): boolean {
  const filled = cells.filter(([text]) => text.trim() !== '');
  let misfits = 0;
  return (
    filled.length > 0 &&
    filled.every(([text, country]) => {
      if (!fits(text, country)) misfits += 1;
      return misfits <= (1 - share) * filled.length;
    })
  );
}

function asideOf({name, isAnothers, isInList}: Column, {values, beyond}: ColumnTally): Aside | undefined {
  if (values > 0 && beyond === values) return 'unknowable';
  if (isAnothers) return namesFax(name) ? 'fax' : 'another';
  return isInList ? 'list' : undefined;
}

function byName({values, valid, unclear, beyond}: ColumnTally): Guess['confidence'] {
  return values === 0 || (valid + unclear + beyond) / values >= CONTENT_CONFIRMS ? 'sure' : 'unsure';
}

/** What its values alone say; `likely` where no header and no sign of their own makes them sure, `alike` where they may be something else. */
function byContent(
  operation: Intelligence,
  {name}: Column,
  cells: ColumnCells,
  {values, valid, telling, beyond}: ColumnTally,
  headless: boolean,
): Guess['confidence'] | 'likely' | 'alike' | undefined {
  const {isTelling, isLikely} = operations[operation];
  const isMost = values >= FEW_VALUES && telling / values >= CONTENT_CONFIRMS;
  // Where no header could say otherwise, a few values are enough if there is nothing else.
  const isEnough = values >= FEW_VALUES || (headless && telling === values);
  if (valid > 0 && (telling + beyond) / values >= CONTENT_SPEAKS && isEnough)
    return operations[operation].mayBeOthers?.(cells.map(([text]) => text)) === true ? 'alike' : 'sure';
  if (isLikely !== undefined && values >= FEW_VALUES) {
    const isOther = namesOtherDigits(name);
    const fits = (text: string, country: string | undefined) =>
      !(isOther && /^\d+$/.test(text.trim())) && isLikely(text, country);
    if (isShare(CONTENT_SPEAKS, cells, fits)) return 'likely';
  }
  if (valid === 0) return undefined;
  if ((valid + beyond) / values < CONTENT_SPEAKS) return isMost ? 'unsure' : undefined;
  return isTelling === undefined ? 'unsure' : undefined;
}

/** The columns that were chosen, each once; of those that can't be told apart, all. */
function guessCountries(
  choices: readonly (readonly [phone: string | undefined, choice: CountryChoice])[],
): Guess[] {
  const guesses = choices.flatMap(([phone, choice]) => {
    if (choice === undefined) return [];
    const confidence = 'found' in choice ? ('sure' as const) : ('unsure' as const);
    const row = 'found' in choice ? undefined : choice.row;
    const some = 'found' in choice ? [choice.found] : choice.torn;
    return some.map(
      ({column, share}): Guess => ({
        operation: 'country',
        column: column.name,
        confidence,
        share,
        national: 0,
        listed: 0,
        ofKind: share,
        valid: 0,
        distinct: 0,
        byHeader: true,
        numbers: phone === undefined ? [] : [phone],
        row,
      }),
    );
  });
  const byName = new Map<string, Guess>();
  for (const guess of guesses) {
    const name = `${guess.confidence} ${guess.column}`;
    const before = byName.get(name);
    byName.set(name, {...guess, ...before, numbers: [...(before?.numbers ?? []), ...(guess.numbers ?? [])]});
  }
  return [...byName.values()];
}

/** Whether a column is unsure for nothing but the country of its numbers. */
export function lacksCountry({confidence, share = 0, national}: Guess): boolean {
  return national > 0 && confidence === 'unsure' && share + national >= CONTENT_CONFIRMS;
}

/** Whether a column is unsure for nothing but which of several addresses in a cell is meant. */
export function lacksChoice({confidence, share = 0, listed}: Guess): boolean {
  return listed > 0 && confidence === 'unsure' && share + listed >= CONTENT_CONFIRMS;
}
