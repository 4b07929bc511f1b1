import {readFileSync} from 'node:fs';
import {parse} from 'csv-parse/sync';

/** Reads one of this project's own lists: a CSV file beside the module that needs it, in `src` and in `dist`. */
export function readOwnList<Column extends string>(url: URL): Record<Column, string>[] {
  return parse(readFileSync(url), {columns: true});
}
