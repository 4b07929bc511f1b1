import {spawnSync} from 'node:child_process';
import {copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {type LockFile, shrinkwrap} from '../support/shrinkwrap.mjs';

const root = new URL('../../', import.meta.url).pathname;
const json = (name: string) => JSON.parse(readFileSync(`${root}${name}`, 'utf8')) as unknown;
const manifest = json('package.json') as {
  dependencies: object;
  files: string[];
  scripts: Record<string, string>;
};
const lock = json('package-lock.json') as LockFile;

/** What an installation brings: each package as it was locked, and tested with. */
const made = shrinkwrap(manifest, lock);

test('who installs the package gets the versions that it was tested with, by hash, and no tool of its development', () => {
  const {'': own, ...installed} = made.packages;
  expect(own?.dependencies).toEqual(manifest.dependencies);
  for (const name of Object.keys(manifest.dependencies))
    expect(installed).toHaveProperty([`node_modules/${name}`]);
  for (const [path, entry] of Object.entries(installed)) {
    expect(entry, path).toEqual(lock.packages[path]);
    expect(entry.integrity, path).toMatch(/^sha512-/);
  }
  const wanted = Object.values(installed).flatMap(({dependencies = {}}) => Object.keys(dependencies));
  for (const name of wanted) expect(installed).toHaveProperty([`node_modules/${name}`]);
  for (const name of ['vitest', 'bullmq', 'got'])
    expect(installed).not.toHaveProperty([`node_modules/${name}`]);
});

test('the versions go into the package, which npm would not do with the lock file', () => {
  expect(manifest.scripts.prepack).toContain('test/support/shrinkwrap.mjs');
  const folder = mkdtempSync(join(tmpdir(), 'bulk-enrich-pack-'));
  try {
    for (const name of ['package.json', 'package-lock.json'])
      copyFileSync(`${root}${name}`, join(folder, name));
    writeFileSync(join(folder, 'npm-shrinkwrap.json'), JSON.stringify(made));
    const {stdout} = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: folder,
      encoding: 'utf8',
    });
    const [packed] = JSON.parse(stdout) as [{files: {path: string}[]}];
    expect(packed.files.map(({path}) => path).sort()).toEqual(['npm-shrinkwrap.json', 'package.json']);
  } finally {
    rmSync(folder, {recursive: true});
  }
});
