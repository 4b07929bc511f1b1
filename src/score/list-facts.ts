import type {RowPlanner} from '../columns/plan-row.ts';
import {createCellReader, requireColumn, type Target} from '../columns/targets.ts';
import {IN_LIST_SQL, type PreparedQuery, type Sqlite} from '../disk/sqlite.ts';
import {openTemporaryDatabase, orThrowTemporaryUnwritable} from '../disk/temporary.ts';
import type {InputFormat, Row} from '../input/row.ts';
import {hashKey, type Lookup} from '../ledger/lookup-outcome.ts';
import {canonicalMailbox} from '../operations/mail/mail-providers.ts';
import type {PathReference} from './language/expression.ts';
import {type SharedCountName, type SharedCounts, sharedCountNames} from './language/rule-variables.ts';

const HASH = 11;
const NO_MEMBER = ' '.repeat(HASH);
const WRITTEN_AT_ONCE = 2_000;
/** Rows whose counts are read at once, and maximum of such parts in memory: rows are judged nearly in order. */
const READ_AT_ONCE = 2_048;
const MOST_PARTS = 8;

/** `place`: the number of a row and a counted column. `who`: hash of the person or address that has the value there. */
const TABLES = `
  CREATE TABLE value (hash TEXT, who TEXT, place INTEGER);
  CREATE TABLE shared (hash TEXT PRIMARY KEY, count INTEGER, place INTEGER) WITHOUT ROWID;
  CREATE TABLE place (place INTEGER PRIMARY KEY, count INTEGER);`;
const ADD = `INSERT INTO value SELECT substr(value, 1, ${HASH}), nullif(trim(substr(value, ${HASH + 1}, ${HASH})), ''),
  CAST(substr(value, ${2 * HASH + 1}) AS INTEGER) FROM json_each(?)`;
/** A value with a single person has no entry. */
const COUNT = `
  INSERT INTO shared SELECT hash, count(DISTINCT who) AS count, place FROM value GROUP BY hash HAVING count <> 1;
  INSERT INTO place SELECT value.place, count FROM value CROSS JOIN shared USING (hash);`;

interface CountedFact {
  readonly target: number;
  readonly fact: SharedCountName;
  readonly lookupIn: (row: Row) => Lookup | undefined;
}

/** Counts exactly how many in a list share a row's values, in a temporary file, so memory is flat. */
export class ListFacts {
  /** By fact: the rows with a value that several have, and the ten highest counts. Undefined until all is counted. */
  shared: Partial<Record<SharedCountName, {rows: number; largest: number[]}>> | undefined;
  /** False until all is counted, and once the list is another one. */
  isCurrent = () => false;
  directory: string | undefined;
  readonly #counted: readonly CountedFact[];
  readonly #personIn: (row: Row) => string | undefined;
  #file: Sqlite | undefined;
  #waiting: string[] = [];
  #find: PreparedQuery | undefined;
  readonly #parts = new Map<number, ReadonlyMap<number, number>>();

  constructor(counted: readonly CountedFact[], personIn: (row: Row) => string | undefined) {
    this.#counted = counted;
    this.#personIn = personIn;
  }

  add(row: Row): void {
    try {
      for (const [column, {fact, lookupIn}] of this.#counted.entries()) {
        const lookup = lookupIn(row);
        const value = lookup?.params[lookup.operation];
        if (lookup === undefined || value === undefined) continue;
        const shared = sharedText(fact, value);
        const hashed = (text: string) =>
          (text === value ? lookup.key : hashKey(`${lookup.operation}\0${text}`)).slice(0, HASH);
        const hash = hashed(shared);
        const who = fact === 'mailbox' ? value.toLowerCase() : this.#personIn(row);
        // Most addresses are their mailbox's only one: then the lookup's own hash is enough.
        const member = who === undefined || who === '' ? NO_MEMBER : who === shared ? hash : hashed(who);
        this.#waiting.push(`${hash}${member}${row.record * this.#counted.length + column}`);
      }
    } catch {
      // A getter of a program's row threw: the run reports it once it takes the row.
    }
    if (this.#waiting.length >= WRITTEN_AT_ONCE) orThrowTemporaryUnwritable(() => this.#write());
  }

  /** `isCurrent`: returns false once the list is another one. */
  count(isCurrent: () => boolean): void {
    this.isCurrent = isCurrent;
    orThrowTemporaryUnwritable(() => {
      const db = this.#write();
      db.exec(COUNT);
      this.#find = db.query(['place', 'count'], 'FROM place WHERE place BETWEEN ? AND ?');
      this.shared = Object.fromEntries(this.#counted.map(({fact}) => [fact, this.#sharedOf(fact, db)]));
    });
  }

  /** Undefined until all is counted. */
  of({record}: Row): SharedCounts | undefined {
    if (this.#find === undefined) return undefined;
    const by: Partial<Record<SharedCountName, number>>[] = [];
    const part = this.#partOf(this.#find, Math.floor(record / READ_AT_ONCE));
    for (const [column, {target, fact}] of this.#counted.entries())
      by[target] = {...by[target], [fact]: part.get(record * this.#counted.length + column) ?? 1};
    return by;
  }

  close(): void {
    this.#file?.close();
    this.#file = undefined;
  }

  #write(): Sqlite {
    this.#file ??= openTemporaryDatabase(TABLES, this.directory);
    this.#file.prepare(ADD).run(JSON.stringify(this.#waiting));
    this.#waiting = [];
    return this.#file;
  }

  #partOf(find: PreparedQuery, number: number): ReadonlyMap<number, number> {
    const known = this.#parts.get(number);
    if (known !== undefined) return known;
    const width = READ_AT_ONCE * this.#counted.length;
    const found = find.all(number * width, (number + 1) * width - 1);
    const part = new Map(found.map(({place, count}) => [Number(place), Number(count)]));
    if (this.#parts.size === MOST_PARTS) this.#parts.clear();
    this.#parts.set(number, part);
    return part;
  }

  #sharedOf(fact: SharedCountName, db: Sqlite): {rows: number; largest: number[]} {
    const width = this.#counted.length;
    const columns = JSON.stringify([...this.#counted.keys()].filter(at => this.#counted[at]?.fact === fact));
    const where = `WHERE count > 1 AND place % ${width} ${IN_LIST_SQL}`;
    const rows = db.query([`count(DISTINCT place / ${width}) AS rows`], `FROM place ${where}`).get(columns);
    const largest = db.query(['count'], `FROM shared ${where} ORDER BY count DESC LIMIT 10`).all(columns);
    return {rows: Number(rows?.['rows']), largest: largest.map(({count}) => Number(count))};
  }
}

/**
 * Undefined if no fact is read, or the list lacks the columns for it. `sameBy`: the column of persons; by default, a
 * person is a mailbox.
 *
 * @throws {UsageError} if the list lacks that column.
 */
export function createListFacts(
  reads: readonly Pick<PathReference, 'path'>[],
  targets: readonly Target[],
  planOf: (targets: readonly Target[]) => RowPlanner,
  {columns, kind}: InputFormat,
  sameBy: string | undefined,
): ListFacts | undefined {
  const read = new Set(reads.flatMap(({path: [root, ...names]}) => (root === 'shared' ? names : [])));
  const mails = targets.filter(({operation}) => operation === 'email');
  const hasPersons = sameBy !== undefined || mails.length > 0;
  const lookupsIn = (lookedUp: readonly Target[]) => {
    const plan = planOf(lookedUp);
    return (row: Row) => plan(row).find(cell => cell.status === 'ask')?.lookup;
  };
  const counted = targets.flatMap((one, target) => {
    const facts: readonly SharedCountName[] = sharedCountNames[one.operation];
    const counts = facts.filter(fact => read.has(fact) && (fact === 'mailbox' || hasPersons));
    return counts.map(fact => ({target, fact, lookupIn: lookupsIn([one])}));
  });
  if (counted.length === 0) return undefined;
  if (sameBy !== undefined) {
    requireColumn(sameBy, columns, kind, 'same_by');
    const cell = createCellReader(sameBy, columns);
    return new ListFacts(counted, row => cell(row)?.trim());
  }
  const mailIn = lookupsIn(mails);
  return new ListFacts(counted, row => {
    const mail = mailIn(row)?.params['email'];
    return mail && canonicalMailbox(mail);
  });
}

/** The text that all have who share a value: a mailbox, or a network such as `192.0.2.`. */
function sharedText(fact: SharedCountName, value: string): string {
  if (fact === 'mailbox') return canonicalMailbox(value);
  return fact === 'network' ? value.replace(/\d+$/, '') : value;
}
