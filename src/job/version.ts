import {readFileSync} from 'node:fs';
import {packageFile} from '../operations/package-files.ts';

/** The version in the package's package.json. */
export function packageVersion(): string {
  return (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as {version: string}).version;
}
