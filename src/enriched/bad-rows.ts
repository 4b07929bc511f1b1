import {UsageError} from '../errors.ts';
import type {TextRow} from '../input/row.ts';
import type {BadRows, BadShare} from '../report/changes.ts';
import {createRowFilter, type RowFilter} from '../score/conditions.ts';
import type {Background} from '../score/given.ts';
import type {Risk, RiskLevel, RuleOutcomes} from '../score/risk.ts';
import type {RuleSet} from '../score/rules.ts';
import type {EnrichedFile} from './enriched-file.ts';

/** Fewer rows than this with a reason or level, or of either kind, are too few to compare. */
const FEW = 10;

type BadCount = BadRows['rows'];

/** Counts how often bad rows, and all others, have each rule's reason and each level. */
export class BadRowCounts {
  readonly #isBad: RowFilter;
  readonly #rows: BadCount = {bad: 0, others: 0};
  readonly #levels: Readonly<Record<RiskLevel, BadCount>>;
  readonly #rules: readonly (BadCount & {readonly reason: string})[];

  /** @throws {UsageError} if `bad` is not a condition, or reads an unknown column. */
  constructor(bad: string, {rules}: RuleSet, {own}: EnrichedFile, background: Background) {
    this.#isBad = createRowFilter(bad, own, background, () => '--bad');
    const none = () => ({bad: 0, others: 0});
    this.#levels = {high: none(), medium: none(), low: none(), unknown: none()};
    this.#rules = rules.map(({reason}) => ({reason, ...none()}));
  }

  add(row: TextRow, {level}: Risk, {held}: RuleOutcomes): void {
    const kind = this.#isBad(row) ? 'bad' : 'others';
    this.#rows[kind] += 1;
    this.#levels[level][kind] += 1;
    for (const index of held) {
      const rule = this.#rules[index];
      if (rule !== undefined) rule[kind] += 1;
    }
  }

  /** @throws {UsageError} if no row is bad: a misspelt value would pass for rules that tell nothing. */
  get result(): BadRows {
    const {bad} = this.#rows;
    if (bad === 0) throw new UsageError('no_bad_rows', '--bad holds for no row. Check its column and value.');
    return {
      rows: {...this.#rows},
      levels: Object.entries(this.#levels).map(([name, tally]) => this.#share(name, tally)),
      reasons: this.#rules.map(({reason, ...tally}) => this.#share(reason, tally)),
    };
  }

  #share(name: string, {bad, others}: BadCount): BadShare {
    const {bad: allBad, others: allOthers} = this.#rows;
    const isFew = Math.min(allBad, allOthers, bad + others) < FEW || others === 0;
    return {name, bad, others, times: isFew ? null : bad / allBad / (others / allOthers)};
  }
}
