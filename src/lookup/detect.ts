import type {Row} from '../input/row.ts';
import type {CellRules} from '../operations/cell.ts';
import {type Intelligence, intelligenceNames, operations} from '../operations/table.ts';
import {type Column, columnsOf, type Headers} from './columns/column.ts';
import {type CountryChoices, chooseCountries, countryFor} from './columns/country-column.ts';
import {guessCountries} from './columns/country-guesses.ts';
import {type Aside, type Fault, type Guess, MOSTLY} from './columns/guess.ts';
import {namesFax, namesOtherDigits} from './columns/header.ts';
import {isShared} from './columns/shared-values.ts';
import {fieldPaths} from './field-paths.ts';

/** From this share on, the content alone speaks for a kind. */
const CONTENT_SPEAKS = 0.9;
/** Fewer values speak for nothing by themselves. */
const FEW_VALUES = 5;

/** What is known of a list before its columns are guessed. */
export interface ColumnHints extends Headers {
  /** The columns of phone numbers that are named, and those of countries. */
  readonly numbers?: readonly string[] | undefined;
  readonly countries?: readonly string[] | undefined;
  /** The country where no column says it. */
  readonly fallback?: string | undefined;
  readonly rules?: CellRules | undefined;
}

/** What was found out about a list's columns. */
export interface Detected {
  readonly guesses: readonly Guess[];
  /** The country column of each column of phone numbers. */
  readonly choices: CountryChoices;
}

/** Looks at header words and at the first rows: which column holds what, and how sure that is. */
export function detectColumns(
  given: readonly string[],
  sample: readonly Row[],
  known: ColumnHints = {},
): Detected {
  const found = sample.some(row => row.type === 'ndjson') ? fieldPaths(given, sample) : given;
  const {numbers = []} = known;
  const names = [...new Set([...found, ...numbers, ...(known.countries ?? [])])];
  const columns = columnsOf(names, given, known);
  const phones = columns.filter(
    ({name, says, isAnothers}) => numbers.includes(name) || (says.has('phone') && !isAnothers),
  );
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
  const others = guesses.filter(guess => !isOfFaint(guess)).map(guess => asideOthers(guess, guesses));
  const isPhone = others.some(({operation}) => operation === 'phone');
  return {guesses: isPhone ? [...countries, ...others] : others, choices};
}

/**
 * A column that is named as its kind and holds nothing of it stops no run that another column has the values for; and one whose
 * values are not the rows' own is not bought beside one whose values are.
 */
function asideOthers(guess: Guess, all: readonly Guess[]): Guess {
  const isEmpty = guess.confidence === 'unsure' && guess.aside === undefined && guess.ofKind === 0;
  const isSure = (other: Guess) => other.operation === guess.operation && other.confidence === 'sure';
  if (isEmpty && all.some(isSure)) return {...guess, aside: 'nothing'};
  return isShared(guess, all) ? {...guess, confidence: 'unsure', aside: 'shared'} : guess;
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
    values,
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
  return aside === undefined || aside === 'values' || aside === 'alike' || base.ofKind >= MOSTLY
    ? guess
    : undefined;
}

/** True if most values are what a header hints at; any digits may be a phone number, so that those have to be likely ones. */
function isConfirmed(operation: Intelligence, cells: ColumnCells, ofKind: number): boolean {
  const {isLikely, isTelling} = operations[operation];
  if (isLikely === undefined) return ofKind >= MOSTLY;
  const fits = (text: string, country: string | undefined) =>
    isTelling?.(text) === true || isLikely(text, country);
  return isShare(MOSTLY, cells, fits);
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

function asideOf({heading, isAnothers, isInList}: Column, {values, beyond}: ColumnTally): Aside | undefined {
  if (values > 0 && beyond === values) return 'unknowable';
  if (isAnothers) return namesFax(heading) ? 'fax' : 'another';
  return isInList ? 'list' : undefined;
}

function byName({values, valid, unclear, beyond}: ColumnTally): Guess['confidence'] {
  return values === 0 || (valid + unclear + beyond) / values >= MOSTLY ? 'sure' : 'unsure';
}

/** What its values alone say; `likely` where no header and no sign of their own makes them sure, `alike` where they may be something else. */
function byContent(
  operation: Intelligence,
  {heading}: Column,
  cells: ColumnCells,
  {values, valid, telling, beyond}: ColumnTally,
  headless: boolean,
): Guess['confidence'] | 'likely' | 'alike' | undefined {
  const {isTelling, isLikely} = operations[operation];
  const isMost = values >= FEW_VALUES && telling / values >= MOSTLY;
  // Where no header could say otherwise, a few values are enough if there is nothing else.
  const isEnough = values >= FEW_VALUES || (headless && telling === values);
  if (valid > 0 && (telling + beyond) / values >= CONTENT_SPEAKS && isEnough)
    return operations[operation].mayBeOthers?.(cells.map(([text]) => text)) === true ? 'alike' : 'sure';
  if (isLikely !== undefined && values >= FEW_VALUES) {
    const isOther = namesOtherDigits(heading, 'otherDigits');
    const isCard = namesOtherDigits(heading, 'cards');
    const fits = (text: string, country: string | undefined) =>
      !(isOther && /^\d+$/.test(text.trim())) &&
      !(isCard && isTelling?.(text) !== true) &&
      isLikely(text, country);
    if (isShare(CONTENT_SPEAKS, cells, fits)) return 'likely';
  }
  if (valid === 0) return undefined;
  if ((valid + beyond) / values < CONTENT_SPEAKS) return isMost ? 'unsure' : undefined;
  return isTelling === undefined ? 'unsure' : undefined;
}

type ColumnCells = readonly (readonly [text: string, country: string | undefined])[];
type ColumnTally = ReturnType<typeof tallyOf>;

/** Codes of addresses that the service knows nothing of. */
const BEYOND: ReadonlySet<string> = new Set(['ipv6_unsupported', 'ip_private']);

/** What a column's cells are, by the counts that a guess is made of. */
function tallyOf(operation: Intelligence, cells: ColumnCells, rules: CellRules | undefined, isKnown = false) {
  const {canonical, habits, isTelling} = operations[operation];
  const distinct = new Set<string>();
  const tally = {values: 0, valid: 0, telling: 0, national: 0, listed: 0, unclear: 0, beyond: 0, distinct};
  for (const [text, country] of cells) {
    const judged = canonical(text, country, rules);
    if (judged.state === 'empty') continue;
    tally.values += 1;
    distinct.add(judged.state === 'value' ? judged.value : text.trim());
    if (judged.state === 'value') {
      tally.valid += 1;
      if (isTelling?.(text) !== false) tally.telling += 1;
      continue;
    }
    // How the column is written is worth finding out only where single cells don't tell.
    if (judged.code === 'calling_code_unclear' && !isKnown)
      return tallyOf(operation, cells, {...rules, ...habits?.(cells)}, true);
    if (judged.code === 'calling_code_unclear') tally.unclear += 1;
    if (judged.code === 'country_unknown') tally.national += 1;
    if (judged.code === 'ip_list') tally.listed += 1;
    if (BEYOND.has(judged.code)) tally.beyond += 1;
  }
  return tally;
}
