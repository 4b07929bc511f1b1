import {listRepairs} from '../columns/plan-row.ts';
import type {ColumnGuess} from '../columns/recognize/guess.ts';
import type {Target} from '../columns/targets.ts';
import type {InputRecord} from '../input/row.ts';
import {openRecordSource} from '../input/source.ts';
import type {Job} from '../job/job.ts';
import {createLookupPricer, toCredits} from '../job/settings/cost.ts';
import {createValidityJudge} from '../ledger/answers/validity.ts';
import type {CellResult, Lookup} from '../ledger/lookup-outcome.ts';
import type {LaneSettings} from '../lookup/call.ts';
import {perSecond} from '../lookup/rate-limit.ts';
import {mostSends} from '../lookup/retry-policy.ts';
import type {Operation} from '../operations/table.ts';
import {makeRunRecord, roundCredits} from '../report/run-record.ts';
import {CallCount} from './counts/call-count.ts';
import {type Counters, countReject, countRow, emptyCounters, listErrors} from './counts/counters.ts';
import {Destination} from './destination.ts';
import {readLastRunOfJob} from './end/history.ts';
import {checkReportPaths} from './end/report-files.ts';
import type {RunIo, World} from './io.ts';
import type {ColumnMapping} from './layout/column-mapping.ts';
import {type Layout, makeLayout, operationsOfTargets} from './layout/layout.ts';
import {type AccountLimits, findAccount, openAccountBudget} from './open/account.ts';
import {openAnswerStore, storeTerms, turnOffUnusableSettings} from './open/answer-store.ts';
import {planLanes} from './open/connection.ts';
import {readWholeList} from './rows/first-pass.ts';
import {answerScope, scopeKeyOfJob} from './scope.ts';

export type PlanReport = Awaited<ReturnType<typeof makePlan>>;

/** The surroundings of a plan: everything outside of the program that it uses. */
export interface PlanIo extends World {
  readonly stdin: RunIo['stdin'];
  readonly phase?: RunIo['phase'];
  /** Returns false once the caller no longer needs the plan. Reading then ends, and the counts are incomplete. */
  readonly isWanted?: () => boolean;
}

/** Reads the whole input like a run, and counts its calls. Makes no calls. */
export async function makePlan(given: Job, io: PlanIo) {
  const job = turnOffUnusableSettings(given, io);
  new Destination(job).check();
  checkReportPaths(job, io);
  const account = findAccount(answerScope(job.endpoint, job.settings), io.env, io.warn);
  const left = leftOfAccount(account, io);
  const source = await openRecordSource({
    ...job.settings,
    paths: job.inputs,
    decides: !job.fromFile,
    stdin: io.stdin,
  });
  const now = io.now();
  const store = openAnswerStore(
    job,
    scopeKeyOfJob(job),
    createValidityJudge(storeTerms(job), now, now, io.now),
    io,
  );
  const calls = new CallCount(store, createLookupPricer(job));
  /** Counts only lookups without a condition, for the minimum cost. */
  const firm = new CallCount(store, createLookupPricer(job));
  let counted: Layout['facts'];
  try {
    for (const note of source.notes) io.warn(note);
    const {mapping, format, facts} = makeLayout(job, source, now);
    counted = facts;
    for (const doubt of mapping.doubts) io.warn(doubt);
    const counters = emptyCounters();
    const count = dryRun(mapping, counters);
    const isConditional = mapping.targets.some(({when}) => when !== undefined);
    const see = async (records: readonly InputRecord[]) => {
      await store.ready();
      const [all, unconditional]: [Lookup[], Lookup[]] = [[], []];
      for (const record of records)
        count(record, (lookup, target) => {
          all.push(lookup);
          if (target?.when === undefined) unconditional.push(lookup);
        });
      calls.add(all);
      if (isConditional) firm.add(unconditional);
    };
    await readWholeList(source, {limit: job.settings.limit, facts}, io, see);
    if (io.counted !== undefined) io.counted.facts = facts;
    return {
      format: format.kind,
      ...columnsOf(mapping),
      ...countsOf(job, mapping, counters, {calls, firm: isConditional ? firm : calls}, account),
      shared: facts?.shared ?? {},
      ...(account?.price && {price: account.price}),
      ...(left !== undefined && {account_left: left}),
      last: lastTime(job, io.env),
    };
  } finally {
    if (io.counted === undefined) counted?.close();
    calls.close();
    firm.close();
    store.close();
    await source.close();
  }
}

/** Credits that the account's limits of day and month leave; undefined without limits. */
function leftOfAccount(account: AccountLimits | undefined, io: World): number | undefined {
  const budget = openAccountBudget(account, io);
  const left = budget?.limits.map(limit => budget.left(limit));
  budget?.close();
  return left && toCredits(Math.max(0, Math.min(...left)));
}

/** Rows, calls and credits of the job's last complete run; null without such a run. */
function lastTime(job: Job, env: World['env']) {
  const last = readLastRunOfJob(job, env);
  if (last === undefined) return null;
  const {ended_at, rows, calls, credits, hit_rate} = makeRunRecord(last);
  return {ended_at, rows, calls, credits: roundCredits(credits.spent + credits.maybe_spent), hit_rate};
}

/** Stands for the answer of a lookup that a run would make. */
const ANSWERED: CellResult = {status: 'ok', data: '', boughtAt: 0};

/** Returns a function that counts a record as a run does in which every lookup is answered, and passes on its lookups. */
function dryRun({targets, planRow}: ColumnMapping, counters: Counters) {
  const columns = targets.map(({operation}) => ({target: {operation, cell: () => ''}, answerFields: []}));
  const nothing = {answers: [], risk: undefined, outcomes: undefined};
  return (row: InputRecord, ask: (lookup: Lookup, target: Target | undefined) => void) => {
    if (row.type === 'reject') return countReject(counters, row);
    const planned = planRow(row);
    const results = planned.map((cell, index) => {
      if (cell.status !== 'ask') return cell;
      ask(cell.lookup, targets[index]);
      return ANSWERED;
    });
    countRow(counters, {row, results, repairs: listRepairs(planned), ...nothing}, columns);
  };
}

/**
 * The plan's columns. `columns`: columns that the run uses, including those whose values it sends along with
 * a lookup. `left_out`: columns that the run guessed but does not use.
 */
function columnsOf({targets, guesses, countries, mentioned}: ColumnMapping) {
  type Used = {readonly operation: Operation | 'country'; readonly column: string};
  const described = ({operation, column}: Used) => ({
    operation,
    column,
    how: operation === 'country' ? belongsTo(column, countries) : howFound(guesses, operation, column),
  });
  const read = [...new Set(countries.values())].map((column): Used => ({operation: 'country', column}));
  const used = [...targets, ...read];
  const beside = mentioned
    .filter(([setting]) => setting.startsWith('--verdict '))
    .map(([setting, column]) => ({operation: 'verify' as const, column, how: `sent along (${setting})`}));
  return {
    columns: [...used.map(described), ...beside],
    left_out: guesses.filter(({column}) => !used.some(each => each.column === column)).map(described),
  };
}

function countsOf(
  job: Job,
  {targets}: ColumnMapping,
  {rows, lookups: cells, errors, repairs, repaired}: Counters,
  {calls, firm}: {readonly calls: CallCount; readonly firm: CallCount},
  account: AccountLimits | undefined,
) {
  const operations = operationsOfTargets(targets);
  const lookups = operations.map(name => {
    const {empty, invalid, failed, skipped: filtered} = cells[name];
    const conditional = calls.operations[name].calls - firm.operations[name].calls;
    const counts = {values: sumOf(Object.values(cells[name])), empty, invalid: invalid + failed, filtered};
    return [name, {...counts, repaired: repaired[name], ...calls.operations[name], conditional}] as const;
  });
  return {
    rows: rows.written,
    rejected: rows.rejected,
    lookups: Object.fromEntries(lookups),
    errors: listErrors(errors),
    repairs: listErrors(repairs),
    credits: {
      at_least: toCredits(firm.cost),
      /** Cost if every condition holds and no call is sent again. */
      all_sent_once: toCredits(calls.cost),
      at_most: toCredits(calls.cost * mostSends(job.settings)),
    },
    ...timeAt(planLanes(job, operations, account), name => calls.operations[name].calls),
  };
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}

/** `countries of the phone numbers`. Names the phone columns unless all of them use this country column. */
function belongsTo(country: string, countries: ColumnMapping['countries']): string {
  const phones = [...countries].filter(([, column]) => column === country).map(([phone]) => `"${phone}"`);
  const isAll = phones.length === 0 || phones.length === countries.size;
  return `countries of the phone numbers${isAll ? '' : ` in ${phones.join(', ')}`}`;
}

function howFound(guesses: readonly ColumnGuess[], operation: Operation, column: string): string {
  const guess = guesses.find(candidate => candidate.column === column && candidate.operation === operation);
  if (guess === undefined) return 'named';
  const share =
    guess.share === undefined
      ? 'no values in the sample'
      : `${Math.round(guess.share * 100)}% of its values fit`;
  return `${guess.verdict === 'sure' ? 'sure' : 'unsure'}: ${guess.header === 'silent' ? 'by its values alone, ' : 'by its header, '}${share}`;
}

/** Milliseconds that all calls take, and calls a second of all lanes, which work in parallel; null without any rate. */
function timeAt(
  lanes: readonly LaneSettings[],
  callsOf: (operation: Operation) => number,
): {time_ms: number | null; rate_per_second: number | null} {
  const work = lanes.map(({operations, rate}) => ({
    calls: sumOf(operations.map(callsOf)),
    rate: perSecond(rate),
  }));
  const rates = work.map(({rate}) => rate).filter(Number.isFinite);
  if (rates.length === 0) return {time_ms: null, rate_per_second: null};
  const seconds = Math.max(...work.map(({calls, rate}) => calls / rate));
  return {time_ms: Math.round(seconds * 1_000), rate_per_second: sumOf(rates)};
}
