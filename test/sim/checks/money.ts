import {operationNames} from '../../../src/operations/table.ts';
import type {Summary} from '../../../src/report/summary.ts';
import {startsFresh} from '../model/commands.ts';
import {accountOf, callsPath, endpointOf, keepsState, outputPath, recordsCalls} from '../model/places.ts';
import {
  type Check,
  callsInLedger,
  credits,
  isBegunAnew,
  isBooked,
  isDoubtful,
  isMore,
  lacksHistory,
  mayLeaveToStartOver,
  mostOf,
  priceOf,
  runsOfLedger,
  type Scene,
  scopeOfCall,
  scopeOfSpec,
  textOf,
  UNTRIED,
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
    if (books === undefined) return UNTRIED;
    const {not_counted: others} = books.earlier;
    const all = {spent: books.spent + others.spent, maybe_spent: books.maybe_spent + others.maybe_spent};
    return bounded(all, credits(callsInLedger(scene)));
  },
};

/** The books, and the calls of the run's endpoint and account alone; undefined where those are not all in them. */
function ofScope(scene: Scene) {
  const books = booksOf(scene);
  if (books === undefined || runsOfLedger(scene).some(({spec}) => startsFresh(spec))) return undefined;
  const scope = scopeOfSpec(scene.run.spec);
  return {books, calls: callsInLedger(scene).filter(call => scopeOfCall(call) === scope)};
}

const balancedByScope: Check = {
  promise: 'The same of one endpoint and account, whatever was spent at others.',
  fields: ['credits.spent', 'credits.maybe_spent'],
  broken(scene) {
    const scoped = ofScope(scene);
    if (scoped === undefined) return UNTRIED;
    return bounded(scoped.books, credits(scoped.calls));
  },
};

const balancedByOperation: Check = {
  promise: 'The same of each operation; together they are all that is spent.',
  fields: ['credits.by_operation'],
  broken(scene) {
    const scoped = ofScope(scene);
    if (scoped === undefined) return UNTRIED;
    const {books, calls} = scoped;
    for (const name of operationNames) {
      const charged = credits(calls.filter(({operation}) => operation === name));
      const broken = bounded(books.by_operation[name] ?? NOTHING, charged);
      if (broken !== undefined) return `${name}: ${broken}`;
    }
    const sum = Object.values(books.by_operation).reduce((all, {spent}) => all + spent, 0);
    return isMore(sum, books.spent) || isMore(books.spent, sum)
      ? `${sum} by operation, ${books.spent} in all`
      : undefined;
  },
};

const counted: Check = {
  promise: 'As many calls are counted as were sent, and those of which nobody heard beside them.',
  fields: ['calls.total'],
  broken(scene) {
    const {run} = scene;
    const runs = runsOfLedger(scene);
    const mayBeSeveral = runs.some(
      one =>
        one.spec.restart ||
        one.spec.fromFile ||
        isBegunAnew(one) ||
        (one !== run && mayLeaveToStartOver(one, scene)),
    );
    if (run.summary === undefined || run.ledger === undefined || mayBeSeveral) return UNTRIED;
    const {total, unconfirmed} = run.summary.calls;
    const sent = callsInLedger(scene).filter(({told}) => told !== 'not sent').length;
    return total > sent || sent > total + unconfirmed
      ? `${total} and perhaps ${unconfirmed} are counted, ${sent} were sent`
      : undefined;
  },
};

const plain: Check = {
  promise: 'Credits are told without the tails of binary fractions.',
  broken({run}) {
    const {spent, maybe_spent: maybe, earlier} = run.summary?.credits ?? NONE;
    const all = [spent, maybe, ...[earlier.counted, earlier.not_counted].flatMap(one => Object.values(one))];
    const odd = all.find(amount => Math.round(amount * 1_000) / 1_000 !== amount);
    return odd === undefined ? undefined : `the summary says ${odd}`;
  },
};

const EMPTY = Buffer.alloc(0);
const NOTHING = {spent: 0, maybe_spent: 0};
const NONE = {...NOTHING, earlier: {counted: NOTHING, not_counted: NOTHING}};

const exact: Check = {
  promise: 'No more is perhaps spent than the calls cost of which nobody knows.',
  broken(scene) {
    const books = booksOf(scene);
    if (books === undefined || runsOfLedger(scene).some(({process, spec}) => process.killed || spec.fleet))
      return UNTRIED;
    const doubtful = callsInLedger(scene).filter(call => isDoubtful(call) || !isBooked(call, scene));
    const most = doubtful.reduce((sum, call) => sum + priceOf(call), 0);
    const maybe = books.maybe_spent + books.earlier.not_counted.maybe_spent;
    return isMore(maybe, most) ? `${maybe} credits are said to be spent perhaps, of ${most}` : undefined;
  },
};

const kept: Check = {
  promise: 'A full disk loses no answer: the same command pays for none of them again.',
  broken({run}) {
    if (run.process.refused !== 'ENOSPC' || run.process.killed || run.spec.stdin) return UNTRIED;
    if (!keepsState(run.spec)) return UNTRIED;
    const heard = run.calls.filter(({told}) => told === 'answered');
    const lost = heard.find(({mayBeRecorded}) => !mayBeRecorded);
    if (heard.length === 0) return UNTRIED;
    return lost && `the ledger lacks call #${lost.nth}`;
  },
};

const limited: Check = {
  promise: 'The limit of a run is never passed, resumes and restarts included.',
  broken(scene) {
    const {spec, calls} = scene.run;
    const {maxCredits} = spec;
    if (maxCredits === undefined || !calls.some(({charged}) => charged)) return UNTRIED;
    const runs = runsOfLedger(scene);
    const scope = scopeOfSpec(spec);
    const fresh = runs.some(one => startsFresh(one.spec));
    const counted = fresh ? calls : callsInLedger(scene).filter(call => scopeOfCall(call) === scope);
    const charged = credits(counted);
    // An earlier session of a fleet's run had its own limit, which a fresh budget does not count. A run with nothing to
    // do has no ledger.
    const limits = runs.map(one => one.spec.maxCredits ?? Number.POSITIVE_INFINITY);
    const ofFleet = fresh ? limits.reduce((sum, one) => sum + one, 0) : Math.max(maxCredits, ...limits);
    const limit = spec.fleet ? ofFleet : maxCredits;
    return isMore(charged, limit) ? `the service took ${charged} of ${limit}` : undefined;
  },
};

/** True if this session alone left values out at its limit. If old answers serve, new ones get half of it. */
function skipsForBudget({run, runs}: Scene): boolean {
  const {spec, summary, after} = run;
  if (!spec.publishesAtLimit || spec.stale || summary?.resumed.times !== 0 || !run.isAlone) return false;
  const isFirst = !runs.some(one => one !== run && one.ledger === run.ledger);
  return (
    isFirst && run.stop === undefined && /skipped.*budget/.test(textOf(after.get(outputPath(spec)) ?? EMPTY))
  );
}

const usedUp: Check = {
  promise:
    'A run that stops at its limit, or publishes what there is, could not have afforded one call more.',
  broken(scene) {
    const books = booksOf(scene);
    const {spec, summary} = scene.run;
    if (summary === undefined || books === undefined) return UNTRIED;
    if (summary.reason !== 'budget' && !skipsForBudget(scene)) return UNTRIED;
    if ((scene.accountPerDay ?? scene.accountPerMonth) !== undefined) return UNTRIED;
    // Rows that an earlier session had skipped at a limit which there is no more, or is higher by now.
    if (isRaised(scene)) return UNTRIED;
    const limit = books.limit ?? Number.POSITIVE_INFINITY;
    const left = limit - books.spent - books.maybe_spent;
    // If old answers serve, new ones get half of the limit, and don't wait for a call that may turn out free.
    const isServed = spec.stale && summary.status === 'partial';
    if (isServed && callsInLedger(scene).some(call => !call.charged && !isDoubtful(call))) return UNTRIED;
    return isMore(left + 1e-5, mostOf(spec) + (isServed ? limit / 2 : 0))
      ? `${left} credits were left, and a call costs ${mostOf(spec)}`
      : undefined;
  },
};

/** True if an earlier session of the run had a lower limit. */
function isRaised(scene: Scene): boolean {
  const now = scene.run.spec.maxCredits ?? Number.POSITIVE_INFINITY;
  return runsOfLedger(scene).some(({spec}) => (spec.maxCredits ?? Number.POSITIVE_INFINITY) < now);
}

const proven: Check = {
  promise: 'The lines of calls add up to the books, to the last credit.',
  broken({run}) {
    const {spec, summary, after, end} = run;
    const file = after.get(callsPath(spec));
    const isOwn = recordsCalls(spec) && run.isAlone;
    if (!isOwn || summary === undefined || end === 'complete' || run.ledger === undefined) return UNTRIED;
    if (run.end === 'unpublished' || summary.credits.earlier.unknown) return UNTRIED;
    if (run.warnings.some(sentence => sentence.startsWith('The calls could not be written'))) return UNTRIED;
    if (file === undefined) return summary.calls.total === 0 ? undefined : 'there are none';
    const sums = {spent: 0, maybe: 0, free: 0};
    for (const line of file.toString().split('\n').filter(Boolean)) {
      const {booked, credits: own} = JSON.parse(line) as {booked: keyof typeof sums; credits: number};
      if (own < 0) return `one takes ${-own} credits back`;
      sums[booked] += Math.round(own * 1_000);
    }
    const {spent, maybe_spent: maybe} = summary.credits;
    return sums.spent === Math.round(spent * 1_000) && sums.maybe === Math.round(maybe * 1_000)
      ? undefined
      : `they come to ${sums.spent / 1_000} and perhaps ${sums.maybe / 1_000}, the books to ${spent} and ${maybe}`;
  },
};

const recorded: Check = {
  promise: 'Each call that the service had is a line, where all sessions recorded theirs.',
  broken(scene) {
    const {run, lostState} = scene;
    const runs = runsOfLedger(scene);
    const isOwn = runs.every(one => recordsCalls(one.spec) && !startsFresh(one.spec));
    const file = run.after.get(callsPath(run.spec));
    const isTold = isOwn && run.isAlone && run.summary !== undefined && run.end !== 'complete' && !lostState;
    if (!isTold || file === undefined || run.ledger === undefined) return UNTRIED;
    if (run.healed || run.end === 'unpublished') return UNTRIED;
    if (run.warnings.some(sentence => sentence.startsWith('The calls could not be written'))) return UNTRIED;
    const scope = scopeOfSpec(run.spec);
    const sent = callsInLedger(scene).filter(call => scopeOfCall(call) === scope && call.told !== 'not sent');
    if (/"not_recorded"/.test(file.toString())) return 'some of what was spent is in no line';
    const lines = file.toString().split('\n').filter(Boolean).length;
    return lines < sent.length ? `${lines} lines, ${sent.length} calls` : undefined;
  },
};

const told: Check = {
  promise: 'What the history adds up to is what the service took, at each endpoint and account.',
  broken(scene) {
    const {run, runs, service, history, lostState} = scene;
    const isOwn = run.ledger !== undefined && run.isAlone;
    if (run.summary === undefined || !isOwn || lostState) return UNTRIED;
    if (runs.some(lacksHistory)) return UNTRIED;
    // The next session reports what a kill leaves.
    if (runs.some(one => one.process.killed && one.ledger !== run.ledger)) return UNTRIED;
    for (const {spec} of runs) {
      const lines = [...history.values()].filter(
        ({account}) => account.endpoint === endpointOf(spec) && account.label === accountOf(spec),
      );
      const sum = (of: 'spent' | 'maybe_spent') => lines.reduce((all, {credits: each}) => all + each[of], 0);
      const calls = service.calls.filter(call => scopeOfCall(call) === scopeOfSpec(spec));
      const broken = bounded({spent: sum('spent'), maybe_spent: sum('maybe_spent')}, credits(calls));
      if (broken !== undefined) return `${endpointOf(spec)}, ${accountOf(spec)}: ${broken}`;
    }
    return undefined;
  },
};

export const moneyChecks: readonly Check[] = [
  balanced,
  balancedByScope,
  balancedByOperation,
  counted,
  plain,
  exact,
  kept,
  limited,
  usedUp,
  proven,
  recorded,
  told,
];
