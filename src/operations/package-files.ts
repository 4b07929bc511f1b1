import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {fileURLToPath} from 'node:url';

/** `src`, or `dist`, where the build joins modules in `chunks/`: either is one directory above this module. */
const modules = new URL('../', import.meta.url);

/** A file or folder of `src`, which the build copies to `dist`, such as `report/render/style.css`. */
export const sourceFile = (path: string): string => fileURLToPath(new URL(path, modules));

/** A file or folder of this package, such as `samples/rules.yaml`. */
export const packageFile = (path: string): string => sourceFile(`../${path}`);

export function packageVersion(): string {
  return (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as {version: string}).version;
}

const require = createRequire(import.meta.url);

/** The library for CSV. Only those who read a list or a quoted record load it: a client's single calls need neither. */
export const loadCsvParser = (): typeof import('csv-parse/sync') => require('csv-parse/sync');

/** Reads one of this project's own lists, a CSV file. */
export function readBundledList<Column extends string>(path: string): Record<Column, string>[] {
  return loadCsvParser().parse(readFileSync(path), {columns: true});
}
