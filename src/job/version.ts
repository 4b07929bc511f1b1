import {createRequire} from 'node:module';

/** The version in the package's own package.json, two folders above, built or not. */
export function packageVersion(): string {
  const {version} = createRequire(import.meta.url)('../../package.json') as {version: string};
  return version;
}
