import {UsageError} from '../errors.ts';
import type {InputFormat, Row} from '../input/row.ts';
import type {CodeText} from '../operations/operation.ts';
import {hasPhoneShape} from '../operations/phone/phone-shape.ts';
import {intelligenceNames, joinWithOr, operations} from '../operations/table.ts';
import type {Summary} from '../report/summary.ts';
import {type Said, type Sentence, say, sayFlags, setting, shellWord} from '../sentence.ts';
import {refuseJsonText, refuseTransposedList, refuseWrappedRows} from './misshapen-lists.ts';
import {
  type ColumnGuess,
  columnFlags,
  countriesOf,
  countryFlags,
  formatColumnChoice,
  lacksCountry,
  lacksListChoice,
  reasonOf,
} from './recognize/guess.ts';
import {listNames} from './targets.ts';

interface FirstRows {
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
  readonly header?: readonly string[] | undefined;
  /** The default country. */
  readonly country?: string | undefined;
}

/**
 * @throws {UsageError} for a column with the verdict `ask`, or if no column is sure. It has the flags that name the
 * columns.
 */
export function refuseUnsureColumns(
  guesses: readonly ColumnGuess[],
  {columns, rows, header, country}: FirstRows,
  doubt: string | undefined,
  path: string,
): void {
  const meant = guesses.filter(({verdict}) => verdict !== 'name');
  const torn = meant.filter(guess => guess.country !== undefined && guess.country.found === undefined);
  if (torn.length > 0) throw tornCountries(torn, meant);
  const unsure = meant.find(({verdict}) => verdict === 'ask');
  if (unsure === undefined && meant.length > 0) return;
  refuseTransposedList(columns, rows, header);
  const offered = guesses.filter(guess => reasonOf(guess).isOffered);
  if (unsure !== undefined) {
    const others = meant.filter(guess => guess !== unsure);
    if (lacksCountry(unsure)) throw nationalForm(unsure, others, doubt);
    if (lacksListChoice(unsure)) throw listedForm(unsure);
    if (unsure.country?.found !== undefined && OUTSIDE.has(unsure.fault?.code ?? ''))
      throw ofOtherCountry(unsure, unsure.country.found.name, columnFlags(others, []));
    throw mayHold(unsure, columnFlags([...meant, ...offered]));
  }
  refuseWrappedRows(rows, path);
  if (guesses.length === 0) refuseJsonText(columns, rows, path);
  else {
    const none = say`No column is looked up for sure.`;
    const said = guesses.reduce((all, guess) => say`${all} ${describePassedOver(guess)}`, none);
    if (offered.length > 0) throw unsureColumn(said, columnFlags(offered));
    const flags = columnFlags(guesses.filter(isAddable), countriesOf(guesses));
    const next =
      flags.length > 0 ? '' : say` If another column has such values, name it with ${anyLookup()}.`;
    throw new UsageError('column_unsure', say`${said}${next}`, {flags, isDoubtful: true});
  }
  throw noColumns(columns, rows, country);
}

/** The error for a list without a column of values. It offers columns of bare digits, which may be phone numbers. */
function noColumns(
  columns: readonly string[],
  rows: readonly Row[],
  country: string | undefined,
): UsageError {
  const isShaped = (row: Row, at: number) =>
    row.type === 'csv' && hasPhoneShape(row.fields[at]?.trim() ?? '');
  const shaped = columns.filter((_, at) => rows.every(row => isShaped(row, at)));
  const flags = [
    ...shaped.flatMap(name => ['--phone', formatColumnChoice('phone', name)]),
    ...(country === undefined ? ['--default-country', 'COUNTRY'] : []),
  ];
  const kinds = joinWithOr(intelligenceNames.map(name => operations[name].plural));
  const perhaps =
    shaped.length === 0 ? '' : say` If "${shaped.join('", "')}" has phone numbers: ${sayFlags(flags)}.`;
  return new UsageError(
    'no_columns',
    say`No column looks like ${kinds}. Name them with ${anyLookup()} (columns: ${listNames(columns)}).${perhaps}`,
    shaped.length === 0 ? {} : {flags},
  );
}

function unsureColumn(said: Said, flags?: readonly string[]): UsageError {
  return new UsageError('column_unsure', said, flags && {flags});
}

const percent = (share: number) => `${Math.round(share * 100)}%`;

/** True if a flag makes the run look this column up, with answers for some values. */
const isAddable = (guess: ColumnGuess) => reasonOf(guess).isInVain !== true;

/** A sentence on a column that is not looked up although its values or its name fit, with the flag that adds it. */
export function describePassedOver(guess: ColumnGuess): Said {
  const {operation, column, ofKind, national, reason} = guess;
  const {plural} = operations[operation];
  const {says} = reasonOf(guess);
  const why = says === undefined ? '' : ` (${typeof says === 'string' ? says : says(guess)})`;
  if (reason === 'parted') return `Not looked up: "${column}"${why}.`;
  if (reason === 'nothing') return `Not looked up: "${column}" ${faultIn(guess)}.`;
  const flags = columnFlags([guess]);
  const isOpen = national > 0 && flags.at(-1) === 'COUNTRY';
  const named = sayFlags(isOpen ? flags.slice(0, -2) : flags);
  const country = isOpen ? say`, and ${setting('country')} or ${setting('defaultCountry')}` : '';
  const add = !isAddable(guess) ? '' : say`; add ${named}${country}`;
  return say`Not looked up, though ${percent(ofKind)} of its values are ${plural}: "${column}"${why}${add}.`;
}

/** A column with values that is not looked up, as the summary has it. */
export function summarizeLeftOutColumn(guess: ColumnGuess): Summary['left_out'][number] {
  const {operation, column, ofKind} = guess;
  return {
    operation,
    column,
    share: ofKind,
    flag: columnFlags([guess]).map(shellWord).join(' '),
  };
}

/** A sentence for each looked-up column whose name is in the header more than once. */
export function describeRepeatedNames(guesses: readonly ColumnGuess[], format: InputFormat): Said[] {
  const {header = [], columns} = format.kind === 'csv' ? format : {columns: []};
  return guesses.flatMap(({operation, column, verdict}) => {
    const isSame = (_: string, at: number) => header[at] === column;
    const [, ...later] = verdict === 'sure' ? columns.filter(isSame) : [];
    if (later.length === 0) return [];
    const names = later.map(name => `"${name}"`).join(', ');
    return [
      say`The header has "${column}" more than once: each later column has a number (${names}). To look up one of them, name it: ${setting(operation, formatColumnChoice(operation, column))}.`,
    ];
  });
}

/** The error for phone columns of which several country columns may be theirs, or of which none makes them valid. */
function tornCountries(torn: readonly ColumnGuess[], meant: readonly ColumnGuess[]): UsageError {
  const quoted = (names: readonly string[]) => [...new Set(names)].map(name => `"${name}"`).join(' and ');
  const columns = torn.flatMap(({country}) => country?.columns.map(({name}) => name) ?? []);
  const names = quoted(columns);
  const row = torn[0]?.country?.row;
  const why =
    new Set(columns).size === 1
      ? `With the countries in ${names}, most phone numbers are not valid`
      : row === undefined
        ? `Several columns hold countries, and most phone numbers are not valid with the likeliest one: ${names}`
        : `The countries in ${names} give different phone numbers (row ${row})`;
  const countries = countriesOf(meant);
  if (countries.length === 0)
    return unsureColumn(
      say`${why}. Name the column with the country of the numbers: ${setting('country', 'COLUMN')}.`,
      columnFlags(meant, columns.slice(0, 1)),
    );
  // One --country applies to all phone columns. If another one has a sure country column, advises a separate run.
  const others = meant.filter(guess => !torn.includes(guess));
  return unsureColumn(
    say`${why}, in ${quoted(torn.map(({column}) => column))}. Look it up in a run of its own, with the column of their country: ${setting('phone', 'COLUMN')} ${setting('country', 'COLUMN')}.`,
    columnFlags(others, countries),
  );
}

/** The error for phone numbers in national form: how to add their country, then how to leave the column out. */
function nationalForm(
  guess: ColumnGuess,
  others: readonly ColumnGuess[],
  doubt: string | undefined,
): UsageError {
  const {column, national, otherCountries} = guess;
  const flags = countryFlags([guess, ...others.filter(lacksCountry)]);
  const add =
    flags[0] === '--country'
      ? say`Column "${flags[1]}" seems to have their country: add ${setting('country', flags[1])}.`
      : (otherCountries?.named.length ?? 0) > 0
        ? say`${describeOtherCountries(guess) ?? ''} Otherwise, if all are of one country, add ${setting('defaultCountry')} with that country, such as DE.`
        : say`Add their country: ${setting('country', 'COLUMN')}, or, if all are of one country, ${setting('defaultCountry')} with that country, such as DE.`;
  const without = columnFlags(others.filter(other => !lacksCountry(other)));
  const leave =
    without.length === 0 ? '' : say` To leave them out, name the other columns: ${sayFlags(without)}.`;
  return unsureColumn(
    say`Column "${column}" holds phone numbers in national form (${percent(national)} of its values). ${doubt ?? add}${leave}`,
    // If the named country column has no countries, no further flag helps.
    doubt === undefined ? flags : undefined,
  );
}

/** A sentence on the columns whose countries may be those of a column's numbers; undefined without such a column. */
export function describeOtherCountries({column, otherCountries}: ColumnGuess): Said | undefined {
  const {named} = otherCountries ?? {named: []};
  const [first] = named;
  if (first === undefined) return undefined;
  const names = named.map(name => `"${name}"`).join(' and ');
  return say`By its name, ${names} may have other countries than those of the numbers in "${column}". If they are theirs, add ${setting('country', first)}.`;
}

/** Faults of phone numbers that are often those of another country than the one they are read with. */
const OUTSIDE: ReadonlySet<string> = new Set(['phone_too_long', 'phone_too_short', 'phone_out_of_plan']);

function ofOtherCountry(
  {column, fault}: ColumnGuess,
  country: string,
  others: readonly string[],
): UsageError {
  return unsureColumn(
    say`Column "${column}" is named like phone numbers, but most of its values are not valid in the country that "${country}" says (row ${fault?.row}: ${fault?.code}). They may be of another country: name the column and that country, such as ${setting('phone', formatColumnChoice('phone', column))} ${setting('defaultCountry', 'DE')}.`,
    [...others, '--phone', formatColumnChoice('phone', column), '--default-country', 'COUNTRY'],
  );
}

function listedForm({operation, column, listed}: ColumnGuess): UsageError {
  const which =
    operation === 'ip'
      ? ' (in X-Forwarded-For the client, by its own word), last (what the last proxy saw), or only'
      : ', last, or only';
  return unsureColumn(
    say`Column "${column}" holds several ${operations[operation].plural} in a cell (${percent(listed)} of its values). Choose one: ${setting('fromList', 'first')}${which} (if all are the same).`,
    ['--from-list', 'first'],
  );
}

function faultIn({operation, share = 0, header, fault}: ColumnGuess): string {
  const {plural, codes} = operations[operation];
  const words: Readonly<Record<string, CodeText>> = codes;
  const said = words[fault?.code ?? '']?.meaning;
  if (fault === undefined || said === undefined)
    return `may hold ${plural}, but has too few values to be sure`;
  const fit =
    share === 0 ? 'none of its values is one' : `only ${percent(share)} of its values are ${plural}`;
  const why = said.charAt(0).toLowerCase() + said.slice(1).replace(/\.$/, '');
  return `is ${header === 'silent' ? 'filled in part' : 'named'} like ${plural}, but ${fit} (row ${fault.row}: ${fault.code}, ${why})`;
}

/** The settings that name a column to look up: `--ip, --phone or --email`. */
function anyLookup(): Sentence {
  return intelligenceNames
    .map(name => say`${setting(name)}`)
    .reduce((all, one, at) => say`${all}${at === intelligenceNames.length - 1 ? ' or ' : ', '}${one}`);
}

export function adviseOnCommonText(text: string): Said {
  return say`If "${text}" says that there is no value, add ${setting('empty', text)}.`;
}

function mayHold(guess: ColumnGuess, flags: readonly string[]): UsageError {
  const {operation, column, ofKind, fault: {text} = {}} = guess;
  const said = say`Column "${column}" ${faultIn(guess)}.`;
  const isOwn = flags.includes(formatColumnChoice(operation, column));
  if (text !== undefined && ofKind > 0 && !isOwn)
    return unsureColumn(
      say`${said} ${adviseOnCommonText(text)} Else name the columns to look up with ${anyLookup()}.`,
      ['--empty', text],
    );
  const next = isOwn
    ? say`If it is to be looked up, add ${sayFlags(flags)}. Else name other columns with ${anyLookup()}`
    : say`Name the columns to look up${flags.length === 0 ? say` with ${anyLookup()}` : say`: ${sayFlags(flags)}`}`;
  return unsureColumn(say`${said} ${next}.`, flags);
}
