import {meaningOf} from '../../lookup/codes.ts';
import {count, many} from '../format.ts';
import type {Section, TableBlock} from '../model.ts';
import type {Summary} from '../summary.ts';
import {tableIfAny} from './blocks.ts';

const MOST_CODES = 20;

/** Codes with their first rows and meanings; empty without codes. */
export function codesTable(caption: string, coded: Summary['errors']): TableBlock[] {
  const rows = coded
    .slice(0, MOST_CODES)
    .map(({code, count: times, rows: first}) => [
      code,
      count(times),
      `${first.join(', ')}${times > first.length ? ', …' : ''}`,
      meaningOf(code),
    ]);
  return tableIfAny(caption, ['Code', 'count', 'first rows', 'meaning'], rows, {texts: [2, 3]});
}

/**
 * Errors by code with their meanings, and calls without a usable answer by status. Undefined if there are neither.
 */
export function troubleSection({errors, calls}: Summary): Section | undefined {
  const strange = Object.entries(calls.by_status).filter(([status]) => !status.startsWith('2'));
  const broken = [...strange, ...Object.entries(calls.by_error)];
  const blocks = [
    ...codesTable('Codes, most often first', errors),
    ...tableIfAny(
      'Calls without a usable answer, retried ones included',
      ['HTTP status or network code', 'calls'],
      broken.sort((a, b) => b[1] - a[1]).map(([code, times]) => [code, count(times)]),
    ),
  ];
  if (blocks.length === 0) return undefined;
  const left = errors.length - MOST_CODES;
  const more = left > 0 ? ` ${many(left, 'rarer code')} are in the summary file.` : '';
  return {
    title: 'Where something was wrong',
    note: `Rows are named by number, never by value.${more}`,
    blocks,
  };
}
