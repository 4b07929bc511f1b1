import {UsageError} from '../../errors.ts';
import type {Row} from '../../input/row.ts';
import {didYouMean} from '../../job/closest.ts';
import type {Headers} from '../../lookup/columns/column.ts';
import {countryColumnOf} from '../../lookup/columns/country-column.ts';
import {type Guess, lacksChoice, lacksCountry} from '../../lookup/columns/guess.ts';
import {detectColumns} from '../../lookup/detect.ts';
import {cellReader} from '../../lookup/targets.ts';
import {phoneCountry} from '../../operations/country.ts';
import {canonicalPhone} from '../../operations/phone.ts';
import {anyOf, intelligenceNames, operations, perIntelligence} from '../../operations/table.ts';
import {count} from '../terminal/lines.ts';
import {type Ask, agrees, oneOf, wholeNumber} from './prompt.ts';

/** Settings of a job file that depend on the list. */
export interface Chosen {
  readonly columns: Readonly<Record<Guess['operation'], readonly string[]>>;
  /** Columns that may be worth a lookup but get none, each with the reason. */
  readonly leftOut: readonly {readonly column: string; readonly why: string}[];
  readonly defaultCountry: string | undefined;
  /** The choice among several IP addresses in a cell: first, last or only. Undefined without such cells. */
  readonly ipFromList?: string | undefined;
  readonly endpoint: 'live' | 'embedded';
}

export interface Interviewed extends Chosen {
  readonly maxCredits: number;
}

/** A list as `init` sees it. */
export interface Seen {
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
  readonly headers?: Headers;
  /** True if a live service is configured. The job file then has `endpoint: live`. */
  readonly live: boolean;
  readonly interactive: boolean;
  /** Credits of a run over the list without stored answers, as `plan` counts them. */
  readonly costOf?: (answers: Chosen) => Promise<number>;
}

const WHICH = ['first', 'last', 'only'];
const NONE = 'none';

/**
 * Asks the user for the settings that the list does not show.
 *
 * @throws {UsageError} if there is nothing to look up.
 */
export async function interview(seen: Seen, ask: Ask, say: (sentence: string) => void): Promise<Interviewed> {
  const {guesses} = detectColumns(seen.columns, seen.rows, seen.headers);
  const chosen: Guess[] = [];
  let ipFromList: string | undefined;
  const leftOut: {column: string; why: string}[] = [];
  const between = betweenCountries(guesses);
  for (const guess of guesses) {
    const why = describe(guess);
    if (between.has(guess.column)) {
      leftOut.push({
        column: guess.column,
        why: 'phone numbers that may be of the countries in several columns: make a job for it alone, with country',
      });
      continue;
    }
    if (lacksChoice(guess)) {
      const which = 'several IP addresses in a cell. Which one to use: first (the client), last or only?';
      ipFromList = (
        await ask(`Column "${guess.column}": ${which}`, 'first', oneOf(WHICH, anyOf(WHICH)))
      ).toLowerCase();
      say(`Column "${guess.column}": of several IP addresses the ${ipFromList}.`);
      chosen.push(guess);
      continue;
    }
    if (guess.operation === 'country' && guess.confidence === 'unsure' && isSureToo(guess, guesses)) continue;
    if (guess.confidence === 'sure') say(`Column "${guess.column}": ${why}.`);
    const wanted =
      guess.confidence === 'sure' ||
      (seen.interactive && lacksCountry(guess)) ||
      (await agrees(ask, `Column "${guess.column}": ${why}. Look it up?`));
    if (wanted) chosen.push(guess);
    else leftOut.push({column: guess.column, why: `${why}${lacksCountry(guess) ? nameIt(guess, seen) : ''}`});
  }
  const {columns, defaultCountry} = await withCountry(
    await namedColumns(chosen, leftOut, seen, ask),
    seen,
    ask,
  );
  const endpoint = seen.live ? 'live' : await serviceToAsk(ask);
  const answers = {columns, leftOut, ipFromList, defaultCountry, endpoint} as const;
  const cost = (await seen.costOf?.(answers)) ?? 0;
  const why = cost === 0 ? '' : ` (this list costs ${count(cost)})`;
  const cap = cost === 0 ? ANY_LIST : roundedUp(ROOM * cost);
  const maxCredits = Number(
    await ask(`Maximum credits for one run${why}, or 0 for no limit:`, String(cap), wholeNumber),
  );
  return {...answers, maxCredits};
}

/** True if this column is surely the country column of another phone column, so the user need not decide. */
function isSureToo({column}: Guess, guesses: readonly Guess[]): boolean {
  return guesses.some(
    other => other.operation === 'country' && other.column === column && other.confidence === 'sure',
  );
}

/**
 * Names of columns that the job leaves out: phone columns whose numbers may be of several columns' countries,
 * and those country columns. A country column that is sure for another phone column stays. Empty if no
 * country column is sure.
 */
function betweenCountries(guesses: readonly Guess[]): Set<string> {
  const countries = guesses.filter(({operation}) => operation === 'country');
  const isKnown = countries.some(({confidence}) => confidence === 'sure');
  const unsure = countries.filter(({confidence}) => isKnown && confidence === 'unsure');
  return new Set(
    unsure
      .flatMap(({column, numbers = []}) => [column, ...numbers])
      .filter(name => !countries.some(({column, confidence}) => column === name && confidence === 'sure')),
  );
}

/** Suggested credit limit for a list whose cost is 0, such as a list without values. */
const ANY_LIST = 1_000;

/** Suggested credit limit, as a multiple of this list's cost. */
const ROOM = 1.5;

/** Rounds up to two significant digits. */
function roundedUp(credits: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, credits))) - 1);
  return Math.ceil(credits / unit) * unit;
}

function describe(guess: Guess): string {
  const {operation, share, national} = guess;
  if (operation === 'country') return 'countries of the phone numbers';
  if (lacksCountry(guess)) return `phone numbers in national form (${percent(national)} of its values)`;
  return `${guess.confidence === 'sure' ? '' : 'perhaps '}${operations[operation].plural} (${share === undefined ? 'no values yet' : `${percent(share)} of its values fit`})`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}

/** The columns that were found, by operation. If none was found, the columns that the user names. */
async function namedColumns(
  chosen: readonly Guess[],
  leftOut: Interviewed['leftOut'],
  {columns, interactive}: Seen,
  ask: Ask,
): Promise<Interviewed['columns']> {
  const of = (operation: Guess['operation']) =>
    chosen.filter(guess => guess.operation === operation).map(({column}) => column);
  const found = {...perIntelligence(of), country: of('country')};
  if (interactive && intelligenceNames.every(operation => found[operation].length === 0)) {
    for (const operation of intelligenceNames) {
      const name = await ask(`Column of ${operations[operation].plural}, or none:`, NONE, answer =>
        answer === NONE || columns.includes(answer) ? undefined : noColumn(answer, columns),
      );
      if (name !== NONE) found[operation] = [name];
    }
  }
  if (intelligenceNames.some(operation => found[operation].length > 0)) return found;
  throw new UsageError(
    'no_columns',
    leftOut.length > 0
      ? `No column is looked up for sure: ${leftOut.map(({column, why}) => `"${column}", ${why}`).join('; ')}.`
      : `No column looks like ${anyOf(intelligenceNames.map(name => operations[name].plural))} (columns: ${columns.join(', ')}).`,
  );
}

function noColumn(name: string, columns: readonly string[]): string {
  return `There is no column "${name}".${didYouMean(name, columns, `Columns: ${columns.join(', ')}.`)}`;
}

/** Asks for the country of phone numbers in national form: a column of the list, or one country for all. */
async function withCountry(
  columns: Interviewed['columns'],
  seen: Seen,
  ask: Ask,
): Promise<{columns: Chosen['columns']; defaultCountry: Chosen['defaultCountry']}> {
  if (!hasNationalNumbers(columns, seen)) return {columns, defaultCountry: undefined};
  const [known] = columns.country;
  const offered =
    known === undefined && seen.interactive
      ? countryColumnOf(columns.phone, seen.columns, seen.rows)
      : undefined;
  const names = known === undefined ? seen.columns : [];
  const form = `Phone numbers in "${columns.phone.join('", "')}" are in national form`;
  const question =
    known === undefined
      ? `${form}. Their country: a column${offered === undefined ? '' : ` ("${offered}" fits)`}, a name, a code such as US, or none:`
      : `${form}, some without a country in "${columns.country.join('", "')}". Their country: a name, a code such as US, or none:`;
  const isRight = (answer: string) => (names.includes(answer) ? undefined : isCountry(answer));
  const answer = await ask(question, offered ?? NONE, isRight);
  if (names.includes(answer)) return {columns: {...columns, country: [answer]}, defaultCountry: undefined};
  const found = phoneCountry(answer);
  return {
    columns,
    defaultCountry: found === undefined || 'defaultCountry' in found ? found?.defaultCountry : answer,
  };
}

/** Advice on the lines to add to a job file for a column of national phone numbers. */
function nameIt({column}: Guess, {columns, rows}: Seen): string {
  const country = countryColumnOf([column], columns, rows);
  return country === undefined
    ? ': add it as phone, with a default_country'
    : `: add it as phone, with country: ${country}`;
}

/** True if some rows have a phone number in national form, and no country for that number. */
function hasNationalNumbers({phone, country: names}: Interviewed['columns'], {columns, rows}: Seen): boolean {
  const cells = phone.map(column => cellReader(column, columns));
  const countries = names.length === 0 ? [() => undefined] : names.map(name => cellReader(name, columns));
  return cells.some(cell =>
    rows.some(row =>
      countries.every(country => {
        const read = canonicalPhone(cell(row) ?? '', country(row));
        return read.state === 'invalid' && read.code === 'country_unknown';
      }),
    ),
  );
}

const isCountry = (answer: string) =>
  answer.toLowerCase() === NONE || phoneCountry(answer) !== undefined
    ? undefined
    : 'Please give a column of the list, a country by name or code such as US, or none.';

async function serviceToAsk(ask: Ask): Promise<Interviewed['endpoint']> {
  const answer = await ask(
    'Which service to ask: embedded (answers from open data, free), or live (from BULK_ENRICH_BASE_URL and BULK_ENRICH_API_KEY)?',
    'embedded',
    oneOf(['embedded', 'live'], 'embedded or live'),
  );
  return answer.toLowerCase() === 'live' ? 'live' : 'embedded';
}
