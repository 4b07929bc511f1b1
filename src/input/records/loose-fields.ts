import {CsvError, type Options, parse} from 'csv-parse/sync';

/**
 * The fields of a line with quotes inside fields, from programs that never quote: `5" pipe`, `O"Neil`, and a
 * spreadsheet's `="00123"`. Reads such quotes as ordinary characters. Undefined if a quoted field is not closed.
 */
export function looseFields(line: string, options: Options): readonly string[] | undefined {
  const at = String(options.delimiter).replace(/[|\\{}()[\]^$+*?.]/g, '\\$&');
  // Turns `="…"` into a quoted CSV field, since its text may contain the delimiter.
  const formula = new RegExp(`(^|${at})="([^"\\r\\n]*)"(?=${at}|[\\r\\n]|$)`, 'g');
  const quoted = line.replace(formula, '$1"=""$2"""');
  try {
    return (parse(quoted, {...options, relax_quotes: true, to: 1}) as string[][])[0];
  } catch (error) {
    if (error instanceof CsvError) return undefined;
    throw error;
  }
}
