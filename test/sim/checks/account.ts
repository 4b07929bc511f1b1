import {exitCodes} from '../../../src/errors.ts';
import type {Summary} from '../../../src/report/summary.ts';
import type {RunSpec} from '../model/commands.ts';
import type {Call} from '../world/service.ts';
import {
  ageOf,
  type Check,
  CLOCKS_APART_MS,
  credits,
  DAY_MS,
  grouped,
  isMore,
  mostOf,
  priceOf,
  type Scene,
  STALE_MS,
  storedAs,
  UNTRIED,
} from './scene.ts';

/** What runs share: the credits of an account, by day and month. */

/** True for a call or a run that the account's file limits. */
const isOfAccount = ({spec}: {readonly spec: RunSpec}) => spec.endpoint === 0 && spec.account === 0;
const dayOf = (ms: number) => Math.floor(ms / DAY_MS);

/** UTC. */
const monthOf = (ms: number) => new Date(ms).toISOString().slice(0, 7);

/** The times between which a summary's counts were read: a moment before the end, which may be after midnight. */
function readAt({run}: Scene, {finished_at: finished}: Summary): readonly number[] {
  const last = Math.min(run.endedAt, Date.parse(finished));
  return [last - 1_000, last];
}

const limitedByAccount: Check = {
  promise: "The limits of an account's day and month are never passed, by no number of jobs.",
  broken({run, service, accountPerDay, accountPerMonth}) {
    if ((accountPerDay ?? accountPerMonth) === undefined || !isOfAccount(run) || run.healed) return UNTRIED;
    const charged = service.calls.filter(call => call.charged && isOfAccount(call));
    const mostBy = (periodOf: (call: Call) => string) =>
      Math.max(0, ...grouped(charged, periodOf).map(credits));
    const ofDay = mostBy(({sentAt}) => String(dayOf(sentAt)));
    if (accountPerDay !== undefined && isMore(ofDay, accountPerDay))
      return `the service took ${ofDay} of ${accountPerDay} a day`;
    const ofMonth = mostBy(({sentAt}) => monthOf(sentAt));
    return accountPerMonth !== undefined && isMore(ofMonth, accountPerMonth)
      ? `the service took ${ofMonth} of ${accountPerMonth} a month`
      : undefined;
  },
};

const used: Check = {
  promise: "What is told to be used of an account's day and month is no less than the service took in them.",
  fields: ['credits.account.per_day', 'credits.account.per_month'],
  broken(scene) {
    const {run, service, accountPerDay, accountPerMonth} = scene;
    const {summary, ledger, isAlone} = run;
    if (summary === undefined || ledger === undefined || !isAlone || !isOfAccount(run) || run.healed)
      return UNTRIED;
    const {per_day: day, per_month: month} = summary.credits.account;
    const isRight = day?.limit === accountPerDay && month?.limit === accountPerMonth;
    // Of a disk that takes no writes the count may not be readable either.
    if (run.calls.length > 0 && !isRight && run.code !== exitCodes.output)
      return `the limits are ${day?.limit} and ${month?.limit}`;
    const charged = service.calls.filter(call => call.charged && isOfAccount(call));
    const leastBy = (periodOf: (ms: number) => string | number) =>
      Math.min(
        ...readAt(scene, summary).map(at =>
          credits(charged.filter(({sentAt}) => periodOf(sentAt) === periodOf(at))),
        ),
      );
    const [ofDay, ofMonth] = [leastBy(dayOf), leastBy(monthOf)];
    if (day !== undefined && isMore(ofDay, day.used)) return `${day.used} of the day's ${ofDay}`;
    return month !== undefined && isMore(ofMonth, month.used)
      ? `${month.used} of the month's ${ofMonth}`
      : undefined;
  },
};

const givenBack: Check = {
  promise: "What is counted of an account's day was sent, or may have been, also after a kill.",
  broken(scene) {
    const {run, runs, service, lostState} = scene;
    const {summary, ledger} = run;
    const used = summary?.credits.account.per_day?.used;
    const isOwn = ledger !== undefined && run.isAlone;
    if (used === undefined || summary === undefined || !isOwn || lostState) return UNTRIED;
    const killed = runs.filter(one => isOfAccount(one) && one.process.killed);
    // A block stays with the state of the run that has it, until that is resumed.
    const holders = runs.filter(one => one.process.killed || one.process.refused);
    if (holders.some(one => isOfAccount(one) && one.ledger !== ledger)) return UNTRIED;
    const days = readAt(scene, summary).map(dayOf);
    const sent = service.calls
      .slice(0, run.callsByThen)
      .filter(call => isOfAccount(call) && days.includes(dayOf(call.sentAt)));
    const mayCost = sent.reduce((sum, call) => sum + priceOf(call), 0);
    const unsent = killed.reduce((sum, {spec}) => sum + spec.concurrency * mostOf(spec), 0);
    return isMore(used, mayCost + unsent) ? `${used} are counted, of ${mayCost} that were sent` : undefined;
  },
};

const halved: Check = {
  promise: 'Values that have an answer get half of what a published run may spend, whatever limits it.',
  broken(scene) {
    const {run, runs, accountPerDay, accountPerMonth} = scene;
    const {spec, storedBefore, summary} = run;
    const isOnly = !runs.some(one => one !== run && one.ledger === run.ledger);
    if (!spec.publishesAtLimit || summary === undefined || !isOnly || !run.storeIsOld) return UNTRIED;
    const perDay = isOfAccount(run) && !run.healed ? accountPerDay : undefined;
    const limits = [spec.maxCredits, perDay, isOfAccount(run) && !run.healed ? accountPerMonth : undefined];
    const limit = Math.min(...limits.map(each => each ?? Number.POSITIVE_INFINITY));
    const isOneDay = dayOf(run.startedAt) === dayOf(Date.parse(summary.finished_at));
    if (perDay !== undefined && !isOneDay) return UNTRIED;
    // An answer that is too old to serve, or of a day to come, is as good as none.
    const oldest = run.startedAt - ageOf(spec) - (spec.stale ? STALE_MS : 0);
    const newest = run.startedAt + CLOCKS_APART_MS;
    const renewed = run.calls.filter(({operation, value}) => {
      const boughtAt = storedBefore.get(storedAs(operation, value, spec)) ?? 0;
      return operation !== 'verify' && boughtAt >= oldest && boughtAt <= newest;
    });
    const taken = credits(renewed);
    return isMore(taken, limit / 2) ? `they got ${taken} of ${limit}` : undefined;
  },
};

export const accountChecks: readonly Check[] = [limitedByAccount, used, givenBack, halved];
