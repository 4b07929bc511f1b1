import {CsvError, type Options, parse} from 'csv-parse/sync';
import {looseFields} from './loose-fields.ts';
import type {CsvDialect} from './record-reader.ts';

/** Delimiters, in order of preference. */
export const DELIMITERS = [',', ';', '\t', '|'] as const;

/** Tried last, since e-mail addresses may contain them. All records must then have the same number of fields. */
const RARE = ['^', '~'] as const;

/** Maximum number of the sample's records to read, and maximum number of its bytes. */
const MOST_RECORDS = 100;
const MOST_BYTES = 65_536;
/** After this many unreadable lines, no more records are read with the delimiter being tried. */
const MOST_FAULTS = 10;

/**
 * Guesses the delimiter: the one with which most records have as many fields as the first record. If several
 * are equal, the one with the most fields. A comma if no delimiter gives the first record two fields: the file
 * has one column.
 */
export function sniffDelimiter(sample: string, eol: CsvDialect['eol']): string {
  const text = Buffer.from(sample);
  const strict = mostAgreeing(text, eol, false);
  // If quotes with their CSV meaning let too few records agree on the number of fields, quotes are read
  // as ordinary characters.
  const best = strict.agreeing < MOSTLY ? mostAgreeing(text, eol, true) : strict;
  const isParted = (delimiter: string) => {
    const [fields = 1, ...others] = countFields(text, delimiter, eol);
    return fields > 1 && others.length > 0 && others.every(count => count === fields);
  };
  return (best.fields === 1 ? RARE.find(isParted) : undefined) ?? best.delimiter;
}

/** If a smaller share of records has as many fields as the first, quotes are tried as ordinary characters. */
const MOSTLY = 0.5;

function mostAgreeing(text: Buffer, eol: CsvDialect['eol'], loose: boolean) {
  let best = {delimiter: ',', agreeing: 0, fields: 1};
  for (const delimiter of DELIMITERS) {
    const counts = countFields(text, delimiter, eol, loose);
    const fields = counts[0] ?? 1;
    // An unreadable line counts as 0 fields, so it never agrees with a first record of two fields or more.
    if (fields < 2) continue;
    const agreeing = counts.filter(count => count === fields).length / counts.length;
    if (agreeing > best.agreeing || (agreeing === best.agreeing && fields > best.fields)) {
      best = {delimiter, agreeing, fields};
    }
  }
  return best;
}

/** The options with which csv-parse reads all records of a file. */
export function parserOptions(delimiter: string, eol: CsvDialect['eol']): Options {
  return {
    delimiter,
    record_delimiter: eol === '\r' ? ['\r'] : ['\r\n', '\n'],
    relax_column_count: true,
    skip_empty_lines: true,
  };
}

/** The number of fields of each record; 0 for a record that can't be read with this delimiter. */
function countFields(text: Buffer, delimiter: string, eol: CsvDialect['eol'], loose = false): number[] {
  return firstRecords(text, delimiter, eol, loose).map(fields => fields.length);
}

/** The first records of a text. An unreadable record has no fields. `loose`: quotes are ordinary characters. */
export function firstRecords(
  given: Buffer,
  delimiter: string,
  eol: CsvDialect['eol'],
  loose = false,
): (readonly string[])[] {
  const head = given.subarray(0, MOST_BYTES);
  // The sample may end within a record, so text after the last line end is left out.
  const lastEnd = head.lastIndexOf(eol);
  const text = lastEnd === -1 ? head : head.subarray(0, lastEnd + eol.length);
  const records: (readonly string[])[] = [];
  let start = 0;
  let end = 0;
  const options = {...parserOptions(delimiter, eol), to: MOST_RECORDS};
  const take = (fields: readonly string[], {bytes}: {bytes: number}): undefined => {
    records.push(fields);
    end = start + bytes;
  };
  for (let faults = 0; faults < MOST_FAULTS && start < text.length; faults++) {
    try {
      parse(text.subarray(start), {...options, on_record: take});
      break;
    } catch (error) {
      if (!(error instanceof CsvError)) throw error;
      if (error.code === 'CSV_QUOTE_NOT_CLOSED') break;
      const lineEnd = text.indexOf(eol, end);
      start = lineEnd === -1 ? text.length : lineEnd + eol.length;
      const line = text.subarray(end, start).toString();
      records.push((loose ? looseFields(line, options) : undefined) ?? []);
      end = start;
    }
  }
  return records;
}
