import {say, setting} from '../../sentence.ts';
import {InputError} from '../input-error.ts';
import {type CsvDialect, CsvRecordParser} from './csv-record-parser.ts';

export type FieldsPerRecord = readonly (readonly string[])[];

/** Delimiters, in order of preference. */
export const DELIMITERS = [',', ';', '\t', '|'] as const;

/** Tried last, since e-mail addresses may contain them. All records must then have the same number of fields. */
const RARE = ['^', '~'] as const;

/** Maximum numbers of the sample's records, of their lines, and of unreadable lines with the delimiter being tried. */
const MOST_RECORDS = 100;
const MOST_LINES = 200;
const MOST_FAULTS = 10;

/** Detects a CSV's dialect from the beginning of its text. A given `delimiter` is not detected. */
export function detectDialect(sample: string, delimiter?: string): CsvDialect {
  const sep = /^(?:sep=([^\r\n])|"sep=([^\r\n])")(?:\r\n|\r|\n|$)/i.exec(sample);
  const eol = detectEol(sample);
  const named = delimiter ?? sep?.[1] ?? sep?.[2];
  return {
    delimiter: named ?? sniffDelimiter(sample.slice(sep?.[0].length ?? 0), eol),
    eol,
    sepLineBytes: Buffer.byteLength(sep?.[0] ?? ''),
  };
}

/** @throws {InputError} if the header is one field with the given delimiter, and several with another. */
export function refuseOtherDelimiter(sample: string, delimiter: string, name: string): void {
  const columnsWith = (dialect: CsvDialect) => readFirstRecords(sample, dialect)[0]?.length ?? 0;
  const shown = detectDialect(sample);
  const columns = columnsWith(shown);
  if (columns < 2 || columnsWith({...shown, delimiter}) !== 1) return;
  const shownAs = JSON.stringify(shown.delimiter);
  throw new InputError(
    'input_header',
    say`${name} has one column with ${setting('delimiter', delimiter)}, and ${columns} with ${shownAs}. Leave ${setting('delimiter')} out.`,
  );
}

/**
 * The first line end outside quoted fields. It is a lone `\r` only if no `\n` is outside quotes. If a quote is not
 * closed, the line end is a lone `\r` only if the text has no `\n` at all.
 */
function detectEol(sample: string): CsvDialect['eol'] {
  let quoted = false;
  let sawReturn = false;
  for (const [token] of sample.matchAll(/"|\r?\n|\r/g)) {
    if (token === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (token !== '\r') return token as CsvDialect['eol'];
    else sawReturn = true;
  }
  if (sawReturn && !(quoted && sample.includes('\n'))) return '\r';
  return sample.includes('\r\n') ? '\r\n' : '\n';
}

/**
 * The delimiter with which many records have as many fields as the first one, and many fields: a comma in each row's date
 * does not outweigh six semicolons that a few rows lack. A comma if the file has one column.
 */
function sniffDelimiter(text: string, eol: CsvDialect['eol']): string {
  const strict = mostAgreeing(text, eol, false);
  // If too few records agree, quotes are read as ordinary characters.
  const best = strict.agreeing < MOSTLY ? mostAgreeing(text, eol, true) : strict;
  if (best.fields > 1) return best.delimiter;
  return (
    RARE.find(delimiter => haveSeveralFields(readFirstRecords(text, {delimiter, eol}))) ?? best.delimiter
  );
}

/** True if all records have several fields, and the same number of them. */
export function haveSeveralFields([first = [], ...others]: FieldsPerRecord): boolean {
  return first.length > 1 && others.length > 0 && others.every(({length}) => length === first.length);
}

/** Minimum share of records that have as many fields as the first. */
const MOSTLY = 0.5;

function mostAgreeing(text: string, eol: CsvDialect['eol'], loose: boolean) {
  let best = {delimiter: ',', agreeing: 0, fields: 1, score: 0};
  for (const delimiter of DELIMITERS) {
    const records = readFirstRecords(text, {delimiter, eol}, loose);
    const fields = countColumns(records);
    // An unreadable line has no fields, so it never agrees with a first record of two fields or more.
    if (fields < 2) continue;
    const agreeing =
      records.filter(record => cutEmptyFields(record, fields).length === fields).length / records.length;
    const score = agreeing ** 2 * (fields - 1);
    if (score > best.score) best = {delimiter, agreeing, fields, score};
  }
  return best;
}

/** Number of fields of the first record, without those from a delimiter too many: some records lack them, none fills them. */
export function countColumns(records: FieldsPerRecord): number {
  const isEnough = (count: number) => records.every(fields => cutEmptyFields(fields, count).length <= count);
  const shorter = new Set(records.map(({length}) => length).filter(length => length > 1));
  return Math.min(records[0]?.length ?? 1, ...[...shorter].filter(isEnough));
}

/** The fields without empty ones behind the last column: a delimiter too many at the end is no fault of a row. */
export function cutEmptyFields(fields: readonly string[], count: number): readonly string[] {
  const hasNoMore = fields.length > count && fields.slice(count).every(field => field.trim() === '');
  return hasNoMore ? fields.slice(0, count) : fields;
}

/** The first records, with the header. An unreadable record has no fields. `loose`: quotes are ordinary characters. */
export function readFirstRecords(
  sample: string,
  {delimiter, eol, sepLineBytes = 0}: Omit<CsvDialect, 'sepLineBytes'> & Partial<CsvDialect>,
  loose = false,
): FieldsPerRecord {
  const given = Buffer.from(sample).subarray(sepLineBytes);
  let end = 0;
  // The sample may end within a record, so text after the last line end is left out.
  for (let line = 0; line < MOST_LINES; line++) {
    const eolAt = given.indexOf(eol, end);
    if (eolAt < 0) break;
    end = eolAt + eol.length;
  }
  const text = end === 0 ? given : given.subarray(0, end);
  const syntax = new CsvRecordParser({delimiter, eol});
  const records: (readonly string[])[] = [];
  let faults = 0;
  for (const {fields, start, end: last} of syntax.records(text, true)) {
    if (fields === 'open' || records.length === MOST_RECORDS || faults === MOST_FAULTS) break;
    if (fields === 'bad_quote') {
      faults += 1;
      records.push((loose ? syntax.looseFields(text.toString('utf8', start, last)) : undefined) ?? []);
    } else if (fields.length > 1 || fields[0] !== '') records.push(fields);
  }
  return records;
}
