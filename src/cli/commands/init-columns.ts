import type {HeaderStructure} from '../../columns/recognize/column.ts';
import type {CountryColumns} from '../../columns/recognize/country-column.ts';
import {detectColumns} from '../../columns/recognize/detect.ts';
import {type ColumnGuess, countriesOf, lacksCountry, lacksListChoice} from '../../columns/recognize/guess.ts';
import {createCellReader, listNames} from '../../columns/targets.ts';
import {UsageError} from '../../errors.ts';
import type {Row} from '../../input/row.ts';
import {canonicalPhone} from '../../operations/phone.ts';
import {type Intelligence, intelligenceNames, joinWithOr, operations} from '../../operations/table.ts';

/** A column of the list that may be looked up, or that has the countries of phone numbers. */
export interface ProposedColumn {
  readonly operation: Intelligence | 'country';
  readonly column: string;
  /** Kind and share of its values, or the reason why it is left out. */
  readonly why: string;
}

/** Settings of a job as far as the list shows them. */
export interface ProposedColumns {
  readonly chosen: readonly ProposedColumn[];
  readonly leftOut: readonly ProposedColumn[];
  /** True if cells of a chosen column have several values: the first is looked up. */
  readonly hasSeveral: boolean;
  /** True if some phone numbers are in national form, and no column has their country. */
  readonly lacksCountries: boolean;
}

export interface InspectedList {
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
  readonly headers?: HeaderStructure;
}

const BETWEEN =
  'phone numbers that may be of the countries in several columns: make a job for it alone, with country';

const COUNTRIES = 'countries of the phone numbers';

/** Chooses the columns that surely hold values to look up. Throws UsageError if there is none. */
export function chooseInitColumns(seen: InspectedList): ProposedColumns {
  const {guesses, choices} = detectColumns(seen.columns, seen.rows, seen.headers);
  const isTorn = ({country}: ColumnGuess) => country !== undefined && country.found === undefined;
  const isSure = (guess: ColumnGuess) => guess.verdict === 'sure' || lacksListChoice(guess);
  const sure = guesses.filter(guess => isSure(guess) && !isTorn(guess));
  const countries = countriesOf(sure);
  // Without any other country column, the run asks for that of such numbers.
  const looked = countries.length > 0 ? sure : guesses.filter(isSure);
  const between = countries.length > 0 ? BETWEEN : COUNTRIES;
  const torn = new Set(
    guesses.filter(isTorn).flatMap(({country}) => country?.columns.map(({name}) => name) ?? []),
  );
  const propose = ({operation, column}: ColumnGuess, why: string): ProposedColumn => ({
    operation,
    column,
    why,
  });
  const asCountry = (why: string) => (column: string) => ({operation: 'country', column, why}) as const;
  const whyLeftOut = (guess: ColumnGuess) =>
    isTorn(guess) ? between : `${describe(guess)}${lacksCountry(guess) ? adviseCountry(guess) : ''}`;
  const chosen = [
    ...looked.map(guess => propose(guess, describe(guess))),
    ...countries.map(asCountry(COUNTRIES)),
  ];
  const leftOut = [
    ...guesses.filter(guess => !looked.includes(guess)).map(guess => propose(guess, whyLeftOut(guess))),
    ...[...torn].filter(name => !countries.includes(name)).map(asCountry(between)),
  ];
  if (looked.length > 0)
    return {
      chosen,
      leftOut,
      hasSeveral: guesses.some(lacksListChoice),
      lacksCountries: hasNationalNumbers(chosen, choices, seen),
    };
  const unsure = leftOut.map(({column, why}) => `"${column}", ${why}`).join('; ');
  const kinds = joinWithOr(intelligenceNames.map(name => operations[name].plural));
  throw new UsageError(
    'no_columns',
    leftOut.length > 0
      ? `No column is looked up for sure: ${unsure}.`
      : `No column looks like ${kinds} (columns: ${listNames(seen.columns)}).`,
  );
}

function describe(guess: ColumnGuess): string {
  const {operation, share, national} = guess;
  if (lacksListChoice(guess)) return `${operations[operation].plural}, several in a cell`;
  if (lacksCountry(guess)) return `phone numbers in national form (${percent(national)} of its values)`;
  return `${guess.verdict === 'sure' ? '' : 'perhaps '}${operations[operation].plural} (${share === undefined ? 'no values yet' : `${percent(share)} of its values fit`})`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}

/** Advice on the lines to add to a job file for a column of national phone numbers. */
function adviseCountry({otherCountries: {fitting: country} = {named: []}}: ColumnGuess): string {
  return `: add it as phone, with ${country === undefined ? 'a default_country' : `country: ${country}`}`;
}

/** True if some rows have a phone number in national form, and no country for that number. */
function hasNationalNumbers(
  chosen: readonly ProposedColumn[],
  choices: CountryColumns,
  {columns, rows}: InspectedList,
): boolean {
  return chosen.some(({operation, column}) => {
    const cell = createCellReader(column, columns);
    const country = choices.of(column)?.found?.cell;
    const lacksIts = (row: Row) => {
      const read = canonicalPhone(cell(row) ?? '', country?.(row));
      return read.state === 'invalid' && read.code === 'country_unknown';
    };
    return operation === 'phone' && rows.some(lacksIts);
  });
}
