import type {Sqlite, SqlRow} from '../disk/sqlite.ts';
import {answersOf, type KeptAnswer, type LedgerEntry, outcomeOf} from './entry.ts';
import {COPY_AT_ONCE, DOUBTS, guarded, INTERRUPTED, saved, stateOf, WAITING} from './ledger-file.ts';
import type {Outcome} from './lookup.ts';
import {
  beginningWith,
  emptyTally,
  type Spending,
  spendingOf,
  sumOf,
  type Tally,
  withAnswersAlone,
} from './tally.ts';

/** What attempts of this run that were given up have cost. */
export interface Earlier {
  /** In the run's books, and against its limit: at the same endpoint and account. */
  readonly counted: Spending;
  /** In neither: at another endpoint or account, or before the budget was begun anew. */
  readonly notCounted: Spending;
  /** Whether there was state that could not be read: nobody knows what that cost, or what it had asked for. */
  readonly unknown: boolean;
}

/** How a run is started over. */
export interface StartOver {
  /** Gives up the count of what was spent. */
  readonly freshBudget?: boolean;
  /** True if the count of a value's sends in doubt continues; else all of them count as one. */
  readonly keepsDoubts?: boolean;
}

/** Answers that belong to an endpoint and account. */
export interface ScopedAnswers {
  readonly scope: string;
  readonly answers: readonly KeptAnswer[];
}

/** Where there is nothing to read of it. */
export function nothingEarlier(unknown: boolean): Earlier {
  return {counted: sumOf([]), notCounted: sumOf([]), unknown};
}

/**
 * What attempts that were given up leave to the one under way: their books, their answers, and the doubt about calls
 * that may have been carried out. All of it belongs to the scope (endpoint and account) that it came from.
 */
export class GivenUp {
  readonly #lostState: boolean;
  readonly #sql: ReturnType<typeof statements>;
  #scope: string;
  #earlier: Earlier;

  constructor(db: Sqlite, lostState: boolean) {
    this.#lostState = lostState;
    this.#sql = statements(db);
    this.#scope = saved<string>(this.#sql.scope.get()?.value ?? '""');
    this.#earlier = this.#count();
  }

  /**
   * Gives up the attempt under way and begins one in `scope`, within the caller's transaction. Returns the books that
   * it begins with: with a fresh budget, none.
   */
  begin(tally: Tally, scope: string, {freshBudget = false, keepsDoubts = false}: StartOver): Tally {
    const {answers, doubts, countAsOne, forget, keepBooks, clear, setScope} = this.#sql;
    answers.run(this.#scope);
    doubts.run(this.#scope);
    if (!keepsDoubts) countAsOne.run(scope);
    forget.run(this.#scope);
    keepBooks.run(this.#scope, JSON.stringify(tally));
    if (freshBudget) this.#forgetSpending();
    for (const each of clear) each.run();
    setScope.run(JSON.stringify(scope));
    this.#scope = scope;
    this.#earlier = this.#count();
    return beginningWith(this.#books().find(books => books.isCounted)?.tally ?? emptyTally());
  }

  /** Endpoint and account of the attempt under way. */
  get scope(): string {
    return this.#scope;
  }

  get earlier(): Earlier {
    return this.#earlier;
  }

  /**
   * Returns an earlier attempt's entry of a value, undefined if it did not ask for it. An answer that no longer serves
   * only proves that the value was asked for.
   */
  find(key: string, serves: (answer: Outcome) => boolean = () => true): LedgerEntry | undefined {
    const row = guarded(() => this.#sql.find.get(key, this.#scope));
    const asked = {ambiguous: true, interrupted: undefined};
    const unknown = {...asked, doubts: 0, lastCode: INTERRUPTED, outcome: undefined};
    if (row === undefined) return this.#lostState ? unknown : undefined;
    const answer = outcomeOf(withAnswer(row));
    const outcome = answer !== undefined && serves(answer) ? answer : undefined;
    const lastCode = row.state === WAITING ? String(row.error ?? INTERRUPTED) : INTERRUPTED;
    return {...asked, doubts: Number(row.doubts), lastCode, outcome};
  }

  /** All answers that earlier attempts left in this scope, in groups. */
  answers(): Generator<KeptAnswer[]> {
    return this.#answersIn(this.#scope);
  }

  /** The same of all other scopes, which this run asks for nothing. */
  *answersElsewhere(): Generator<ScopedAnswers> {
    for (const row of guarded(() => this.#sql.scopes.all(this.#scope))) {
      const scope = String(row.scope);
      for (const answers of this.#answersIn(scope)) yield {scope, answers};
    }
  }

  #answersIn(scope: string): Generator<KeptAnswer[]> {
    const {answersFrom} = this.#sql;
    return answersOf(last => guarded(() => answersFrom.all(scope, String(last?.key ?? ''))).map(withAnswer));
  }

  /** What was spent by now counts against nobody's limit; where operations were answered is known as before. */
  #forgetSpending(): void {
    const {books, forget, keepBooks} = this.#sql;
    for (const {scope, tally} of books.all()) {
      if (scope === null) continue;
      forget.run(String(scope));
      keepBooks.run(null, String(tally));
      keepBooks.run(String(scope), JSON.stringify(withAnswersAlone(saved<Tally>(tally))));
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

/** The row with its answer, which a later doubt has left in it. */
function withAnswer(row: SqlRow): SqlRow {
  return row.state === WAITING && row.data !== null ? {...row, state: stateOf.ok} : row;
}

function statements(db: Sqlite) {
  return {
    // An answer stands for all that was in doubt before it.
    answers: db.prepare(
      'INSERT OR REPLACE INTO carried SELECT key, ?, operation, state, 0, error, data, bought_at FROM lookup WHERE nth IS NOT NULL',
    ),
    // An answer from before it stays beside it.
    doubts: db.prepare(
      `INSERT INTO carried SELECT key, ?, operation, ${WAITING}, ${DOUBTS}, error, NULL, NULL FROM lookup WHERE nth IS NULL AND ${DOUBTS} > 0 ON CONFLICT (key, scope) DO UPDATE SET state = excluded.state, doubts = doubts + excluded.doubts, error = excluded.error`,
    ),
    countAsOne: db.prepare('UPDATE carried SET doubts = 1 WHERE scope = ? AND doubts > 1'),
    find: db.query(
      ['state', 'doubts', 'error', 'data', 'bought_at'],
      'FROM carried WHERE key = ? AND scope = ?',
    ),
    answersFrom: db.query(
      ['key', 'operation', 'state', 'error', 'data', 'bought_at'],
      `FROM carried WHERE scope = ? AND key > ? AND (state <> ${WAITING} OR data IS NOT NULL) ORDER BY key LIMIT ${COPY_AT_ONCE}`,
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
