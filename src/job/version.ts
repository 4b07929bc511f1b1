import {createRequire} from 'node:module';

/** The version in the package's package.json, which is two directories above this file in `src` and when built. */
export function packageVersion(): string {
  const {version} = createRequire(import.meta.url)('../../package.json') as {version: string};
  return version;
}
