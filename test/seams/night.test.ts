import {spawnSync} from 'node:child_process';
import {readFileSync, rmSync, writeFileSync} from 'node:fs';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {parse} from 'yaml';
import {compile, v8Flags} from '../sim/compile.ts';
import type {Killed} from './night/kills.ts';
import type {Night} from './night/night.ts';

/**
 * Nights in virtual time, through the library: a line of nights.txt each, `NAME ▸ NIGHT ▸ RESULT`. NIGHT has the keys of
 * `Night`; `3×500` is `500 500 500`, in which {n} is the place from 0. RESULT: for each session its calls (value and
 * second), the rows, the credits (spent, perhaps spent) and the exit code; at last the credits that the service took.
 * UPDATE=1 writes the results anew: then read what changed.
 */

const file = new URL('night/nights.txt', import.meta.url);
const lines = readFileSync(file, 'utf8').split('\n');
const nights = lines.flatMap(line => {
  const [name = '', night, result = ''] = line.split(' ▸ ');
  return night === undefined ? [] : [{name, night, result}];
});
const KEYS: readonly (keyof Night)[] = ['list', 'column', 'script', 'limit', 'settings', 'sessions'];

function nightOf(text: string): Night {
  const repeated = (_: string, times: string, word: string) =>
    Array.from({length: Number(times)}, (_, n) => word.replaceAll('{n}', String(n))).join(' ');
  const night = parse(`{${text.replace(/(\d+)×([^\s';]+)/g, repeated)}}`) as Night;
  expect(KEYS, text).toEqual(expect.arrayContaining(Object.keys(night)));
  return night;
}

let told: ReadonlyMap<string, string>;
let killed: readonly Killed[];
let compiled: Awaited<ReturnType<typeof compile>>;

beforeAll(async () => {
  compiled = await compile(`nights-${process.pid}`, 'test/seams/night/kills.ts');
  const input = JSON.stringify(nights.map(({night}) => nightOf(night)));
  const args = [...v8Flags, compiled.file];
  const {stdout, stderr} = spawnSync(process.execPath, args, {input, encoding: 'utf8'});
  expect(stderr).toBe('');
  const played = JSON.parse(stdout) as {results: readonly string[]; killed: readonly Killed[]};
  told = new Map(nights.map(({name}, nth) => [name, played.results[nth] ?? '']));
  killed = played.killed;
  if (process.env.UPDATE !== '1') return;
  const anew = lines.map(line => line.replace(/^((.*?) ▸ .* ▸ ).*$/, (_, all, name) => all + told.get(name)));
  writeFileSync(file, anew.join('\n'));
}, 300_000);

afterAll(() => rmSync(compiled.directory, {recursive: true, force: true}));

test.each(nights)('$name', ({name, result}) => expect(told.get(name)).toBe(result));

test('each night has a line of its own', () => expect(told.size).toBe(nights.length));

test('a list of twelve rows, killed at any step and run again, has the same bytes, pays again for two values at most, and never shows an output without its summary and rejects', () => {
  expect(killed.filter(({faults}) => faults.length > 0)).toEqual([]);
  expect(killed.length).toBeGreaterThan(30);
});
