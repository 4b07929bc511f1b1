import {spawnSync} from 'node:child_process';
import {mkdirSync, readFileSync, symlinkSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
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

/** A folder in which the package is installed. */
function installed(): Sandbox {
  const sandbox = createSandbox();
  mkdirSync(sandbox.path('node_modules'));
  symlinkSync(root, sandbox.path('node_modules/bulk-enrich'));
  symlinkSync(`${root}node_modules/@types`, sandbox.path('node_modules/@types'));
  sandbox.write('package.json', '{"type": "module"}');
  sandbox.write('signups.csv', readFileSync(`${root}samples/signups.csv`));
  return sandbox;
}

function node({directory, home}: Sandbox, ...args: readonly string[]): string {
  const env = {PATH: process.env.PATH ?? '', HOME: home};
  const {status, stdout, stderr} = spawnSync(process.execPath, args, {cwd: directory, env, encoding: 'utf8'});
  if (status !== 0) throw new Error(`${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

describe('docs/library.md', () => {
  test('every example has its output, and every section has one at most', () => {
    expect(examples).toHaveLength(text.split('\n```ts\n').length - 1);
    for (const {heading, printed} of examples) expect(printed, heading).not.toBe('');
  });

  test('the examples compile for whoever installs the package, and print what stands under them', {
    timeout: 60_000,
  }, () => {
    using sandbox = installed();
    for (const [index, {code}] of examples.entries()) sandbox.write(`src/${index}.ts`, code);
    const compilerOptions = {
      target: 'es2022',
      module: 'nodenext',
      strict: true,
      types: ['node'],
      rootDir: 'src',
      outDir: 'out',
    };
    sandbox.write('tsconfig.json', JSON.stringify({compilerOptions, include: ['src']}));
    node(sandbox, `${root}node_modules/typescript/bin/tsc`);
    for (const [index, {heading, printed}] of examples.entries())
      expect(node(sandbox, `out/${index}.js`), heading).toBe(printed);
  });
});
