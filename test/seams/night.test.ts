import {spawnSync} from 'node:child_process';
import {readFileSync, rmSync, writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {compile} from '../sim/compile.mjs';
import {nights as plain} from './night/nights.ts';
import {troubles} from './night/troubles.ts';

/**
 * Nights in virtual time, through the library: for each session its calls (value and second), the rows, the credits
 * (spent, perhaps spent) and the exit code; at last the credits that the service took. UPDATE=1 writes nights.txt anew:
 * then read what changed.
 */

const nights = {...plain, ...troubles};
const file = new URL('night/nights.txt', import.meta.url);
const play = fileURLToPath(new URL('night/play.mjs', import.meta.url));
let told: ReadonlyMap<string, string>;
let compiled: Awaited<ReturnType<typeof compile>>;

beforeAll(async () => {
  compiled = await compile(`nights-${process.pid}`, 'test/seams/night/night.ts');
  const input = JSON.stringify(Object.values(nights));
  const {stdout, stderr} = spawnSync(process.execPath, [play, compiled.file], {input, encoding: 'utf8'});
  expect(stderr).toBe('');
  const results = JSON.parse(stdout) as readonly string[];
  told = new Map(Object.keys(nights).map((name, nth) => [name, results[nth] ?? '']));
  if (process.env.UPDATE === '1')
    writeFileSync(file, [...told].map(([name, result]) => `${name}: ${result}\n`).join(''));
}, 300_000);

afterAll(() => rmSync(compiled.directory, {recursive: true, force: true}));

const known = new Map(
  readFileSync(file, 'utf8')
    .split('\n')
    .map(line => line.split(': ') as [string, string]),
);

test.each(Object.keys(nights))('%s', name => {
  expect(told.get(name)).toBe(known.get(name));
});

test('each night has a line of its own', () => {
  expect([...known.keys()].filter(name => name !== '')).toEqual(Object.keys(nights));
});
