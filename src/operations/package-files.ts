import {readFileSync} from 'node:fs';
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
