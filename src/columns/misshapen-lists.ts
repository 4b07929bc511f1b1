import {isObject} from '../client/answer-fields.ts';
import {UsageError} from '../errors.ts';
import {conversionRemedy} from '../input/input-error.ts';
import type {Row} from '../input/row.ts';
import {type Intelligence, intelligenceNames, operations} from '../operations/table.ts';
import {shellWord} from '../sentence.ts';
import {readHeaderKinds} from './recognize/header.ts';

/** Maximum number of columns that a list of people in columns may have before it counts as a list of its own. */
const MOST_NAMES = 30;
const MOSTLY = 0.6;

/**
 * @throws {UsageError} `no_columns` for a list with one value a line by attribute (`7,email,jo@example.com`), or with
 * rows and columns exchanged (`email,jo@example.com,al@example.com`).
 */
export function refuseTransposedList(
  columns: readonly string[],
  rows: readonly Row[],
  header: readonly string[] | undefined,
): void {
  const table = rows.flatMap(row => (row.type === 'csv' ? [row.fields] : []));
  const [place] = columns.flatMap((_, names) => {
    const values = valuesBeside(table, names);
    return values < 0 ? [] : [{names, values}];
  });
  if (place !== undefined)
    throw new UsageError(
      'no_columns',
      `The list has one value a line: "${columns[place.names]}" says what "${columns[place.values]}" holds. Export one row for each person, with a column for each kind of value (a pivot table; in SQL: SELECT ID, MAX(CASE WHEN NAME = 'email' THEN VALUE END) AS email … GROUP BY ID).`,
    );
  const all = header === undefined ? table : [header, ...table];
  if (all.length <= MOST_NAMES && isTransposed(all))
    throw new UsageError(
      'no_columns',
      'Rows and columns of the list are exchanged: its first column has the names, and each further one a person. Turn it round (in a spreadsheet: copy, then paste as transposed).',
    );
}

/** Index of a column whose cells are of the kinds that column `names` names, several times each; -1 without one. */
function valuesBeside(table: readonly (readonly string[])[], names: number): number {
  const told = table
    .map(fields => ({kind: kindIn(fields[names]), fields}))
    .filter(({kind}) => kind !== undefined);
  const kinds = new Set(told.map(({kind}) => kind));
  if (kinds.size < 2 || told.length <= 2 * kinds.size) return -1;
  const fits = (at: number) =>
    told.filter(({kind, fields}) => isOf(kind, fields[at])).length >= MOSTLY * told.length;
  return (table[0] ?? []).findIndex((_, at) => at !== names && fits(at));
}

/** True if several rows begin with a kind, each with another one, and their other cells are of that kind. */
function isTransposed(table: readonly (readonly string[])[]): boolean {
  const told = table.filter(([name]) => kindIn(name) !== undefined);
  const areOfKind = ([name, ...cells]: readonly string[]) => {
    const filled = cells.filter(cell => cell.trim() !== '');
    return filled.length > 1 && filled.every(cell => isOf(kindIn(name), cell));
  };
  const names = new Set(told.map(([name]) => name));
  return told.length > 1 && names.size === told.length && told.every(areOfKind);
}

function kindIn(text = ''): Intelligence | undefined {
  const says = readHeaderKinds(text);
  return intelligenceNames.find(name => says.get(name)?.strength === 'named');
}

function isOf(kind: Intelligence | undefined, text = ''): boolean {
  if (kind === undefined) return false;
  const judged = operations[kind].canonical(text);
  return judged.state === 'value' || (judged.state === 'invalid' && judged.code === 'country_unknown');
}

/** @throws {UsageError} if the only row is an object around the rows; not from stdin, which can't be read again. */
export function refuseWrappedRows(rows: readonly Row[], path: string): void {
  const [first] = rows;
  const within = first?.type === 'ndjson' && rows.length === 1 ? rowsWithin(first.value) : undefined;
  if (within === undefined || path === '-') return;
  throw new UsageError(
    'no_columns',
    `${path} is one JSON object. Its rows seem to be in the property "${within.name}".`,
    conversionRemedy(`jq -c '${within.filter}'`, path),
  );
}

/** @throws {UsageError} if a field of the first row holds JSON as text. */
export function refuseJsonText(columns: readonly string[], [first]: readonly Row[], path: string): void {
  const isCsv = first?.type === 'csv';
  const fields = isCsv
    ? Object.fromEntries(columns.map((name, at) => [name, first.fields[at]]))
    : first?.value;
  const text = jsonTextWithin(fields ?? {});
  if (text === undefined) return;
  throw new UsageError(
    'no_columns',
    `The field "${text.name}" holds JSON as text. Make columns of what it has.`,
    isCsv ? {} : conversionRemedy(`jq -c ${shellWord(text.filter)}`, path),
  );
}

/** A field whose text is a JSON object, with the filter of jq that adds what it has; undefined without one. */
function jsonTextWithin(
  value: Readonly<Record<string, unknown>>,
  above: readonly string[] = [],
): {readonly name: string; readonly filter: string} | undefined {
  for (const [key, inner] of Object.entries(value)) {
    const path = [...above, key];
    if (typeof inner === 'string' && isObjectText(inner))
      return {name: path.join('.'), filter: `. + (getpath(${JSON.stringify(path)}) | fromjson? // {})`};
    const found = isObject(inner) ? jsonTextWithin(inner, path) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

const PLAIN_KEY = /^[a-z_]\w*$/i;

function isObjectText(text: string): boolean {
  try {
    return /^\s*\{/.test(text) && typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}

/**
 * The filter of jq for rows within an object: `{"rows": [{…}]}`, Elasticsearch's `{"hits": {"hits": [{"_source":
 * …}]}}`, and columns apart from their data (pandas, `orient="split"`).
 */
function rowsWithin(
  value: Readonly<Record<string, unknown>>,
  above = '',
): {readonly name: string; readonly filter: string} | undefined {
  const {columns, data} = value;
  if (Array.isArray(columns) && Array.isArray(data) && Array.isArray(data[0])) {
    const row = '[$names, .] | transpose | map({(.[0] | tostring): .[1]}) | add';
    return {
      name: `${above}.data`.slice(1),
      filter: `${above || '.'} | .columns as $names | .data[] | ${row}`,
    };
  }
  for (const [name, inner] of Object.entries(value)) {
    if (!PLAIN_KEY.test(name) || typeof inner !== 'object' || inner === null) continue;
    const place = `${above}.${name}`;
    const [first] = Array.isArray(inner) ? inner : [];
    if (typeof first === 'object' && first !== null)
      return {name: place.slice(1), filter: `${place}[]${'_source' in first ? '._source' : ''}`};
    const within = Array.isArray(inner) ? undefined : rowsWithin(inner as typeof value, place);
    if (within !== undefined) return within;
  }
  return undefined;
}
