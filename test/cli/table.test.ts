import stringWidth from 'string-width';
import {describe, expect, test} from 'vitest';
import {fitTable, type TableColumn} from '../../src/cli/terminal/lines.ts';

const text = (head: string, cell: string, more: Partial<TableColumn> = {}): TableColumn => ({
  head,
  cells: [cell],
  isText: true,
  ...more,
});
const columns: readonly TableColumn[] = [
  text('run', '1f0c22ab'),
  text('list', 'customers-of-the-north-2026-11.csv', {shrinksTo: 16}),
  text('why', 'lookups failed (exit 3); unlike: rows', {shrinksTo: 14}),
  {head: 'rows', cells: ['1,400,000']},
  {head: 'saved', cells: ['2,400,000'], leavesAs: 0},
  {head: 'known', cells: ['12%'], leavesAs: 1},
];

describe('a table fits its terminal', () => {
  test.each([
    [
      200,
      /^run +list +why +rows +saved +known\n1f0c22ab +customers-of-the-north-2026-11\.csv +lookups .* rows /,
    ],
    [80, /^run +list +why +rows +saved +known\n1f0c22ab +customers-of.*… +lookups.*… +/],
    [60, /^run +list +why +rows +known\n1f0c22ab +customers-.*… +lookups.*… +1,400,000 +12%$/],
    [52, /^run +list +why +rows\n1f0c22ab +customers.*… +lookups.*… +1,400,000$/],
    // No more can be cut: what tells the rows apart stays.
    [20, /^run +list +why +rows\n1f0c22ab +custo… +looku… +1,400,000$/],
  ])('%d columns', (width, shown) => {
    const lines = fitTable(columns, width);
    expect(lines).toMatch(shown);
    if (width > 20)
      for (const line of lines.split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(width);
  });

  test('by the width of its characters, not by their number', () => {
    const wide = [text('list', '名簿名簿名簿名簿', {shrinksTo: 6}), {head: 'rows', cells: ['7']}];
    expect(fitTable(wide, 15)).toBe('list       rows\n名簿名簿…     7');
  });
});
