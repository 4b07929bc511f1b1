import type {Changes} from '../../report/changes.ts';
import {REPAIRS_COLUMN} from '../result-columns.ts';
import {parseJsonCell} from './read-answers.ts';

/** A column that both outputs have, with its index in each. */
interface CommonColumn {
  readonly name: string;
  readonly oldAt: number;
  readonly newAt: number;
}

const MOST_LISTS = 1_000;

/** Name under which rows with an empty level are counted. */
const NO_LEVEL = 'none';

/** Columns that change no row by themselves: they explain the risk, or tell of the row's own cells. */
const EXPLAINING: readonly string[] = ['risk_points', 'risk_missing', 'risk_shared', REPAIRS_COLUMN];
const RISK: readonly string[] = ['risk_level', 'risk_score', 'risk_reasons'];

/** Compares the results of rows with those of their earlier versions, and counts the differences. */
export class ChangeCounts {
  readonly rows = {new: 0, gone: 0, changed: 0, unchanged: 0};
  readonly #answers: readonly CommonColumn[];
  readonly #risk: readonly CommonColumn[];
  readonly #columns: Changes['columns'];
  readonly #levels: Record<string, NameCounts> = Object.create(null);
  readonly #reasons = {came: noCounts(), went: noCounts()};
  readonly #changed = noCounts();
  readonly #lists = new Map<string, ReadonlySet<string>>();

  /** `before`, `after`: names of the results' columns, in their order. */
  constructor(before: readonly string[], after: readonly string[]) {
    const only = (names: readonly string[], others: readonly string[]) =>
      names.filter(name => !EXPLAINING.includes(name) && !others.includes(name));
    const common = before.flatMap((name, oldAt) => {
      const newAt = after.indexOf(name);
      return newAt < 0 || EXPLAINING.includes(name) ? [] : [{name, oldAt, newAt}];
    });
    this.#columns = {old: only(before, after), new: only(after, before)};
    this.#risk = common.filter(({name}) => RISK.includes(name));
    this.#answers = common.filter(({name}) => !RISK.includes(name));
  }

  /** Returns true if an answer or the risk changed. */
  compare(before: readonly string[], after: readonly string[]): boolean {
    let isChanged = false;
    for (const {name, oldAt, newAt} of this.#answers) {
      if (before[oldAt] === after[newAt]) continue;
      countIn(this.#changed, name);
      isChanged = true;
    }
    for (const {name, oldAt, newAt} of this.#risk) {
      const [from = '', to = ''] = [before[oldAt], after[newAt]];
      if (name === 'risk_level') this.#countLevels(from || NO_LEVEL, to || NO_LEVEL);
      if (from === to) continue;
      if (name === 'risk_reasons') this.#countReasons(this.#reasonsIn(from), this.#reasonsIn(to));
      isChanged = true;
    }
    this.rows[isChanged ? 'changed' : 'unchanged'] += 1;
    return isChanged;
  }

  #countLevels(old: string, now: string): void {
    this.#levels[old] ??= noCounts();
    countIn(this.#levels[old], now);
  }

  #countReasons(old: ReadonlySet<string>, now: ReadonlySet<string>): void {
    for (const reason of now) if (!old.has(reason)) countIn(this.#reasons.came, reason);
    for (const reason of old) if (!now.has(reason)) countIn(this.#reasons.went, reason);
  }

  /** Parses a cell's list of reasons. Many rows have the same list, so each distinct list is parsed once. */
  #reasonsIn(text: string): ReadonlySet<string> {
    const known = this.#lists.get(text);
    if (known !== undefined) return known;
    const reasons = parseJsonCell(text);
    const set = new Set(Array.isArray(reasons) ? reasons.map(String) : []);
    if (this.#lists.size < MOST_LISTS) this.#lists.set(text, set);
    return set;
  }

  /** All that was counted, with what the caller knows of the rows. */
  changes({key, rows, ...keys}: Pick<Changes, 'key' | 'rows' | 'without_key' | 'repeated'>): Changes {
    const counts = {levels: this.#levels, reasons: this.#reasons, answers: this.#changed};
    return {key, rows, ...this.rows, ...keys, ...counts, columns: this.#columns};
  }
}

/** Counts by name, also by names such as `constructor`, which other objects have already. */
type NameCounts = Record<string, number>;

function noCounts(): NameCounts {
  return Object.create(null);
}

function countIn(counts: NameCounts, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}
