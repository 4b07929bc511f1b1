import type {Row} from '../input/row.ts';
import {tokensOf} from './columns/tokens.ts';
import {vocabularyOf} from './columns/vocabulary.ts';

/** Minimum number of rows that show which columns are usually filled. */
const FEW_ROWS = 5;
const USUALLY = 0.8;
/**
 * A row that does not begin with a label counts as a note only if it leaves at least this many usually
 * filled columns empty.
 */
const SEVERAL = 2;

/**
 * Returns a test for rows below a list: totals, and notes such as `Exported by,jo@example.com,`. Their values
 * belong to no person of the list. There are two forms of such rows:
 *
 * - The row begins with a label, and a column is empty that the first rows usually fill.
 * - The row begins with text in a column of numbers, and at least two usually filled columns are empty.
 */
export function footersOf(first: readonly Row[]): (row: Row) => boolean {
  const isNote = (fields: readonly string[]) => {
    const text = fields.find(isFilled);
    return text === undefined || isLabel(text);
  };
  const tables = first.filter(row => row.type === 'csv').filter(({fields}) => !isNote(fields));
  if (tables.length < FEW_ROWS) return () => false;
  const columns = (tables[0]?.fields ?? []).map((_, at) => at);
  const mostly = (holds: (text?: string) => boolean) =>
    columns.filter(at => tables.filter(({fields}) => holds(fields[at])).length >= USUALLY * tables.length);
  const usual = mostly(isFilled);
  const numbered = mostly(hasDigit);
  const isOdd = (fields: readonly string[]) => {
    const at = fields.findIndex(isFilled);
    return numbered.includes(at) && !hasDigit(fields[at]);
  };
  return row => {
    if (row.type !== 'csv') return false;
    const empty = usual.filter(at => !isFilled(row.fields[at])).length;
    return (empty > 0 && isNote(row.fields)) || (empty >= SEVERAL && isOdd(row.fields));
  };
}

const isFilled = (text = '') => text.trim() !== '';
const hasDigit = (text = '') => /\d/.test(text);

/**
 * True for the label of a total or a note about the list. A text is the label of a total only if all its words, except
 * numbers, form one.
 */
function isLabel(text: string): boolean {
  if (/[:：]\s*$/.test(text)) return true;
  const tokens = tokensOf(text);
  if (vocabularyOf('notes').matches(tokens, 0).length > 0) return true;
  const words = tokens.filter(token => !/^\d+$/.test(token));
  return vocabularyOf('totals')
    .matches(words, 0)
    .some(({length}) => length === words.length);
}
