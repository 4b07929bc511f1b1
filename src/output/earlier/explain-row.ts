import type {TextRow} from '../../input/row.ts';
import type {Explanation} from '../../report/changes.ts';
import type {Summary} from '../../report/summary.ts';
import {defaultLevels, defaultRules} from '../../score/default-rules.ts';
import type {RiskColumn} from '../columns.ts';
import type {EnrichedFile} from './enriched-file.ts';
import {parsedJson} from './read-answers.ts';

type WrittenRule = Explanation['rules'][number];

/** Makes an explainer of an output's rows. The explainer returns undefined for a row without points. */
export function createExplainer(
  file: EnrichedFile,
): (row: TextRow, number: number) => Explanation | undefined {
  const {summary, results} = file;
  const {risk: columns} = results;
  const rules = rulesOf(summary?.risk);
  const levels = summary?.risk?.levels ?? defaultLevels;
  return (row, number) => {
    const cells = file.cellsOf(row);
    const cell = (name: RiskColumn) => cells[results.riskAt + columns.indexOf(name)] ?? '';
    const found = parsedJson(cell('points'));
    if (!columns.includes('points') || typeof found !== 'object' || found === null) return undefined;
    const points = found as Readonly<Record<string, number>>;
    const [score, level] = [cell('score'), cell('level')];
    return {
      row: number,
      score: score === '' ? null : Number(score),
      level,
      points,
      missing: (parsedJson(cell('missing')) ?? []) as string[],
      rules: rules.filter(({reason, shadow}) => shadow !== true && Object.hasOwn(points, reason)),
      next: nextLevels(level, points, rules, levels),
    };
  };
}

/** The summary's rules; the default rules too if the run used them or if there is no summary. */
function rulesOf(risk: Summary['risk'] | undefined): readonly WrittenRule[] {
  const own = (risk?.rules ?? []).map(({held: _, undecided: __, wrong: ___, ...rule}) => rule);
  const taken = new Set(own.map(({reason}) => reason));
  const hasDefaults = risk?.default_rules !== false;
  return [...(hasDefaults ? defaultRules.filter(({reason}) => !taken.has(reason)) : []), ...own];
}

/** The next higher and lower level, each with the rules that lead there: any one of them is enough. */
function nextLevels(
  level: string,
  points: Readonly<Record<string, number>>,
  rules: readonly WrittenRule[],
  {medium, high}: {readonly medium: number; readonly high: number},
): Explanation['next'] {
  const sum = Object.values(points).reduce((all, add) => all + add, 0);
  const held = Object.entries(points);
  const others = rules.filter(({reason, shadow}) => shadow !== true && !Object.hasOwn(points, reason));
  // A rule suffices alone if adding its points, or removing them, reaches the level.
  const to = (level: string, points: number) => {
    const isEnough = (change: number) => (points > 0 ? change >= points : change <= points);
    const coming = others.filter(({add}) => isEnough(add)).map(({reason}) => reason);
    const going = held.filter(([, add]) => isEnough(-add)).map(([reason]) => reason);
    const enough = points > 0 ? [...coming, ...going] : [...going, ...coming];
    return {level, points, rules: [...new Set(enough)]};
  };
  const up = (level: string, from: number) => to(level, from - sum);
  const down = (level: string, below: number) => to(level, below - 1 - sum);
  if (level === 'low') return [up('medium', medium)];
  if (level === 'medium') return [up('high', high), down('low', medium)];
  return level === 'high' ? [down('medium', high)] : [];
}
