import {execFile} from 'node:child_process';
import {existsSync, mkdirSync, readFileSync, symlinkSync} from 'node:fs';
import {dirname} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {describe, expect, test} from 'vitest';
import {createSandbox, type Sandbox} from '../support/command.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const text = readFileSync(`${root}docs/library.md`, 'utf8');

/** The sections that have an example: its heading, its code, and what stands under it. */
const examples = text
  .split(/^## /m)
  .filter(section => section.includes('```ts\n'))
  .map(section => ({
    heading: section.split('\n')[0] ?? '',
    code: between(section, '```ts\n', '```\n'),
    printed: between(section, '```text\n', '```\n'),
  }));

function between(section: string, begin: string, end: string): string {
  const [, rest = ''] = section.split(begin);
  return rest.slice(0, rest.indexOf(end));
}

/** A program whose `import` becomes a `require`. */
const COMMONJS = `import {enrich} from 'bulk-enrich';
void (async () => {
  for await (const {enrichment: {ip}} of enrich([{ip: '192.0.2.1'}], {endpoint: 'embedded', ip: 'ip', store: false}))
    console.log(ip.status === 'ok' && ip.data.is_bogon);
})();`;

/** A folder in which the package is installed, with the packages that npm installs with it, and with no other. */
function installed(): Sandbox {
  const sandbox = createSandbox();
  const link = (from: string, to: string) =>
    symlinkSync(`${root}${from}`, sandbox.path(`node_modules/${to}`));
  mkdirSync(sandbox.path('node_modules/bulk-enrich'), {recursive: true});
  for (const part of ['package.json', 'dist']) link(part, `bulk-enrich/${part}`);
  // The types of Node are the user's own.
  const types = ['node_modules/@types/node', 'node_modules/undici-types'];
  const {packages} = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8')) as {
    packages: Record<string, {dev?: boolean}>;
  };
  const shipped = Object.keys(packages).filter(path => path !== '' && packages[path]?.dev !== true);
  for (const path of [...shipped, ...types]) {
    // A package for another platform is not there, and one within another comes with that.
    if (!existsSync(`${root}${path}`) || path.lastIndexOf('node_modules/') > 0) continue;
    mkdirSync(dirname(sandbox.path(path)), {recursive: true});
    link(path, path.replace('node_modules/', ''));
  }
  sandbox.write('package.json', '{"type": "module"}');
  sandbox.write('signups.csv', readFileSync(`${root}samples/signups.csv`));
  return sandbox;
}

/** Returns its output. */
async function node({directory, home}: Sandbox, ...args: readonly string[]): Promise<string> {
  // For the compiler: it has memory enough, and collecting garbage takes it a third of its time.
  const env = {PATH: process.env.PATH ?? '', HOME: home, GOGC: 'off'};
  const ended = promisify(execFile)(process.execPath, args, {cwd: directory, env});
  const {stdout} = await ended.catch(({stdout, stderr}) => {
    throw new Error(`${args.join(' ')}: ${stdout}${stderr}`);
  });
  return stdout;
}

async function compile(sandbox: Sandbox, how: object): Promise<void> {
  const options = {
    target: 'es2022',
    strict: true,
    types: ['node'],
    rootDir: 'src',
    skipDefaultLibCheck: true,
    // Looks for packages beside the link to the package, as if it were installed.
    preserveSymlinks: true,
  };
  sandbox.write('tsconfig.json', JSON.stringify({compilerOptions: {...options, ...how}, include: ['src']}));
  await node(sandbox, `${root}node_modules/typescript/bin/tsc`, '--singleThreaded');
}

// They wait for processes.
describe.concurrent('docs/library.md', () => {
  test('every example has its output, and every section has one at most', () => {
    expect(examples).toHaveLength(text.split('\n```ts\n').length - 1);
    for (const {heading, printed} of examples) expect(printed, heading).not.toBe('');
  });

  test('the examples compile with the installed package and print the shown output; CommonJS can require it', {
    timeout: 300_000,
  }, async () => {
    using sandbox = installed();
    for (const [index, {code}] of examples.entries()) sandbox.write(`src/${index}.ts`, code);
    sandbox.write('src/required.cts', COMMONJS);
    await compile(sandbox, {module: 'nodenext', outDir: 'out'});
    for (const [index, {heading, printed}] of examples.entries())
      expect(await node(sandbox, `out/${index}.js`), heading).toBe(printed);
    expect(await node(sandbox, 'out/required.cjs')).toBe('true\n');
  });

  test('CommonJS has it in TypeScript of the settings that the page names', async () => {
    const [, named = ''] = /`module` (.*?) with/.exec(text) ?? [];
    const modules = [...named.matchAll(/`(\w+)`/g)].map(([, name]) => name);
    expect(modules.length).toBeGreaterThan(2);
    // The first is that of the examples, and those before the last resolve as these do.
    expect(modules[0]).toBe('nodenext');
    using sandbox = installed();
    sandbox.write('package.json', '{}');
    sandbox.write('src/main.ts', COMMONJS);
    await compile(sandbox, {module: modules.at(-1), moduleResolution: 'bundler', noEmit: true});
  });
});
