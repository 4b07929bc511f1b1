import {operations} from '../operations/table.ts';
import {type ColumnGuess, lacksCountry} from './recognize/guess.ts';

/** Minimum share of fitting values for a column to be in a suggested command. */
const LEAST_WORTH_NAMING = 0.1;

/** The flags with which a suggested command names the guessed columns, sure and unsure ones. */
export function columnFlags(guesses: readonly ColumnGuess[]): string[] {
  const named = guesses.filter(({share, ofKind}) => share === undefined || ofKind >= LEAST_WORTH_NAMING);
  const flags = named.flatMap(({operation, column}) => [
    `--${operation}`,
    formatColumnChoice(operation, column, named.filter(one => one.operation === operation).length > 1),
  ]);
  const national = named.filter(lacksCountry);
  const isKnown = named.some(({operation}) => operation === 'country');
  // A country alone is nothing to look up.
  if (named.every(({operation}) => operation === 'country')) return [];
  return national.length === 0 || isKnown ? flags : [...flags, ...countryFlags(national)];
}

/**
 * The flag that gives the country of these phone columns: `--country` with the column that fits. If no column
 * fits, it is `--default-country COUNTRY`, and the user replaces COUNTRY.
 */
export function countryFlags(phones: readonly ColumnGuess[]): [string, string] {
  const [column, ...others] = new Set(phones.map(({country}) => country));
  return column === undefined || others.length > 0 ? ['--default-country', 'COUNTRY'] : ['--country', column];
}

/**
 * The column as a flag's value. A name with `=` gets an explicit prefix: `a=b` alone means column `a`, prefix `b`.
 * `isOneOfSeveral`: if the operation has further columns, each has its own name as prefix.
 */
export function formatColumnChoice(
  operation: ColumnGuess['operation'],
  column: string,
  isOneOfSeveral = false,
): string {
  if (operation === 'country' || !column.includes('=')) return column;
  return `${column}=${isOneOfSeveral ? `${column.replaceAll('=', '_')}_` : operations[operation].prefix}`;
}
