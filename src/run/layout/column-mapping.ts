import {
  checkFirstValues,
  describeFooters,
  describeUnknownCountry,
  refuseMostlyRejected,
  refuseSecondTable,
} from '../../columns/first-row-checks.ts';
import {
  describeOtherCountries,
  describePassedOver,
  describeRepeatedNames,
  refuseUnsureColumns,
  summarizeLeftOutColumn,
} from '../../columns/guess-messages.ts';
import {createRowPlanner, type PlanInputs, type RowPlanner} from '../../columns/plan-row.ts';
import {type Column, listColumns, readHeaderStructure} from '../../columns/recognize/column.ts';
import {type CountryColumns, chooseCountries} from '../../columns/recognize/country-column.ts';
import {type Detected, detectColumns} from '../../columns/recognize/detect.ts';
import {type ColumnGuess, columnFlags} from '../../columns/recognize/guess.ts';
import {
  createCellReader,
  makeTargets,
  missingColumnWarning,
  requireColumn,
  type Target,
  twoFieldsWarning,
} from '../../columns/targets.ts';
import {UsageError} from '../../errors.ts';
import {InputError} from '../../input/input-error.ts';
import type {InputFormat, InputRecord, Row} from '../../input/row.ts';
import type {Job} from '../../job/job.ts';
import type {ColumnChoice} from '../../job/setting-types.ts';
import type {CellRules} from '../../operations/cell.ts';
import {isInternationalCountry} from '../../operations/country.ts';
import {
  intelligenceNames,
  joinWithOr,
  type Operation,
  operationNames,
  operations,
} from '../../operations/table.ts';
import {perVerifyInput, verifyInputNames} from '../../operations/verify.ts';
import {createRowFilter} from '../../score/conditions.ts';
import type {RunFacts} from '../../score/run-facts.ts';
import {type Said, say, sayFlags, setting} from '../../sentence.ts';

export interface ColumnMapping {
  readonly targets: readonly Target[];
  readonly guesses: readonly ColumnGuess[];
  readonly countries: ReadonlyMap<string, string>;
  readonly planRow: RowPlanner;
  /** Plans some of the targets, also in rows that `where` leaves out. */
  readonly planOf: (targets: readonly Target[]) => RowPlanner;
  /** Each column that a setting names, in a pair with the setting: `['--phone', 'mobile']`. */
  readonly mentioned: MentionedColumns['mentioned'];
  /** Sentences for the user about doubtful columns, such as one that is not looked up although its values fit. */
  readonly doubts: readonly Said[];
  /** The columns with values that are not looked up, with the flag that would do that. */
  readonly leftOut: readonly ReturnType<typeof summarizeLeftOutColumn>[];
}

/**
 * Finds the columns to look up: those that the settings name, or else those that the first rows show.
 *
 * @throws {UsageError} if a named column is missing, or if no column is named and the guess is not sure;
 * {@link InputError} if nearly all first rows are unreadable, or if a second table begins among them.
 */
export function resolveColumnMapping(
  job: Job,
  format: InputFormat,
  sample: readonly InputRecord[],
  background: RunFacts,
): ColumnMapping {
  const {settings} = job;
  const read = sample.filter((record): record is Row => record.type !== 'reject');
  const rows = read.filter(row => row.type !== 'csv' || row.isFooter !== true);
  const header = format.kind === 'csv' ? format.header : undefined;
  const named = namedColumns(job);
  // A job that sets `max_rejects` decides by that limit how many unreadable rows it accepts.
  if (settings.maxRejects === undefined || (read.length === 0 && named.choices.size === 0))
    refuseMostlyRejected(sample, format, settings);
  if (named.choices.size === 0) refuseWide('columns', format.columns.length, MOST_COLUMNS, job);
  for (const [setting, column] of named.mentioned)
    requireColumn(column, format.columns, format.kind, setting);
  const doubtOf = ({name, cell}: Column) => describeUnknownCountry(name, cell, rows);
  const detect = !job.fromFile && named.choices.size === 0;
  const rules = {
    empties: new Set(settings.empty?.map(text => text.trim().toLowerCase())),
    fromList: settings.fromList,
    ipFromList: settings.ipFromList,
    isPlusDefault: isInternationalCountry(settings.defaultCountry),
  };
  const {guesses: all, choices} = columnsIn(job, named, format, rows, rules);
  const doubt = choices.named.map(doubtOf).find(said => said !== undefined);
  const guesses = detect ? all : [];
  if (detect && rows.length > 0)
    refuseUnsureColumns(
      all,
      {columns: format.columns, rows, header, country: settings.defaultCountry},
      doubt,
      job.inputs[0] ?? '-',
    );
  const sure = guesses.filter(({verdict}) => verdict === 'sure');
  const sureChoices = intelligenceNames.map(
    name => [name, sure.filter(({operation}) => operation === name)] as const,
  );
  const targets = (detect ? sureChoices : [...named.choices]).flatMap(([operation, choices]) =>
    makeTargets(operation, choices, format.columns),
  );
  refuseWide('columns to look up', targets.length, MOST_TARGETS, job);
  refuseSecondTable(rows, targets);
  const isRead = detect || (settings.country ?? []).length > 0;
  const phoneCountries = countryColumnsOf(isRead ? phoneColumns(targets, settings) : [], choices);
  const countries = new Map([...phoneCountries].map(([phone, {name}]) => [phone, name]));
  const cells = {...planCells(job, format, phoneCountries), rules};
  const planOf = (planned: readonly Target[]) => createRowPlanner(planned, cells, rows);
  const planAll = planOf(targets);
  const isLooked = ({operation, column}: ColumnGuess) =>
    targets.some(target => target.operation === operation && target.column === column);
  const isMentioned = ({column}: ColumnGuess) => named.mentioned.some(([, name]) => name === column);
  const isReported = !job.fromFile && !named.choices.has('verify');
  const aside = (isReported ? all : []).filter(guess => guess.verdict === 'name' && !isMentioned(guess));
  const beside = detect || !isReported ? [] : usedOtherwise(named, all);
  const doubts = [
    ...describeFooters(read, planAll),
    ...checkFirstValues(targets, rows, planAll, settings),
    ...aside.filter(guess => guess.reason !== 'nothing' || detect).map(guess => describePassedOver(guess)),
    ...describeRepeatedNames(guesses, format),
    leftOutBeside(beside),
    ...named.mentioned.map(([setting, column]) =>
      missingColumnWarning(column, format.columns, rows, setting),
    ),
    ...targets.map(({column}) => twoFieldsWarning(column, rows)),
    ...[...new Set(phoneCountries.values())].map(doubtOf),
    ...(settings.defaultCountry === undefined ? all.filter(isLooked) : []).map(describeOtherCountries),
  ].filter(doubt => doubt !== undefined);
  return {
    targets,
    guesses,
    countries,
    planRow: filtered(planAll, job, format, background),
    planOf,
    mentioned: named.mentioned,
    doubts,
    leftOut: [...aside.filter(guess => guess.reason !== 'nothing'), ...beside].map(summarizeLeftOutColumn),
  };
}

/** Maximum number of columns: as many as a spreadsheet has. */
const MOST_COLUMNS = 16_384;
/** Maximum number of columns that are looked up: the rules of a score read the answers of each beside all others. */
const MOST_TARGETS = 100;

function refuseWide(what: string, count: number, most: number, {inputs}: Job): void {
  if (count <= most) return;
  throw new InputError(
    'input_wide',
    `${inputs[0] ?? 'The input'} has ${count} ${what}; a run takes at most ${most}. Name those to look up, or leave columns out.`,
  );
}

/** The columns that the run would look up if the user had named none, without those that the user named. */
function usedOtherwise({mentioned}: MentionedColumns, lookups: readonly ColumnGuess[]): ColumnGuess[] {
  const names = new Set(mentioned.map(([, column]) => column));
  return lookups.filter(
    ({column, verdict, share}) => !names.has(column) && verdict === 'sure' && share !== undefined,
  );
}

function leftOutBeside(others: readonly ColumnGuess[]): Said | undefined {
  if (others.length === 0) return undefined;
  const flags = columnFlags(others);
  const left = others.map(({column}) => `"${column}"`).join(', ');
  return say`Not looked up, as you named other columns: ${left}. To look them up too, add ${sayFlags(flags)}.`;
}

/** Applies the filter `where`. A row that it leaves out makes no calls, but keeps results that need no call. */
function filtered(
  planRow: RowPlanner,
  {settings, placeOf}: Job,
  format: InputFormat,
  background: RunFacts,
): RowPlanner {
  if (settings.where === undefined) return planRow;
  const wanted = createRowFilter(settings.where, format, background, placeOf);
  return row =>
    wanted(row)
      ? planRow(row)
      : planRow(row).map(plan => (plan.status === 'ask' ? {status: 'skipped', error: 'filter'} : plan));
}

interface MentionedColumns {
  readonly choices: ReadonlyMap<Operation, readonly ColumnChoice[]>;
  readonly mentioned: readonly (readonly [string, string])[];
}

function namedColumns({settings, fromFile, endpoint, placeOf}: Job): MentionedColumns {
  const choices = new Map<Operation, readonly ColumnChoice[]>();
  const mentioned: [string, string][] = [];
  for (const operation of intelligenceNames) {
    const chosen = settings[operation];
    if (chosen === undefined) continue;
    choices.set(operation, chosen);
    for (const {column} of chosen) mentioned.push([placeOf([operation]), column]);
  }
  const {verdict, country} = settings;
  if (verdict !== undefined) {
    if (endpoint.actionId === undefined)
      throw new UsageError(
        'no_action',
        say`${setting('verdict')} needs an action identifier: ${setting('verdict', 'token=COLUMN,action=ID')}, or BULK_ENRICH_ACTION_ID.`,
      );
    choices.set('verify', [{column: verdict.token}]);
    mentioned.push([placeOf(['verdict']), verdict.token]);
    for (const name of verifyInputNames)
      if (verdict[name] !== undefined) mentioned.push([placeOf(['verdict', name]), verdict[name]]);
  }
  for (const column of country ?? []) mentioned.push([placeOf(['country']), column]);
  if (fromFile && choices.size === 0)
    throw new UsageError(
      'job_columns',
      `A job file must name its columns. Add at least one of ${joinWithOr(operationNames.map(name => operations[name].setting))}.`,
    );
  return {choices, mentioned};
}

function phoneColumns(targets: readonly Target[], {verdict}: Job['settings']): string[] {
  const phones = targets.filter(({operation}) => operation === 'phone').map(({column}) => column);
  return verdict?.phone === undefined ? phones : [...phones, verdict.phone];
}

/** Finds the country column of each phone column. @throws {UsageError} if one is not certain. */
function countryColumnsOf(phones: readonly string[], choices: CountryColumns): Map<string, Column> {
  const found = new Map<string, Column>();
  for (const phone of phones) {
    const choice = choices.of(phone);
    if (choice === undefined) continue;
    if (choice.found === undefined) {
      const names = choice.columns.map(({name}) => `"${name}"`).join(' or ');
      throw new UsageError(
        'column_unsure',
        say`The numbers in "${phone}" may belong to the countries in ${names}. Name one of them: ${setting('country', 'COLUMN')}.`,
      );
    }
    found.set(phone, choice.found);
  }
  return found;
}

function planCells(
  {settings, endpoint}: Job,
  format: InputFormat,
  countries: ReadonlyMap<string, Column>,
): PlanInputs {
  const cell = (name: string | undefined) =>
    name === undefined ? undefined : createCellReader(name, format.columns);
  return {
    countryOf: column => countries.get(column)?.cell,
    defaultCountry: settings.defaultCountry,
    verdict: settings.verdict && {
      actionId: endpoint.actionId ?? '',
      country: countries.get(settings.verdict?.phone ?? '')?.cell,
      ...perVerifyInput(({name}) => cell(settings.verdict?.[name])),
    },
  };
}

/**
 * Guesses the columns to look up, and the columns with countries of phone numbers. If the job is from a file,
 * guesses only the countries: the file names the columns to look up.
 */
function columnsIn(
  {settings, fromFile}: Job,
  {mentioned}: MentionedColumns,
  format: InputFormat,
  rows: readonly Row[],
  rules: CellRules,
): Detected {
  const {country: countries, phone = [], verdict, defaultCountry: fallback} = settings;
  const beside = verdict?.phone === undefined ? [] : [verdict.phone];
  const numbers = [...phone.map(({column}) => column), ...beside];
  const headers = readHeaderStructure(format);
  if (!fromFile && format.columns.length <= MOST_COLUMNS)
    return detectColumns(format.columns, rows, {numbers, countries, fallback, rules, ...headers});
  // Of a list that is too wide to be searched, only the named columns are looked at.
  const searched = format.columns.length <= MOST_COLUMNS ? format.columns : [];
  const names = new Set([...searched, ...mentioned.map(([, column]) => column)]);
  const columns = listColumns([...names], format.columns, headers);
  const phones = columns.filter(({name}) => numbers.includes(name));
  return {guesses: [], choices: chooseCountries(columns, phones, rows, countries)};
}
