import type {Sqlite, SqlRow} from '../disk/sqlite.ts';
import type {KeptAnswer, LedgerEntry} from './entry.ts';
import {guarded} from './ledger-file.ts';
import {answersOf, outcomeOf, pagesOf, ROWS_AT_ONCE, stateOf, WAITING} from './ledger-rows.ts';
import type {Outcome} from './lookup.ts';
import {saved, toSaved} from './saved-value.ts';
import {
  beginningWith,
  emptyTally,
  type Spending,
  spendingOf,
  sumOf,
  type Tally,
  withAnswersAlone,
} from './tally.ts';
import {addedUp, asOneDoubt, historyIn} from './value-history.ts';

/** The run's spending before its restarts. */
export interface Earlier {
  /** Spent at the current endpoint and account: it counts in the books and against the limit. */
  readonly counted: Spending;
  /** Spent at another endpoint or account, or before `--restart fresh`: it counts against no limit. */
  readonly notCounted: Spending;
  /** True if a saved state was unreadable, so that its cost and values are unknown. */
  readonly unknown: boolean;
}

export interface StartOver {
  /** True if the new attempt starts with empty books: earlier spending counts against no limit. */
  readonly freshBudget?: boolean;
  /**
   * True keeps each value's number of doubts: calls that may have been charged and brought no answer. False
   * counts all doubts of a value as one.
   */
  readonly keepsDoubts?: boolean;
  /**
   * The new run's identity. The restart saves it in its own transaction, so a kill leaves no restarted ledger
   * without an identity.
   */
  readonly run?: unknown;
}

/** Answers from one endpoint and account (`scope`). */
export interface ScopedAnswers {
  readonly scope: string;
  readonly answers: readonly KeptAnswer[];
}

/** {@link Earlier} without spending. `unknown`: true if a saved state could not be read. */
export function nothingEarlier(unknown: boolean): Earlier {
  return {counted: sumOf([]), notCounted: sumOf([]), unknown};
}

/**
 * Keeps what is left of a run's earlier attempts. An attempt is the run's work between two restarts. It leaves
 * books (counts of calls and credits), answers, and doubts about calls that the service may have carried out. Each
 * of these belongs to a scope: the endpoint and account at which it arose.
 */
export class GivenUp {
  readonly #lostState: boolean;
  readonly #sql: ReturnType<typeof statements>;
  #scope: string;
  #earlier: Earlier;
  /** True if earlier attempts left no answers or doubts, as in most runs. Then {@link find} needs no search. */
  #isEmpty: boolean;

  constructor(db: Sqlite, lostState: boolean) {
    this.#lostState = lostState;
    this.#sql = statements(db);
    this.#scope = saved<string>(this.#sql.scope.get()?.value ?? '""');
    this.#earlier = this.#count();
    this.#isEmpty = this.#sql.any.get() === undefined;
  }

  /**
   * Restarts the run: ends its current attempt (the work since the last restart) and begins a new one in
   * `scope` (endpoint and account). Returns the new attempt's books. With a fresh budget, these lack earlier
   * spending. The caller must have begun a transaction.
   */
  begin(tally: Tally, scope: string, {freshBudget = false, keepsDoubts = false}: StartOver): Tally {
    const {answers, forget, keepBooks, clear, setScope} = this.#sql;
    answers.run(this.#scope);
    this.#keepDoubts();
    if (!keepsDoubts) this.#countAsOne(scope);
    forget.run(this.#scope);
    keepBooks.run(this.#scope, toSaved(tally));
    if (freshBudget) this.#forgetSpending();
    for (const each of clear) each.run();
    setScope.run(toSaved(scope));
    this.#scope = scope;
    this.#earlier = this.#count();
    this.#isEmpty = this.#sql.any.get() === undefined;
    return beginningWith(this.#books().find(books => books.isCounted)?.tally ?? emptyTally());
  }

  /** Endpoint and account of the run since its last restart. */
  get scope(): string {
    return this.#scope;
  }

  get earlier(): Earlier {
    return this.#earlier;
  }

  /**
   * Returns a value's entry from earlier attempts; undefined if they never sent the value. If an attempt's
   * state was unreadable, any value may have been sent, so each value has an entry. If `serves` refuses the
   * answer, the entry has no outcome, and says only that a call was sent.
   */
  find(key: string, serves: (answer: Outcome) => boolean = () => true): LedgerEntry | undefined {
    const row = this.#isEmpty ? undefined : guarded(() => this.#sql.find.get(key, this.#scope));
    if (row === undefined && !this.#lostState) return undefined;
    const answer = row && outcomeOf(withAnswer(row));
    const outcome = answer !== undefined && serves(answer) ? answer : undefined;
    return {...historyIn(row?.history), mayBeCarriedOut: true, interrupted: undefined, outcome};
  }

  /** Yields, in groups, all answers that earlier attempts got at the current endpoint and account. */
  answers(): Generator<KeptAnswer[]> {
    return this.#answersIn(this.#scope);
  }

  /** Yields the answers from other endpoints and accounts. Other runs can use them, but this run can't. */
  *answersElsewhere(): Generator<ScopedAnswers> {
    for (const row of guarded(() => this.#sql.scopes.all(this.#scope))) {
      const scope = String(row.scope);
      for (const answers of this.#answersIn(scope)) yield {scope, answers};
    }
  }

  /** Adds the doubts since the last restart to those from before it. */
  #keepDoubts(): void {
    const {doubtful, find, keepDoubts} = this.#sql;
    for (const rows of pagesOf(last => doubtful.all(Number(last?.id ?? 0))))
      for (const {key, operation, history} of rows) {
        const since = historyIn(history);
        if (since.doubts === 0) continue;
        const before = historyIn(find.get(String(key), this.#scope)?.history);
        keepDoubts.run(String(key), this.#scope, String(operation), toSaved(addedUp(since, before)));
      }
  }

  #countAsOne(scope: string): void {
    const {carriedDoubts, setHistory} = this.#sql;
    for (const rows of pagesOf(last => carriedDoubts.all(scope, String(last?.key ?? ''))))
      for (const {key, history} of rows) {
        const before = historyIn(history);
        if (before.doubts > 1) setHistory.run(toSaved(asOneDoubt(before)), String(key), scope);
      }
  }

  #answersIn(scope: string): Generator<KeptAnswer[]> {
    const {answersFrom} = this.#sql;
    return answersOf(last => guarded(() => answersFrom.all(scope, String(last?.key ?? ''))).map(withAnswer));
  }

  /**
   * Excludes all earlier spending from every limit. Keeps the numbers of answers, which show the operations
   * that the service has answered.
   */
  #forgetSpending(): void {
    const {books, forget, keepBooks} = this.#sql;
    for (const {scope, tally} of books.all()) {
      if (scope === null) continue;
      forget.run(String(scope));
      keepBooks.run(null, String(tally));
      keepBooks.run(String(scope), toSaved(withAnswersAlone(saved<Tally>(tally))));
    }
  }

  #count(): Earlier {
    const books = this.#books();
    const sum = (counted: boolean) =>
      sumOf(books.filter(({isCounted}) => isCounted === counted).map(({tally}) => spendingOf(tally)));
    return {counted: sum(true), notCounted: sum(false), unknown: this.#lostState};
  }

  #books(): {readonly isCounted: boolean; readonly tally: Tally}[] {
    return this.#sql.books.all().map(({scope, tally}) => ({
      isCounted: scope === this.#scope,
      tally: saved<Tally>(tally),
    }));
  }
}

/** Returns the row, with state `ok` if it has an answer: a later doubt may have set its state to `WAITING`. */
function withAnswer(row: SqlRow): SqlRow {
  return row.state === WAITING && row.data !== null ? {...row, state: stateOf.ok} : row;
}

function statements(db: Sqlite) {
  return {
    // An answer settles the doubts before it, so it is kept without a history.
    answers: db.prepare(
      'INSERT OR REPLACE INTO carried (key, scope, operation, state, error, data, bought_at) SELECT key, ?, operation, state, error, data, bought_at FROM lookup WHERE nth IS NOT NULL',
    ),
    doubtful: db.query(
      ['id', 'key', 'operation', 'history'],
      `FROM lookup WHERE id > ? AND nth IS NULL AND history IS NOT NULL ORDER BY id LIMIT ${ROWS_AT_ONCE}`,
    ),
    // The row in `carried` may have the value's answer from an earlier attempt. The statement keeps this
    // answer.
    keepDoubts: db.prepare(
      `INSERT INTO carried (key, scope, operation, state, history) VALUES (?, ?, ?, ${WAITING}, ?) ON CONFLICT (key, scope) DO UPDATE SET state = excluded.state, history = excluded.history, error = NULL`,
    ),
    carriedDoubts: db.query(
      ['key', 'history'],
      `FROM carried WHERE scope = ? AND key > ? AND history IS NOT NULL ORDER BY key LIMIT ${ROWS_AT_ONCE}`,
    ),
    setHistory: db.prepare('UPDATE carried SET history = ? WHERE key = ? AND scope = ?'),
    any: db.query(['key'], 'FROM carried LIMIT 1'),
    find: db.query(
      ['state', 'history', 'error', 'data', 'bought_at'],
      'FROM carried WHERE key = ? AND scope = ?',
    ),
    answersFrom: db.query(
      ['key', 'operation', 'state', 'error', 'data', 'bought_at'],
      `FROM carried WHERE scope = ? AND key > ? AND (state <> ${WAITING} OR data IS NOT NULL) ORDER BY key LIMIT ${ROWS_AT_ONCE}`,
    ),
    scopes: db.query(['scope'], 'FROM (SELECT DISTINCT scope FROM carried WHERE scope <> ?)'),
    forget: db.prepare('DELETE FROM given_up WHERE scope = ?'),
    keepBooks: db.prepare('INSERT INTO given_up VALUES (?, ?)'),
    books: db.query(['scope', 'tally'], 'FROM given_up'),
    clear: ['lookup', 'meta'].map(table => db.prepare(`DELETE FROM ${table}`)),
    scope: db.query(['value'], "FROM meta WHERE name = 'scope'"),
    setScope: db.prepare("INSERT INTO meta VALUES ('scope', ?)"),
  };
}
