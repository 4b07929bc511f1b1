import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {expect, test} from 'vitest';
import {isOwnSetting} from './build.ts';
import {createSandbox} from './command.ts';
import {isLacking, MISSING_PARTS, partNames, partsNotRun} from './real-parts.ts';

const absent = (name: string) => ({name, brought: `apt-get install ${name}`, works: () => false});

test('parts that are missing are told once each, with the package that brings them', () => {
  using sandbox = createSandbox();
  const env = {[MISSING_PARTS]: sandbox.path('missing')};
  expect(partsNotRun(env[MISSING_PARTS])).toBe('');
  for (const name of ['b', 'a', 'b']) expect(isLacking(name, absent(name), env)).toBe(true);
  expect(isLacking('c', {...absent('c'), works: () => true}, env)).toBe(false);
  expect(partsNotRun(env[MISSING_PARTS]).trim().split('\n').slice(1)).toEqual([
    '  a (apt-get install a)',
    '  b (apt-get install b)',
  ]);
});

test('a part that is required and missing is a failure, and is told too', () => {
  using sandbox = createSandbox();
  const env = {REQUIRED_PARTS: 'b a', [MISSING_PARTS]: sandbox.path('missing')};
  expect(() => isLacking('a', absent('a'), env)).toThrow('apt-get install a');
  expect(isLacking('a', {...absent('a'), works: () => true}, env)).toBe(false);
  expect(partsNotRun(env[MISSING_PARTS])).toContain('apt-get install a');
  expect(isLacking('c', absent('c'), env)).toBe(true);
});

const root = fileURLToPath(new URL('../', import.meta.url));
const files = readdirSync(root, {recursive: true, encoding: 'utf8'}).filter(name => /\.m?tsx?$/.test(name));

test('a test finds its files by fileURLToPath, and quotes paths for a shell: a clone’s path may have a space', () => {
  const wrong = /import\.meta\.url\)\.pathname|exec \$\{(?:process|bin)/;
  expect(files.filter(name => wrong.test(readFileSync(join(root, name), 'utf8')))).toEqual([]);
});

test('tests have no proxy, no setting and no directory of the user who runs them', () => {
  const own = Object.keys(process.env).filter(isOwnSetting);
  expect(own.filter(name => !/^XDG_(CACHE|CONFIG|STATE)_HOME$/.test(name))).toEqual([]);
  const names = ['https_proxy', 'HTTP_PROXY', 'NO_PROXY', 'BULK_ENRICH_REDIS_URL', 'GITHUB_STEP_SUMMARY'];
  expect([...names, 'HOME', 'PATH'].filter(isOwnSetting)).toEqual(names);
});

test('no test looks for an installed program by itself', () => {
  const own = /(?:spawnSync|has)\([^)]*\['?(?:--version|version)'?\]\)\.?(?:status|stdout)/;
  const others = files.filter(name => own.test(readFileSync(join(root, name), 'utf8')));
  expect(others.filter(name => !name.includes('real-parts'))).toEqual([]);
});

test('.ci/README.md has each part with tests that use it, and says which of them .ci/run installs', () => {
  const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
  const rows = [
    ...read('.ci/README.md').matchAll(/^\| (`\w+`(?:, `\w+`)*) \| ([^|]+) \| [^|]+ \| (.+) \|$/gm),
  ];
  const words = (text = '') => [...text.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);
  const told = rows.flatMap(([, names, how, tests]) =>
    words(names).map(name => ({name, how, tests: words(tests)})),
  );
  expect(told.map(({name}) => name).sort()).toEqual([...partNames].sort());
  for (const {name, tests} of told)
    for (const file of tests) expect(read(file), `${file}: ${name}`).toContain(`lacks('${name}')`);
  const [, required = ''] = /REQUIRED_PARTS="([^"]+)"/.exec(read('.ci/run')) ?? [];
  const installed = told.filter(({how}) => how === 'installed').map(({name}) => name);
  expect(installed.sort()).toEqual(required.split(' ').sort());
});
