import {readFileSync} from 'node:fs';
import {parse} from 'csv-parse/sync';

/** The lines of a list that this project keeps, as CSV beside the module that reads it: the build takes it along. */
export function readOwnList<Column extends string>(url: URL): Record<Column, string>[] {
  return parse(readFileSync(url), {columns: true});
}
