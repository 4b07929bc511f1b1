import type {Call} from '../world/service.ts';
import {type Check, callsOf, charged, isMore, UNTRIED, WEEK_MS} from './scene.ts';

/** Promises about credits. */

const balanced: Check = {
  promise: 'Spent is no more than the service charged the run, and with what may be spent no less.',
  broken({run, calls}) {
    const books = run.said?.summary?.credits;
    if (books === undefined || run.ledger === undefined) return UNTRIED;
    const own = callsOf(run.ledger, run.spec, calls.slice(0, run.callsByThen));
    const {spent, maybe_spent: maybe} = books;
    const taken = charged(own);
    if (!isMore(spent, taken) && !isMore(taken, spent + maybe)) return undefined;
    return `the books say ${spent} and perhaps ${maybe}, the service took ${taken}`;
  },
};

const counted: Check = {
  promise:
    'The calls of all sessions are counted: no more than the service took, and with those unconfirmed no less.',
  broken({run, calls}) {
    const counts = run.said?.summary?.calls;
    if (counts === undefined || run.ledger === undefined) return UNTRIED;
    const {total, unconfirmed, unsent, by_status, by_error} = counts;
    const own = callsOf(run.ledger, run.spec, calls.slice(0, run.callsByThen));
    const taken = own.filter(({told}) => told !== 'not sent').length;
    const tried = [by_status, by_error].flatMap(Object.values).reduce((sum: number, count) => sum + count, 0);
    const isRight = total <= taken && taken <= total + unconfirmed && tried === total + unconfirmed + unsent;
    return isRight
      ? undefined
      : `${total} calls, ${unconfirmed} unconfirmed, ${tried} by their ends; the service took ${taken}`;
  },
};

const limited: Check = {
  promise: 'The limit of a run is never exceeded, all of its sessions together.',
  broken({run, calls}) {
    const {maxCredits = Number.POSITIVE_INFINITY} = run.spec;
    if (!Number.isFinite(maxCredits) || charged(run.calls) === 0) return UNTRIED;
    // Answers of a run from more than a week before may have expired: then they are bought again.
    const isOld = ({told, toldAt}: Call) => told === 'answered' && run.startedAt - toldAt > WEEK_MS;
    const taken = charged(callsOf(run.ledger, run.spec, calls).filter(call => !isOld(call)));
    return isMore(taken, maxCredits) ? `the service took ${taken} of ${maxCredits}` : undefined;
  },
};

const DAY_MS = 24 * 3_600_000;
const dayOf = (ms: number) => Math.floor(ms / DAY_MS);

const limitedByAccount: Check = {
  promise: "The limit of an account's day is never exceeded, by no number of runs.",
  broken({run, calls, simulation: {accountPerDay, isHealing}}) {
    if (accountPerDay === undefined || isHealing || run.spec.account !== 0 || run.calls.length === 0)
      return UNTRIED;
    const own = calls.filter(({spec}) => spec.account === 0);
    for (const day of new Set(run.calls.map(({sentAt}) => dayOf(sentAt)))) {
      const taken = charged(own.filter(({sentAt}) => dayOf(sentAt) === day));
      if (isMore(taken, accountPerDay)) return `the service took ${taken} of ${accountPerDay} that day`;
    }
    return undefined;
  },
};

export const moneyChecks: readonly Check[] = [balanced, counted, limited, limitedByAccount];
