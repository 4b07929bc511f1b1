// npm run sbom: the packages that an installation brings, as CycloneDX, by npm itself. With --omit dev npm would leave out
// those that a tool needs too, so it is shown a package without tools.
import {execFileSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';

process.chdir(fileURLToPath(new URL('../', import.meta.url)));
const read = name => JSON.parse(readFileSync(name, 'utf8'));
const {name, version, license, dependencies} = read('package.json');
const own = {name, version, license, dependencies};
const {lockfileVersion, packages} = read('package-lock.json');
const shipped = Object.entries(packages).filter(([path, {dev}]) => path !== '' && !dev);
const lock = {name, version, lockfileVersion, packages: {'': own, ...Object.fromEntries(shipped)}};
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
