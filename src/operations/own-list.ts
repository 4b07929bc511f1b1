import {readFileSync} from 'node:fs';
import {parse} from 'csv-parse/sync';

/** Reads one of this project's own lists, a CSV file. */
export function readOwnList<Column extends string>(path: string): Record<Column, string>[] {
  return parse(readFileSync(path), {columns: true});
}
