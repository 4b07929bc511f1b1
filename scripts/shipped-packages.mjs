// Which packages' code its users have: what the build put in, and what an installation brings.
import {readFileSync} from 'node:fs';

/** Packages whose code is in what others publish. */
const WITHIN = {'node_modules/tldts': 'node_modules/tldts-core'};

/** @returns the lock file's entries, by path */
export function shippedPackages(bundled) {
  const inside = [...bundled, ...bundled.map(path => WITHIN[path])];
  const {packages} = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  return Object.fromEntries(
    Object.entries(packages).filter(([path, {dev}]) => path !== '' && (!dev || inside.includes(path))),
  );
}
