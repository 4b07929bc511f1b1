// npm run sbom: what an installation of the package brings, as CycloneDX, by npm itself. In a clone `npm sbom --omit dev`
// leaves out whatever a development tool needs too, so npm is shown the package as those have it who install it.
import {execFileSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = name => JSON.parse(readFileSync(join(root, name), 'utf8'));
const shipped = ({devDependencies, peerDependencies, peerDependenciesMeta, overrides, scripts, ...rest}) =>
  rest;

const own = read('package.json');
const lock = read('package-lock.json');
const packages = Object.entries(lock.packages)
  .filter(([, {dev}]) => !dev)
  .map(([path, entry]) => [path, path === '' ? shipped(entry) : entry]);
const temporary = mkdtempSync(join(tmpdir(), 'bulk-enrich-sbom-'));
try {
  // npm calls the whole by its directory's name.
  const directory = join(temporary, own.name);
  const write = (name, content) => writeFileSync(join(directory, name), JSON.stringify(content));
  mkdirSync(directory);
  write('package.json', shipped(own));
  write('package-lock.json', {...lock, packages: Object.fromEntries(packages)});
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
  execFileSync('npm', args, {cwd: directory, stdio: ['ignore', 'inherit', 'inherit']});
} finally {
  rmSync(temporary, {recursive: true, force: true});
}
