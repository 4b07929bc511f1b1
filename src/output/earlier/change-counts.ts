import type {Changes} from '../../report/changes.ts';
import type {RiskColumn} from '../columns.ts';
import {parsedJson} from './read-answers.ts';
import {type ResultNames, riskFrom} from './result-columns.ts';

type RowCells = readonly string[];

/** A column that both outputs have, with its index in each. */
interface Common {
  readonly name: string;
  readonly old: number;
  readonly new: number;
}

const MOST_KEPT = 1_000;

/** Name under which rows with an empty level are counted. */
const NO_LEVEL = 'none';

export class ChangeCounts {
  readonly rows = {new: 0, gone: 0, changed: 0, unchanged: 0};
  readonly #answers: readonly Common[];
  readonly #risk: Readonly<Partial<Record<RiskColumn, Common>>>;
  readonly #columns: Changes['columns'];
  readonly #levels = new Map<string, Map<string, number>>();
  readonly #reasons = new Map<string, ReadonlySet<string>>();
  readonly #came = new Map<string, number>();
  readonly #went = new Map<string, number>();
  readonly #changed = new Map<string, number>();

  constructor(before: ResultNames, after: ResultNames) {
    const [old, now] = [before, after].map(comparedIn) as [string[], string[]];
    const common = old.flatMap((name, at) =>
      now.includes(name) ? [{name, old: at, new: now.indexOf(name)}] : [],
    );
    const only = (names: readonly string[], others: readonly string[]) =>
      names.filter(name => name !== '' && !others.includes(name));
    this.#columns = {old: only(old, now), new: only(now, old)};
    this.#risk = Object.fromEntries(common.filter(isRisk).map(one => [one.name.slice('risk_'.length), one]));
    this.#answers = common.filter(one => one.name !== '' && !isRisk(one));
  }

  /** Compares a row's results with those of its earlier version. Returns true if an answer or the risk changed. */
  compare(before: RowCells, after: RowCells): boolean {
    let isChanged = false;
    for (const {name, old, new: now} of this.#answers) {
      if (before[old] === after[now]) continue;
      countIn(this.#changed, name);
      isChanged = true;
    }
    const {level, score, reasons} = this.#risk;
    if (level !== undefined) this.#countLevel(before[level.old], after[level.new]);
    if (reasons !== undefined) this.#countReasons(before[reasons.old] ?? '', after[reasons.new] ?? '');
    isChanged ||= [level, score, reasons].some(
      one => one !== undefined && before[one.old] !== after[one.new],
    );
    this.rows[isChanged ? 'changed' : 'unchanged'] += 1;
    return isChanged;
  }

  #countLevel(from = '', to = ''): void {
    const name = from || NO_LEVEL;
    const levels = this.#levels.get(name) ?? new Map<string, number>();
    this.#levels.set(name, levels);
    countIn(levels, to || NO_LEVEL);
  }

  #countReasons(before: string, after: string): void {
    if (before === after) return;
    const [old, now] = [this.#reasonsIn(before), this.#reasonsIn(after)];
    for (const reason of now) if (!old.has(reason)) countIn(this.#came, reason);
    for (const reason of old) if (!now.has(reason)) countIn(this.#went, reason);
  }

  /** Parses a cell's list of reasons. Many rows have the same list, so each distinct list is parsed once. */
  #reasonsIn(text: string): ReadonlySet<string> {
    const known = this.#reasons.get(text);
    if (known !== undefined) return known;
    const reasons = reasonsIn(text);
    if (this.#reasons.size < MOST_KEPT) this.#reasons.set(text, reasons);
    return reasons;
  }

  get counts(): Pick<Changes, 'levels' | 'reasons' | 'answers' | 'columns'> {
    return {
      levels: Object.fromEntries([...this.#levels].map(([from, to]) => [from, Object.fromEntries(to)])),
      reasons: {came: Object.fromEntries(this.#came), went: Object.fromEntries(this.#went)},
      answers: Object.fromEntries(this.#changed),
      columns: this.#columns,
    };
  }
}

/** Names of the result columns; '' for columns that are not compared: repairs, and the explanation of the risk. */
function comparedIn({results, names}: ResultNames): string[] {
  const answers = riskFrom({results, names});
  const explaining = new Set(['risk_points', 'risk_missing', 'risk_shared']);
  return names.map((name, at) =>
    at < answers || (at < answers + results.risk.length && !explaining.has(name)) ? name : '',
  );
}

function isRisk({name}: Common): boolean {
  return name === 'risk_level' || name === 'risk_score' || name === 'risk_reasons';
}

function reasonsIn(text: string): Set<string> {
  const reasons = parsedJson(text);
  return new Set(Array.isArray(reasons) ? reasons.map(String) : []);
}

function countIn(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
