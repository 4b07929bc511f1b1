// Before `npm pack`: npm-shrinkwrap.json, by which those who install the package get the versions that it was tested with.
// It is made of package-lock.json, which npm leaves out of a package, and holds what users install alone.
import {readFileSync, writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';

/** @returns the lock file that is published, of the package's own files */
export function shrinkwrap(manifest, lock) {
  const {name, version, license, bin, engines, dependencies, peerDependencies, peerDependenciesMeta} =
    manifest;
  const root = {name, version, license, dependencies, bin, engines, peerDependencies, peerDependenciesMeta};
  // What only a fleet needs is installed by the user, beside the package.
  const installed = Object.entries(lock.packages).filter(([path, {dev}]) => path !== '' && !dev);
  return {
    name,
    version,
    lockfileVersion: lock.lockfileVersion,
    requires: true,
    packages: {'': root, ...Object.fromEntries(installed)},
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.chdir(fileURLToPath(new URL('../..', import.meta.url)));
  const read = name => JSON.parse(readFileSync(name, 'utf8'));
  const made = shrinkwrap(read('package.json'), read('package-lock.json'));
  writeFileSync('npm-shrinkwrap.json', `${JSON.stringify(made, null, 2)}\n`);
}
