import type {HeaderStructure} from '../../columns/recognize/column.ts';
import type {CountryColumns} from '../../columns/recognize/country-column.ts';
import {detectColumns} from '../../columns/recognize/detect.ts';
import {type ColumnGuess, lacksCountry, lacksListChoice} from '../../columns/recognize/guess.ts';
import {createCellReader, listNames} from '../../columns/targets.ts';
import {UsageError} from '../../errors.ts';
import type {Row} from '../../input/row.ts';
import {canonicalPhone} from '../../operations/phone.ts';
import {type Intelligence, intelligenceNames, joinWithOr, operations} from '../../operations/table.ts';

/** A column of the list that may be looked up, or that has the countries of phone numbers. */
export interface ProposedColumn {
  readonly operation: ColumnGuess['operation'];
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

/** A list as `init` sees it. */
export interface InspectedList {
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
  readonly headers?: HeaderStructure;
}

const BETWEEN =
  'phone numbers that may be of the countries in several columns: make a job for it alone, with country';

/**
 * Chooses the columns that surely hold values to look up.
 *
 * @throws {UsageError} if there is none.
 */
export function chooseInitColumns(seen: InspectedList): ProposedColumns {
  const {guesses, choices} = detectColumns(seen.columns, seen.rows, seen.headers);
  const chosen: ProposedColumn[] = [];
  const leftOut: ProposedColumn[] = [];
  const countries = guesses.filter(({operation}) => operation === 'country');
  const sureCountries = countries.filter(({verdict}) => verdict === 'sure').map(({column}) => column);
  const between = betweenCountries(countries, sureCountries);
  for (const guess of guesses) {
    const {operation, column, verdict} = guess;
    const why = describe(guess);
    if (between.has(column)) leftOut.push({operation, column, why: BETWEEN});
    else if (verdict === 'sure' || lacksListChoice(guess)) chosen.push({operation, column, why});
    else if (operation !== 'country' || !sureCountries.includes(column))
      leftOut.push({operation, column, why: lacksCountry(guess) ? `${why}${nameIt(guess)}` : why});
  }
  if (chosen.some(({operation}) => operation !== 'country'))
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

/**
 * Names of columns that the job leaves out: phone columns whose numbers may be of several columns' countries,
 * and those country columns. A country column that is sure for another phone column stays. Empty if no
 * country column is sure.
 */
function betweenCountries(countries: readonly ColumnGuess[], sure: readonly string[]): Set<string> {
  const unsure = countries.filter(({verdict}) => sure.length > 0 && verdict !== 'sure');
  const names = unsure.flatMap(({column, numbers = []}) => [column, ...numbers]);
  return new Set(names.filter(name => !sure.includes(name)));
}

function describe(guess: ColumnGuess): string {
  const {operation, share, national} = guess;
  if (operation === 'country') return 'countries of the phone numbers';
  if (lacksListChoice(guess)) return `${operations[operation as Intelligence].plural}, several in a cell`;
  if (lacksCountry(guess)) return `phone numbers in national form (${percent(national)} of its values)`;
  return `${guess.verdict === 'sure' ? '' : 'perhaps '}${operations[operation].plural} (${share === undefined ? 'no values yet' : `${percent(share)} of its values fit`})`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}

/** Advice on the lines to add to a job file for a column of national phone numbers. */
function nameIt({otherCountries: {fitting: country} = {named: []}}: ColumnGuess): string {
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
