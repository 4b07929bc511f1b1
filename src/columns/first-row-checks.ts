import {UsageError} from '../errors.ts';
import {InputError} from '../input/input-error.ts';
import type {InputFormat, InputRecord, Row} from '../input/row.ts';
import {suggestCountry} from '../job/settings/lookup-settings.ts';
import type {Settings} from '../job/settings.ts';
import {readCountryCell} from '../operations/country.ts';
import {
  type Intelligence,
  intelligenceNames,
  isIntelligence,
  isValueOfOperation,
  operations,
} from '../operations/table.ts';
import {codeAdvice} from '../report/code-meanings.ts';
import {listRows} from '../report/format.ts';
import {type Said, say, setting} from '../sentence.ts';
import {adviseOnCommonText} from './guess-messages.ts';
import type {RowPlanner} from './plan-row.ts';
import {formatColumnChoice, mostFrequent, placeholderText} from './recognize/guess.ts';
import {readHeaderKinds} from './recognize/header.ts';
import type {CellReader, Target} from './targets.ts';

/** Minimum number of rows on which a list is judged. With fewer rows, one bad row would decide. */
const FEW_ROWS = 5;
const FEW_VALUES = 20;
const MOSTLY = 0.9;
const SHOWN = 5;

/** @throws {InputError} if nearly all first rows are unreadable, as with a wrong delimiter or encoding. */
export function refuseMostlyRejected(
  sample: readonly InputRecord[],
  format: InputFormat,
  {padShortRows, encoding}: Settings,
): void {
  const rejects = sample.filter(record => record.type === 'reject');
  const unread = rejects.filter(({reason}) => reason === 'invalid_encoding');
  const isAll = rejects.length > 0 && rejects.length === sample.length;
  const areLost = sample.length >= FEW_ROWS && unread.length >= LOST * sample.length;
  const {perhaps} = format;
  const remedy = perhaps === undefined ? {} : {flags: ['--encoding', perhaps]};
  if (areLost && encoding === 'auto')
    throw new InputError(
      'input_rejected',
      say`Row ${unread[0]?.record} and others of the first ${sample.length} are not text in the encoding of the list (${unread[0]?.detail}). Nothing was sent. Read it in its own encoding (${setting('encoding', perhaps ?? 'NAME')}), or leave such rows out: ${setting('maxRejects', '100%')}.`,
      remedy,
    );
  if (!isAll && (sample.length < FEW_ROWS || rejects.length <= MOSTLY * sample.length)) return;
  const {text: reason} = mostFrequent(rejects.map(reject => reject.reason));
  const example = rejects.find(reject => reject.reason === reason);
  const isShort = reason === 'column_count' && padShortRows !== true;
  const short = isShort
    ? say` If rows only lack fields at their end, add ${setting('padShortRows', true)}.`
    : '';
  throw new InputError(
    'input_rejected',
    say`${rejects.length} of the first ${sample.length} rows can't be read (most often ${reason}: ${example?.detail}; line ${example?.line} of ${example?.file}). Check the file, ${setting('delimiter')}, ${setting('encoding')} and ${setting('skipLines')}.${short} Nothing was sent.${isAll ? '' : say` To skip unreadable rows and read the rest: ${setting('maxRejects', '100%')}.`}`,
    reason === 'invalid_encoding' ? remedy : {},
  );
}

/** Share of the first rows that may be lost to the encoding of the list. */
const LOST = 0.1;

/**
 * A sentence for each column of fewer than 20 values that are all invalid but fit another operation.
 *
 * @throws {UsageError} if a column has 20 values or more, and over 90% of them are invalid.
 */
export function checkFirstValues(
  targets: readonly Target[],
  rows: readonly Row[],
  planRow: RowPlanner,
  settings: Partial<Settings>,
): Said[] {
  const planned = rows.map(planRow);
  return targets.flatMap((target, index) => {
    const {column, operation, cell} = target;
    const invalid = planned.flatMap((cells, at) => {
      const one = cells[index];
      const row = rows[at];
      return one?.status === 'invalid' && row !== undefined ? [{code: one.error, text: cell(row) ?? ''}] : [];
    });
    const values = invalid.length + planned.filter(cells => cells[index]?.status === 'ask').length;
    if (invalid.length <= MOSTLY * values) return [];
    const {text: code} = mostFrequent(invalid.map(one => one.code));
    const others = kindOf(target, rows);
    const fault = `values in column "${column}" can't be ${operations[operation].plural} (most often: ${code}).`;
    const are =
      others === undefined
        ? ''
        : say` They are ${operations[others].plural}: ${setting(operations[others].setting, formatColumnChoice(others, column))}.`;
    if (values < FEW_VALUES) return are !== '' && invalid.length === values ? [say`The ${fault}${are}`] : [];
    const advice = code === undefined ? undefined : codeAdvice(code, settings);
    const word =
      are === ''
        ? placeholderText(
            invalid.map(({text}) => text),
            values,
          )
        : undefined;
    throw new UsageError(
      'column_invalid',
      say`${invalid.length} of the first ${values} ${fault}${are} Nothing was sent.${advice === undefined ? '' : ` What to do: ${advice}.`}${word === undefined ? '' : say` ${adviseOnCommonText(word)}`}`,
      word === undefined ? {} : {flags: ['--empty', word]},
    );
  });
}

/** A sentence on the rows that seem to be totals or notes below the list; no sentence without such rows. */
export function describeFooters(rows: readonly Row[], planRow: RowPlanner): Said[] {
  const isFooter = (row: Row) =>
    (row.type === 'csv' && row.isFooter === true) ||
    planRow(row).some(cell => cell.status === 'skipped' && cell.error === 'footer');
  const records = rows.filter(isFooter).map(({record}) => record);
  if (records.length === 0) return [];
  const shown = listRows(records.slice(0, SHOWN), records.length);
  const seem =
    records.length > 1
      ? `Rows ${shown} seem to be totals or notes below the list: their`
      : `Row ${shown} seems to be a total or a note below the list: its`;
  return [`${seem} values are not looked up.`];
}

/** The operation for which all filled cells of the column are clearly valid values, even without a header. */
function kindOf({cell}: Target, rows: readonly Row[]): Intelligence | undefined {
  const texts = rows.map(row => cell(row) ?? '').filter(text => text.trim() !== '');
  return intelligenceNames.find(name => texts.every(text => isValueOfOperation(name, text)));
}

/** A sentence on the first cell of the country column that is not a country; undefined if all are countries. */
export function describeUnknownCountry(
  column: string,
  cell: CellReader,
  rows: readonly Row[],
): string | undefined {
  const unknown = rows.filter(row => readCountryCell(cell(row)) === 'unknown');
  const [first] = unknown;
  if (first === undefined) return undefined;
  const text = cell(first)?.trim() ?? '';
  const others = unknown.length === 1 ? '' : ` and ${unknown.length - 1} more`;
  const expected = /^\d+$/.test(text)
    ? 'a name, a code such as DE, or a calling code with its plus, such as +49'
    : `a ${suggestCountry(text)}`;
  return `"${column}" holds "${text.slice(0, 40)}" (row ${first.record}${others}); expected ${expected}. Phone numbers in national form are not looked up in such rows.`;
}

/**
 * @throws {InputError} if a row seems to be the header of a second table, such as suppliers below customers: no cell
 * has a value, and each looked-up column has a name such as `email`, not a note such as `no mail`. A single name
 * counts only below a blank line.
 */
export function refuseSecondTable(rows: readonly Row[], targets: readonly Target[]): void {
  const found = targets.flatMap(({operation, cell}) =>
    isIntelligence(operation) ? [{operation, cell}] : [],
  );
  // Skips the first five rows: exports of surveys repeat their header two or three times at the top.
  const second = rows.find((row, at) => {
    if (at < FEW_ROWS || row.type !== 'csv') return false;
    const words = row.fields.filter(text => text.trim() !== '');
    if (words.length < 2 || words.some(text => /[\d@]/.test(text))) return false;
    const names = found.flatMap(({operation, cell}) => {
      const says = readHeaderKinds(cell(row) ?? '').get(operation);
      return says?.strength === 'named' ? [says] : [];
    });
    const filled = found.filter(({cell}) => (cell(row) ?? '').trim() !== '');
    const isPlain = names.length > 1 && names.some(says => says.isPlain);
    return names.length > 0 && names.length === filled.length && (isPlain || isBelowBlank(row, rows[at - 1]));
  });
  if (second === undefined) return;
  const names = found.map(({cell}) => `"${cell(second) ?? ''}"`).join(', ');
  throw new InputError(
    'input_header',
    `Row ${second.record} seems to be the header of a second table (${names}). Make a file of each table; if the rows belong together, remove that row.`,
  );
}

function isBelowBlank(row: Row, above: Row | undefined): boolean {
  if (above?.type !== 'csv') return false;
  const lines = above.fields.reduce((sum, text) => sum + text.split(/\r\n|\r|\n/).length - 1, 1);
  return row.line > above.line + lines || above.fields.every(text => text.trim() === '');
}
