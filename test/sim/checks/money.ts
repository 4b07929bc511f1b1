import type {Summary} from '../../../src/report/summary.ts';
import type {Call} from '../world/service.ts';
import {
  type Check,
  callsInLedger,
  credits,
  DAY_MS,
  isMore,
  runsOfLedger,
  type Scene,
  scopeOfCall,
  scopeOfSpec,
} from './scene.ts';

/** The books of the run's own ledger; undefined where it told of none, or where some of it could not be read. */
function booksOf({run}: Scene): Summary['credits'] | undefined {
  const {summary, ledger} = run;
  return ledger === undefined || summary === undefined || summary.credits.earlier.unknown
    ? undefined
    : summary.credits;
}

function bounded(told: {spent: number; maybe_spent: number}, charged: number): string | undefined {
  const said = `the books say ${told.spent} and perhaps ${told.maybe_spent}, the service took ${charged}`;
  if (isMore(told.spent, charged)) return said;
  return isMore(charged, told.spent + told.maybe_spent) ? said : undefined;
}

const balanced: Check = {
  promise: 'What is spent is no more than the service took for this run, and with what may be spent no less.',
  broken(scene) {
    const books = booksOf(scene);
    if (books === undefined) return undefined;
    const {not_counted: others} = books.earlier;
    const all = {spent: books.spent + others.spent, maybe_spent: books.maybe_spent + others.maybe_spent};
    return bounded(all, credits(callsInLedger(scene)));
  },
};

const balancedByScope: Check = {
  promise: 'The same of one endpoint and account, whatever was spent at others.',
  broken(scene) {
    const books = booksOf(scene);
    if (books === undefined || runsOfLedger(scene).some(({spec}) => spec.freshBudget)) return undefined;
    const scope = scopeOfSpec(scene.run.spec);
    return bounded(books, credits(callsInLedger(scene).filter(call => scopeOfCall(call) === scope)));
  },
};

/** Whether nobody can tell what this call cost. */
function isDoubtful({told, code, spec}: Call): boolean {
  if (told === 'rejected') return spec.rejectedCharge === 'maybe';
  return told === undefined || told === 'ambiguous' || (told === 'fatal' && code.startsWith('http_'));
}

const exact: Check = {
  promise: 'Where no call was lost, nothing is only perhaps spent.',
  broken(scene) {
    const books = booksOf(scene);
    if (books === undefined || runsOfLedger(scene).some(({process, spec}) => process.killed || spec.fleet))
      return undefined;
    const doubtful = callsInLedger(scene).filter(isDoubtful).length;
    const maybe = books.maybe_spent + books.earlier.not_counted.maybe_spent;
    return doubtful === 0 && maybe > 0 ? `${maybe} credits are said to be spent perhaps` : undefined;
  },
};

const limited: Check = {
  promise: 'The limit of a run is never passed, resumes and restarts included.',
  broken(scene) {
    const {spec, calls} = scene.run;
    const {maxCredits} = spec;
    if (maxCredits === undefined || !calls.some(({charged}) => charged)) return undefined;
    const runs = runsOfLedger(scene);
    const scope = scopeOfSpec(spec);
    const fresh = runs.some(one => one.spec.freshBudget);
    const counted = fresh ? calls : callsInLedger(scene).filter(call => scopeOfCall(call) === scope);
    const charged = credits(counted);
    // What an earlier session of a fleet's run had sent out went by its own limit.
    const limit = spec.fleet
      ? Math.max(...runs.map(one => one.spec.maxCredits ?? Number.POSITIVE_INFINITY))
      : maxCredits;
    return isMore(charged, limit) ? `the service took ${charged} of ${limit}` : undefined;
  },
};

const limitedByDay: Check = {
  promise: 'The limit of a day is never passed, by no number of runs.',
  broken({run, service}) {
    const {perDay} = run.spec;
    if (perDay === undefined) return undefined;
    const output = run.job?.output.name;
    const ours = service.calls.filter(
      ({spec, charged}) => charged && spec.perDay !== undefined && spec.output === run.spec.output,
    );
    const days = new Set(
      run.calls.filter(({charged}) => charged).map(({sentAt}) => Math.floor(sentAt / DAY_MS)),
    );
    for (const day of days) {
      const taken = credits(ours.filter(({sentAt}) => Math.floor(sentAt / DAY_MS) === day));
      if (isMore(taken, perDay)) return `the service took ${taken} of ${perDay} a day for ${output}`;
    }
    return undefined;
  },
};

const usedUp: Check = {
  promise:
    'A run that stops at its limit, or publishes what there is, could not have afforded one call more.',
  broken(scene) {
    const books = booksOf(scene);
    const {spec, summary} = scene.run;
    if (summary?.reason !== 'budget' || books === undefined) return undefined;
    const {limit, per_day: day} = books as typeof books & {per_day?: {limit: number; used: number}};
    const left = limit === null ? Number.POSITIVE_INFINITY : limit - books.spent - books.maybe_spent;
    // The books are of the day in which they were closed, which may have begun after the limit was met.
    const isOneDay = summary.started_at.slice(0, 10) === summary.finished_at.slice(0, 10);
    if (day !== undefined && !isOneDay) return undefined;
    const leftToday = day === undefined ? Number.POSITIVE_INFINITY : day.limit - day.used;
    const least = Math.min(left, leftToday);
    return isMore(least + 1e-5, spec.cost)
      ? `${least} credits were left, and a call costs ${spec.cost}`
      : undefined;
  },
};

export const moneyChecks: readonly Check[] = [
  balanced,
  balancedByScope,
  exact,
  limited,
  limitedByDay,
  usedUp,
];
