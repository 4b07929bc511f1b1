import {REDACTED_FIELD_NAME, repeatsSentValue} from '../../client/redact.ts';
import {type TopKind, topKinds} from '../../operations/operation.ts';
import {getAtPath} from '../../operations/signals.ts';
import {type Operation, operations} from '../../operations/table.ts';
import {rankByCount} from '../../report/format.ts';

/** The most common names among many, in bounded memory. */
export interface TopCounts {
  /** Number of occurrences counted in all, of any name. */
  counted: number;
  /** At most this many occurrences of one name may be missing from its count. */
  missed: number;
  counts: Record<string, number>;
}

export type TopCountsByKind = Record<TopKind, TopCounts>;

/** Number of names that {@link countTopName} keeps when it drops the rarer ones. */
const KEPT = 200;
const LONGEST_NAME = 80;
const SHOWN = 10;
/** Minimum count of a domain that is shown: a rarer domain may be one person's own. */
const FEWEST_OF_A_DOMAIN = 5;

export function emptyTopCounts(): TopCountsByKind {
  return Object.fromEntries(
    topKinds.map(kind => [kind, {counted: 0, missed: 0, counts: {}}]),
  ) as unknown as TopCountsByKind;
}

/**
 * Counts an answer under the names in it, such as its network. If a name is new and repeats the cell's value,
 * counts it as {@link REDACTED_FIELD_NAME}, so that the summary does not show the value. Domains keep their names,
 * but rare ones are not shown: see {@link FEWEST_OF_A_DOMAIN}.
 */
export function countTopNames(
  top: TopCountsByKind,
  operation: Operation,
  answer: unknown,
  cell?: string,
): void {
  for (const [kind, path] of operations[operation].top) {
    const found = getAtPath(answer, path);
    const name = typeof found === 'string' ? found.trim() : '';
    if (name === '') continue;
    const isKnown = kind === 'domains' || cell === undefined || Object.hasOwn(top[kind].counts, name);
    countTopName(
      top[kind],
      isKnown || !repeatsSentValue(name, {cell: cell.trim()}) ? name : REDACTED_FIELD_NAME,
    );
  }
}

/**
 * Counts a name. At more than twice {@link KEPT} names, the rarer ones are dropped. So counts may be too low, but
 * never too high.
 */
export function countTopName(top: TopCounts, name: string): void {
  const key = name.slice(0, LONGEST_NAME);
  if (key === '__proto__') return;
  top.counted += 1;
  top.counts[key] = (Object.hasOwn(top.counts, key) ? (top.counts[key] ?? 0) : 0) + 1;
  if (top.counts[key] > 1 || Object.keys(top.counts).length <= 2 * KEPT) return;
  const order = rankByCount(top.counts);
  top.missed += order[KEPT]?.[1] ?? 0;
  top.counts = Object.fromEntries(order.slice(0, KEPT));
}

/** The summary's `top`: for each kind how many answers were counted, and the most common names. */
export function topSummary(top: TopCountsByKind) {
  const shown = (kind: TopKind) => {
    const fewest = kind === 'domains' ? FEWEST_OF_A_DOMAIN : 1;
    const names = rankByCount(top[kind].counts).filter(([, count]) => count >= fewest);
    return {
      counted: top[kind].counted,
      missed_at_most: top[kind].missed,
      names: names.slice(0, SHOWN).map(([name, count]) => ({name, count})),
    };
  };
  return Object.fromEntries(
    topKinds.filter(kind => top[kind].counted > 0).map(kind => [kind, shown(kind)]),
  ) as Partial<Record<TopKind, ReturnType<typeof shown>>>;
}
