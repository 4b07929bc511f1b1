import {shellWord} from '../../sentence.ts';
import {formatCount, listRows, pluralize} from '../format.ts';
import {mostCommon, type ReportTable, rankingOf, type Section, tableOf, withRows} from '../model.ts';
import type {RiskCounts, Summary} from '../summary.ts';
import reasons from './reasons.json' with {type: 'json'};

/** The meanings of the default rules' reasons. */
export const reasonMeanings: Readonly<Record<string, string>> = reasons;

export const RISK_TITLE = 'Risk';

export function riskSection({risk, output, shared}: Summary): Section | undefined {
  if (risk === null || risk.scored + risk.unknown === 0) return undefined;
  const {scored, unknown, low, medium, high, mean, missing, warnings} = risk;
  const average = mean === null ? '' : `, ${formatCount(Math.round(mean * 10) / 10)} on average`;
  const without = unknown === 0 ? '' : ` ${pluralize(unknown, 'row')} could not be scored.`;
  return {
    title: RISK_TITLE,
    note: `${pluralize(scored, 'row')} scored from 0 to 100${average}.${without}`,
    blocks: withRows([
      {
        caption: 'Rows by level',
        head: ['Rows', 'low', 'medium', 'high', 'unknown'],
        rows: [['All rows', low, medium, high, unknown]],
        chart: {kind: 'stacks', tones: ['good', 'warn', 'bad', 'quiet']},
      },
      {
        caption: 'Rows by score',
        head: ['Score', 'rows'],
        rows: risk.histogram.map((rows, tens, {length}) => [
          `${tens * 10}–${tens === length - 1 ? 100 : tens * 10 + 9}`,
          rows,
        ]),
        chart: {kind: 'histogram'},
      },
      highRows(risk, output.path),
      rankingOf('Reasons, most often first', 'Reason', reasonsInWords(risk), scored),
      rankingOf('Signals that were missing', 'Signal', mostCommon(missing), scored + unknown),
      tableOf('Values that several have', ['Value', 'rows', 'had by, at most'], sharedRows(shared)),
      declaredRules(risk),
      tableOf(
        'Rules to look at',
        ['Warning'],
        warnings.map(warning => [warning]),
      ),
    ]),
  };
}

/** The shared values of the list by kind, as counts: rows, and how many have each of the most shared ones. */
export function sharedRows(shared: Summary['shared']): [fact: string, rows: string, largest: string][] {
  const held = Object.entries(shared).filter(([, {rows}]) => rows > 0);
  return held.map(([fact, {rows, largest}]) => [
    fact,
    formatCount(rows),
    largest.map(formatCount).join(', '),
  ]);
}

function highRows({high, high_rows: listed}: RiskCounts, output: string): ReportTable {
  const isPart = high > listed.length;
  const numbers = ['Row numbers', listRows(listed, high)] as const;
  const command = ['All, with scores', `bulk-enrich explain ${shellWord(output)} --level high`] as const;
  const caption = isPart ? `The first ${formatCount(listed.length)} rows of high risk` : 'Rows of high risk';
  const rows = output === '-' ? [numbers] : [numbers, command];
  return tableOf(caption, ['What', 'value'], listed.length === 0 ? [] : rows, {texts: [1]});
}

/** The most common reasons, each followed by its meaning, from the job's rules or the default rules. */
function reasonsInWords({reasons, rules}: RiskCounts): [words: string, times: number][] {
  return mostCommon(reasons).map(([reason, times]) => {
    const conditions = rules.filter(rule => rule.reason === reason).map(({when}) => when);
    const known = Object.hasOwn(reasonMeanings, reason) ? reasonMeanings[reason] : undefined;
    const meaning = conditions.length > 0 ? conditions.join(' or ') : known;
    return [meaning === undefined ? reason : `${reason}: ${meaning}`, times];
  });
}

function declaredRules({rules}: RiskCounts): ReportTable {
  const declared = rules.filter(
    ({shadow, description, owner}) => shadow === true || description !== undefined || owner !== undefined,
  );
  const rows = declared.map(({reason, add, shadow, held, description = '', owner = ''}) => {
    const name = shadow === true ? `${reason} (shadow: not added)` : reason;
    return [name, add, held, description, owner] as const;
  });
  return tableOf('Rules', ['Rule', 'points', 'rows', 'for', 'owner'], rows, {texts: [3, 4]});
}
