// npm run sbom: the packages whose code is in this one or installed with it, as CycloneDX, by npm itself. As npm would
// leave out what was bundled, it is shown a package that depends on each of them.
import {execFileSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {shippedPackages} from './shipped-packages.mjs';

process.chdir(fileURLToPath(new URL('../', import.meta.url)));
const read = name => JSON.parse(readFileSync(name, 'utf8'));

const {name, version, license} = read('package.json');
const shipped = Object.entries(shippedPackages(read('dist/bundled-packages.json')));
const versions = Object.fromEntries(
  shipped.map(([path, entry]) => [path.replace(/^.*node_modules\//, ''), entry.version]),
);
// What a bundled package declares and no code of it is here for, as types.
const here = declared => Object.entries(declared ?? {}).filter(([one]) => one in versions);
const entries = shipped.map(([path, {version, integrity, license, dependencies}]) => [
  path,
  {version, integrity, license, dependencies: Object.fromEntries(here(dependencies))},
]);
const own = {name, version, license, dependencies: versions};
const lock = {name, version, lockfileVersion: 3, packages: {'': own, ...Object.fromEntries(entries)}};
const temporary = mkdtempSync(join(tmpdir(), 'bulk-enrich-sbom-'));
try {
  // npm calls the whole by its directory's name.
  const directory = join(temporary, name);
  mkdirSync(directory);
  writeFileSync(join(directory, 'package.json'), JSON.stringify(own));
  writeFileSync(join(directory, 'package-lock.json'), JSON.stringify(lock));
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
  execFileSync('npm', args, {cwd: directory, stdio: ['ignore', 'inherit', 'inherit']});
} finally {
  rmSync(temporary, {recursive: true, force: true});
}
