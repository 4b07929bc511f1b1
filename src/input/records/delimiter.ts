import {CsvSyntax} from './csv-records.ts';
import type {CsvDialect} from './record-reader.ts';

/** Delimiters, in order of preference. */
export const DELIMITERS = [',', ';', '\t', '|'] as const;

/** Tried last, since e-mail addresses may contain them. All records must then have the same number of fields. */
const RARE = ['^', '~'] as const;

/** Maximum numbers of the sample's records and of their lines. */
const MOST_RECORDS = 100;
const MOST_LINES = 200;
/** After this many unreadable lines, no more records are read with the delimiter being tried. */
const MOST_FAULTS = 10;

/**
 * Guesses the delimiter: the one with which many records have as many fields as the first record, and which gives
 * many fields. A comma in each row's date does not outweigh six semicolons that a few rows lack. A comma if no
 * delimiter gives the first record two fields: the file has one column.
 */
export function sniffDelimiter(sample: string, eol: CsvDialect['eol']): string {
  const text = Buffer.from(sample);
  const strict = mostAgreeing(text, eol, false);
  // If quotes with their CSV meaning let too few records agree on the number of fields, quotes are read
  // as ordinary characters.
  const best = strict.agreeing < MOSTLY ? mostAgreeing(text, eol, true) : strict;
  const isParted = (delimiter: string) => {
    const [first = [], ...others] = firstRecords(text, delimiter, eol);
    return first.length > 1 && others.length > 0 && others.every(({length}) => length === first.length);
  };
  return (best.fields === 1 ? RARE.find(isParted) : undefined) ?? best.delimiter;
}

/** If a smaller share of records has as many fields as the first, quotes are tried as ordinary characters. */
const MOSTLY = 0.5;

function mostAgreeing(text: Buffer, eol: CsvDialect['eol'], loose: boolean) {
  let best = {delimiter: ',', agreeing: 0, fields: 1, score: 0};
  for (const delimiter of DELIMITERS) {
    const records = firstRecords(text, delimiter, eol, loose);
    const fields = widthOf(records);
    // An unreadable line has no fields, so it never agrees with a first record of two fields or more.
    if (fields < 2) continue;
    const agreeing = records.filter(record => cutEmpty(record, fields).length === fields).length;
    const share = agreeing / records.length;
    const score = share ** 2 * (fields - 1);
    if (score > best.score) best = {delimiter, agreeing: share, fields, score};
  }
  return best;
}

/**
 * Number of columns: the fields of the first record. Without those at its end that all records leave empty, if some
 * records lack them: they come from a delimiter too many.
 */
export function widthOf(records: readonly (readonly string[])[]): number {
  const isEnough = (count: number) => records.every(fields => cutEmpty(fields, count).length <= count);
  const shorter = new Set(records.map(({length}) => length).filter(length => length > 1));
  return Math.min(records[0]?.length ?? 1, ...[...shorter].filter(isEnough));
}

/** The fields without empty ones behind the last column: a delimiter too many at the end is no fault of a row. */
export function cutEmpty(fields: readonly string[], count: number): readonly string[] {
  const hasNoMore = fields.length > count && fields.slice(count).every(field => field.trim() === '');
  return hasNoMore ? fields.slice(0, count) : fields;
}

/** The first records of a text. An unreadable record has no fields. `loose`: quotes are ordinary characters. */
export function firstRecords(
  given: Buffer,
  delimiter: string,
  eol: CsvDialect['eol'],
  loose = false,
): (readonly string[])[] {
  let end = 0;
  // The sample may end within a record, so text after the last line end is left out.
  for (let line = 0; line < MOST_LINES; line++) {
    const eolAt = given.indexOf(eol, end);
    if (eolAt < 0) break;
    end = eolAt + eol.length;
  }
  const text = end === 0 ? given : given.subarray(0, end);
  const syntax = new CsvSyntax({delimiter, eol});
  const records: (readonly string[])[] = [];
  let faults = 0;
  for (const {fields, start, end: last} of syntax.records(text, text.length)) {
    if (fields === 'open' || records.length === MOST_RECORDS || faults === MOST_FAULTS) break;
    if (fields === 'bad_quote') faults += 1;
    if (typeof fields === 'object') {
      if (fields.length > 1 || fields[0] !== '') records.push(fields);
    } else {
      records.push((loose ? syntax.looseFields(text.toString('utf8', start, last)) : undefined) ?? []);
    }
  }
  return records;
}
