import {existsSync, readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {join} from 'node:path';

/** An installed package's version, or undefined: read from its folder, since many packages export nothing else. */
export function packageVersion(name: string): string | undefined {
  const paths = createRequire(import.meta.url).resolve.paths(name) ?? [];
  const file = paths.map(folder => join(folder, name, 'package.json')).find(each => existsSync(each));
  return file === undefined ? undefined : JSON.parse(readFileSync(file, 'utf8')).version;
}
