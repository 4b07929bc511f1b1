import {readFileSync} from 'node:fs';
import {parse} from 'csv-parse/sync';

/** The lines of a list of this project's own, from a CSV beside the module that reads it. The build copies it. */
export function readOwnList<Column extends string>(url: URL): Record<Column, string>[] {
  return parse(readFileSync(url), {columns: true});
}
