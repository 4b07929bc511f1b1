import {inCredits} from '../job/money.ts';
import {utcDate} from '../job/paths.ts';
import type {Lookup} from '../ledger/lookup.ts';
import {isStored, type Operation} from '../operations/table.ts';
import {dueAge, endOf, type KnownAnswer, type Term} from '../store/validity.ts';

const DAY_MS = 86_400_000;

/** The calls of one coming day, and their cost. */
export interface DayAhead {
  calls: number;
  /** Cost of the calls, in thousandths of a credit. */
  cost: number;
}

/** Counts the answers to renew on each coming day, if the same list runs every day at this time. */
export class Forecast {
  readonly days: readonly DayAhead[];
  readonly #terms: Readonly<Record<Operation, Term>>;
  readonly #now: number;

  /** `now` in milliseconds since the epoch. */
  constructor(days: number, terms: Readonly<Record<Operation, Term>>, now: number) {
    this.days = Array.from({length: days}, () => ({calls: 0, cost: 0}));
    this.#terms = terms;
    this.#now = now;
  }

  /** Adds the lookup to each coming day on which its answer must be renewed. Today's call is not counted. */
  add({operation, key}: Lookup, known: KnownAnswer | undefined, cost: number): void {
    const isFresh = known?.validity === 'fresh';
    const term = endOf(known?.outcome.status ?? 'ok', this.#terms[operation]);
    const age = isStored(operation) ? dueAge(key, term) : 0;
    let asked = isFresh ? (known.outcome.boughtAt - this.#now) / DAY_MS : 0;
    for (;;) {
      asked = Math.max(1, Math.floor(asked + age / DAY_MS) + 1);
      const day = this.days[asked - 1];
      if (day === undefined) return;
      day.calls += 1;
      day.cost += cost;
    }
  }

  /** An entry for each coming day, in UTC, from tomorrow on. */
  byDate(): {date: string; calls: number; credits: number}[] {
    return this.days.map(({calls, cost}, index) => ({
      date: utcDate(this.#now + (index + 1) * DAY_MS),
      calls,
      credits: inCredits(cost),
    }));
  }
}
