import {UsageError} from '../../errors.ts';
import type {InputFormat, InputRecord, Row} from '../../input/row.ts';
import type {Job} from '../../job/job.ts';
import {spelled} from '../../job/settings.ts';
import type {ColumnChoice} from '../../job/values.ts';
import {demandCountry} from '../../lookup/country.ts';
import {detectColumns, type Guess, lacksCountry} from '../../lookup/detect.ts';
import {createPlan, type PlanCells, type PlanRow} from '../../lookup/plan-row.ts';
import {cellReader, doubtColumn, requireColumn, type Target, targetsOf} from '../../lookup/targets.ts';
import {
  anyOf,
  type Intelligence,
  intelligenceNames,
  type Operation,
  operationNames,
  operations,
} from '../../operations/table.ts';
import {besideNames, besideToken, perBeside} from '../../operations/verify.ts';
import {createRowFilter} from '../../score/conditions.ts';
import type {Background} from '../../score/given.ts';

/** Which columns are looked up, how that was found out, and the plan that follows. */
export interface Mapping {
  readonly targets: readonly Target[];
  readonly guesses: readonly Guess[];
  readonly country: string | undefined;
  readonly planRow: PlanRow;
  /** Sentences about columns that may not be what was meant. */
  readonly doubts: readonly string[];
}

/** Judging a column by fewer values than this would be judging single rows. */
const FEW_VALUES = 20;
const MOSTLY_INVALID = 0.9;

/** @throws {UsageError} when a named column is missing, or nothing was named and the guess is not sure. */
export function resolveMapping(
  job: Job,
  format: InputFormat,
  sample: readonly InputRecord[],
  background: Background,
): Mapping {
  const {settings} = job;
  const rows = sample.filter((record): record is Row => record.type !== 'reject');
  if (format.kind === 'csv' && format.header !== undefined) refuseValuesAsHeader(format.header);
  demandCountry(settings.defaultCountry, job.placeOf(['defaultCountry']));
  const named = namedColumns(job);
  for (const [setting, column] of named.mentioned)
    requireColumn(column, format.columns, format.kind, setting);
  const detect = !job.fromFile && named.choices.size === 0;
  const guesses = detect ? guessColumns(job, format, rows) : [];
  const targets = targetsFrom(detect ? sureChoices(guesses) : named.choices, settings.only, format);
  const country = settings.country ?? guesses.find(isSureOf('country'))?.column;
  const planAll = createPlan(targets, planCells(job, format, country));
  refuseMostlyInvalid(targets, rows, planAll);
  const doubts = named.mentioned
    .map(([setting, column]) => doubtColumn(column, format.columns, rows, setting))
    .filter(doubt => doubt !== undefined);
  return {targets, guesses, country, planRow: filtered(planAll, job, format, background), doubts};
}

function targetsFrom(
  choices: Named['choices'],
  only: readonly Operation[] | undefined,
  {columns}: InputFormat,
): Target[] {
  return [...choices]
    .filter(([operation]) => only?.includes(operation) !== false)
    .flatMap(([operation, some]) => targetsOf(operation, some, columns));
}

/** Of rows that are not worth asking about, nothing is asked; what can be told without a call still is. */
function filtered(
  planRow: PlanRow,
  {settings, placeOf}: Job,
  format: InputFormat,
  background: Background,
): PlanRow {
  if (settings.where === undefined) return planRow;
  const wanted = createRowFilter(settings.where, format, background, placeOf);
  return row =>
    wanted(row)
      ? planRow(row)
      : planRow(row).map(plan => (plan.status === 'ask' ? {status: 'skipped', error: 'filter'} : plan));
}

interface Named {
  readonly choices: ReadonlyMap<Operation, readonly ColumnChoice[]>;
  /** Every column that a setting names, with that setting. */
  readonly mentioned: readonly (readonly [string, string])[];
}

function namedColumns({settings, fromFile, endpoint}: Job): Named {
  const choices = new Map<Operation, readonly ColumnChoice[]>();
  const mentioned: [string, string][] = [];
  for (const operation of intelligenceNames) {
    const some = settings[operation];
    if (some === undefined) continue;
    choices.set(operation, some);
    for (const {column} of some) mentioned.push([`--${operation}`, column]);
  }
  if (settings.token !== undefined) {
    if (endpoint.actionId === undefined)
      throw new UsageError(
        'no_action',
        '--token needs an action identifier: --action-id ID, or BULK_ENRICH_ACTION_ID.',
      );
    choices.set('verify', [{column: settings.token}]);
    mentioned.push(['--token', settings.token]);
  }
  for (const name of ['country', ...besideNames.map(beside => besideToken[beside].setting)] as const) {
    const column = settings[name];
    if (column !== undefined) mentioned.push([`--${spelled(name, '-')}`, column]);
  }
  if (fromFile && choices.size === 0)
    throw new UsageError(
      'job_columns',
      `A job file names its columns: add at least one of ${anyOf(operationNames.map(name => operations[name].setting))}.`,
    );
  return {choices, mentioned};
}

function planCells({settings, endpoint}: Job, format: InputFormat, country: string | undefined): PlanCells {
  const cell = (name: string | undefined) =>
    name === undefined ? undefined : cellReader(name, format.columns);
  return {
    country: cell(country),
    defaultCountry: settings.defaultCountry,
    verdict:
      settings.token === undefined
        ? undefined
        : {
            actionId: endpoint.actionId ?? '',
            ...perBeside(({setting}) => cell(settings[setting])),
          },
  };
}

function guessColumns({settings}: Job, {columns}: InputFormat, rows: readonly Row[]): Guess[] {
  const guesses = detectColumns(columns, rows, {column: settings.country, fallback: settings.defaultCountry});
  if (rows.length > 0) demandSure(guesses.filter(isLookup(settings.only)), columns);
  return guesses;
}

type LookupGuess = Guess & {readonly operation: Intelligence};

function isLookup(only: readonly Operation[] | undefined) {
  return (guess: Guess): guess is LookupGuess =>
    guess.operation !== 'country' && only?.includes(guess.operation) !== false;
}

function isSureOf(operation: Guess['operation']) {
  return (guess: Guess) => guess.operation === operation && guess.confidence === 'sure';
}

function sureChoices(guesses: readonly Guess[]): Named['choices'] {
  const choices = intelligenceNames.map(name => [name, guesses.filter(isSureOf(name))] as const);
  return new Map(
    choices
      .filter(([, some]) => some.length > 0)
      .map(([name, some]) => [name, some.map(({column}) => ({column}))]),
  );
}

/** Credits are spent only on columns that are surely what they look like. */
function demandSure(guesses: readonly LookupGuess[], columns: readonly string[]): void {
  const unsure = guesses.find(({confidence}) => confidence === 'unsure');
  if (unsure !== undefined)
    throw new UsageError('column_unsure', lacksCountry(unsure) ? nationalForm(unsure) : mayHold(unsure));
  if (guesses.length === 0)
    throw new UsageError(
      'no_columns',
      `No column looks like ${anyOf(intelligenceNames.map(name => operations[name].plural))}. Name them with ${anyOf(intelligenceNames.map(name => `--${name}`))} (columns: ${columns.join(', ')}).`,
    );
}

function nationalForm({column, national}: Guess): string {
  return `Column "${column}" holds phone numbers in national form (${Math.round(national * 100)}% of its values). Say where they belong, --country COLUMN or --default-country US, or leave them out with --only.`;
}

function mayHold({column, operation, share}: LookupGuess): string {
  const fit = share === undefined ? 'no' : `${Math.round(share * 100)}%`;
  return `Column "${column}" may hold ${operations[operation].plural} (${fit} of its values could be), which is not sure enough to spend credits on. Name the columns to look up, such as --${operation} "${column}", or leave it out with --only.`;
}

function refuseValuesAsHeader(header: readonly string[]): void {
  const value = header.findIndex(cell =>
    intelligenceNames.some(name => {
      const {canonical, isTelling} = operations[name];
      return isTelling?.(cell) !== false && canonical(cell).state === 'value';
    }),
  );
  if (value >= 0) {
    throw new UsageError(
      'header_is_value',
      `Column ${value + 1} of the header line is itself a value to look up, so the file seems to have no header. Say --no-header; columns are then column_1, column_2, ….`,
    );
  }
}

function refuseMostlyInvalid(targets: readonly Target[], rows: readonly Row[], planRow: PlanRow): void {
  const planned = rows.map(planRow);
  for (const [index, {column, operation}] of targets.entries()) {
    const cells = planned.map(row => row[index]);
    const values = cells.filter(cell => cell?.status === 'ask' || cell?.status === 'invalid').length;
    const codes = cells.flatMap(cell => (cell?.status === 'invalid' ? [cell.error] : []));
    if (values < FEW_VALUES || codes.length <= MOSTLY_INVALID * values) continue;
    const code = mostFrequent(codes);
    const hint =
      code === 'country_unknown'
        ? ' Say where the numbers belong: --country COLUMN or --default-country US.'
        : '';
    throw new UsageError(
      'column_invalid',
      `${codes.length} of the first ${values} values in column "${column}" can't be ${operations[operation].plural} (most often: ${code}). Nothing was sent.${hint}`,
    );
  }
}

function mostFrequent(codes: readonly string[]): string | undefined {
  const counts = new Map<string, number>();
  for (const code of codes) counts.set(code, (counts.get(code) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0];
}
