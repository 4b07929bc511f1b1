import {execFileSync} from 'node:child_process';
import {readdirSync, readFileSync} from 'node:fs';
import {isBuiltin} from 'node:module';
import {fileURLToPath} from 'node:url';
import {expect, test} from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (name: string) => readFileSync(`${root}${name}`, 'utf8');

interface LockEntry {
  readonly version: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly hasInstallScript?: boolean;
  readonly deprecated?: string;
  readonly os?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const {packages} = JSON.parse(read('package-lock.json')) as {packages: Record<string, LockEntry>};
const locked = Object.entries(packages)
  .filter(([path]) => path !== '')
  .map(([path, entry]) => ({...entry, path, name: path.replace(/^.*node_modules\//, '')}));
/** The packages that the build compiled in, and those installed beside them. */
const bundled = JSON.parse(read('dist/bundled-packages.json')) as string[];
const shipped = locked.filter(
  ({path, dev}) => dev !== true || bundled.includes(path) || path === 'node_modules/tldts-core',
);

/** Licences that ask for nothing but their own text to be kept. */
const PERMISSIVE = [
  'MIT',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  'Unlicense',
  '(MIT OR CC0-1.0)',
];

test('installed packages are those of the lock file: by hash, from any host, without scripts', () => {
  expect(shipped.length).toBeGreaterThan(50);
  for (const {path, integrity, hasInstallScript, deprecated} of shipped)
    expect({path, integrity, hasInstallScript, deprecated}).toEqual({
      path,
      integrity: expect.stringMatching(/^sha512-/),
      hasInstallScript: undefined,
      deprecated: undefined,
    });
  expect(locked.filter(({resolved}) => resolved !== undefined)).toEqual([]);
  // Tools for development on other systems, of which no registry at hand told the hash.
  for (const {path, dev, optional, os} of locked.filter(({integrity}) => integrity === undefined))
    expect({path, dev, optional, os}).toEqual({path, dev: true, optional: true, os: expect.any(Array)});
  const scripts = locked.filter(({hasInstallScript}) => hasInstallScript === true).map(({name}) => name);
  const {allowScripts} = JSON.parse(read('package.json')) as {allowScripts: Record<string, boolean>};
  for (const name of scripts) expect([name, allowScripts[name] ?? 'not decided']).toEqual([name, false]);
});

/** Packages whose code dist asks for; the code of all others that it uses is compiled in. */
function wantedByCode(): string[] {
  const code = readdirSync(`${root}dist`, {recursive: true, encoding: 'utf8'})
    .filter(file => /\.c?js$/.test(file))
    .map(file => read(`dist/${file}`));
  const wanted = code.flatMap(text =>
    [
      ...text.matchAll(
        /^(?:import|export) .*?from "([^"]+)";$|\b(?:import|require|createRequire\(import\.meta\.url\))\("([^"]+)"\)/gm,
      ),
    ].map(([, one, other]) => one ?? other ?? ''),
  );
  return [...new Set(wanted.filter(name => !isBuiltin(name) && !name.startsWith('.')))].sort();
}

test('every package whose code is wanted is in the package or installed with it', () => {
  expect(wantedByCode()).toEqual(['bullmq', 'i18n-iso-countries/codes.json', 'ioredis', 'libsql']);
  expect(bundled).toContain('node_modules/got');
});

test('all code of an installation was tested: packages that are not compiled in have one version', () => {
  const manifest = JSON.parse(read('package.json')) as Record<string, Record<string, string>>;
  // A fleet's packages are its user's own, beside this one.
  const own = wantedByCode().map(name => name.split('/')[0] ?? '');
  const names = own.filter(name => manifest.peerDependencies?.[name] === undefined);
  const open = names.map(name => [name, manifest.dependencies?.[name] ?? '']);
  const seen = new Set<string>();
  for (const [name = '', range = ''] of open) {
    const {
      version,
      dependencies = {},
      optionalDependencies = {},
    } = locked.find(({path}) => path === `node_modules/${name}`) ?? {};
    // Of 0.0.x, a caret allows no other version either.
    expect([version, `^${version}`.startsWith('^0.0.') ? `^${version}` : version], name).toContain(range);
    if (seen.has(name)) continue;
    seen.add(name);
    open.push(...Object.entries({...dependencies, ...optionalDependencies}));
  }
  expect(seen).toContain('@libsql/linux-x64-gnu');
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
  const bom = JSON.parse(
    execFileSync(process.execPath, ['scripts/sbom.mjs'], {cwd: root, encoding: 'utf8'}),
  ) as {
    bomFormat: string;
    metadata: {component: {name: string}};
    components: {name: string; version: string; hashes?: unknown[]; licenses?: unknown[]}[];
  };
  expect([bom.bomFormat, bom.metadata.component.name]).toEqual(['CycloneDX', 'bulk-enrich']);
  const named = bom.components.map(({name, version}) => `${name}@${version}`);
  expect(named.toSorted()).toEqual(shipped.map(({name, version}) => `${name}@${version}`).toSorted());
  for (const {name, hashes, licenses} of bom.components)
    expect([name, hashes?.length, licenses?.length]).toEqual([name, 1, 1]);
});

test('the packed package has the notices of all that is in it or comes with it, with the licences’ texts', () => {
  const notices = read('dist/third-party-notices.txt');
  for (const {name, version, license} of shipped) {
    const [, text = ''] = notices.split(`${name} ${version} (${license})\n\n`);
    expect([name, /copyright|public domain|permission/i.test(text.slice(0, 1_500))]).toEqual([name, true]);
  }
  expect(notices).toMatch(
    /Public Suffix List \(MPL-2\.0\)[\s\S]*Mozilla Public License[\s\S]*publicsuffix\.org/,
  );
  const {dataSets} = JSON.parse(read('dist/service/data/manifest.json')) as {dataSets: {name: string}[]};
  const [, ofData = ''] = notices.split('Data in this package\n');
  for (const {name} of dataSets) expect(ofData).toContain(`${name}\n\n`);

  const packed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
  });
  const [tarball] = JSON.parse(packed) as {files: {path: string}[]}[];
  const files = tarball?.files.map(({path}) => path) ?? [];
  for (const file of [
    'LICENSE',
    'SECURITY.md',
    'dist/third-party-notices.txt',
    'dist/service/data/licences.txt',
  ])
    expect(files).toContain(file);
  // Data comes in these formats: each file has its data set, whose terms are in the notices.
  const data = files.filter(file => /\.(gz|mmdb|bin|csv)$/.test(file) && file.startsWith('dist/'));
  expect(data.filter(file => !/^dist\/service\/(data|intelligence)\//.test(file))).toEqual([]);
});

test('actions of workflows are pinned by commit, and only the job that publishes may write', () => {
  const workflow = read('.github/workflows/release.yml');
  for (const [line] of workflow.matchAll(/uses: .*/g)) expect(line).toMatch(/@[0-9a-f]{40} # v[\d.]+$/);
  expect(workflow).toContain('\npermissions: {}\n');
  expect(workflow.match(/: write$/gm)).toHaveLength(2);
  expect(workflow).toContain('npm publish --provenance');
});
