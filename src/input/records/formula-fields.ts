import {CsvError, type Options, parse} from 'csv-parse/sync';

/**
 * The fields of a line in which a spreadsheet wrote digits as `="…"`, which is a quote inside a field to every reader of
 * CSV; undefined where that is not all that is wrong with it.
 */
export function formulaFields(line: string, options: Options): readonly string[] | undefined {
  const at = String(options.delimiter).replace(/[|\\{}()[\]^$+*?.]/g, '\\$&');
  const formula = new RegExp(`(^|${at})="([^"\\r\\n]*)"(?=${at}|[\\r\\n]|$)`, 'g');
  const quoted = line.replace(formula, '$1"=""$2"""');
  if (quoted === line) return undefined;
  try {
    return (parse(quoted, options) as string[][])[0];
  } catch (error) {
    if (error instanceof CsvError) return undefined;
    throw error;
  }
}
