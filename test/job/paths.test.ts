import {closeSync, fsyncSync, openSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, it} from 'vitest';
import {userDirectory} from '../../src/disk/directory.ts';
import {syncDirectory} from '../../src/disk/replace.ts';
import {expandPatterns, fillDate, mentionsDate, utcDate} from '../../src/job/paths.ts';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {newDirectory} from '../support/new-directory.ts';

const within = newDirectory();

it('patterns stand for the files that match, sorted; other paths stay as they are', () => {
  for (const name of ['b.csv', 'a.csv', 'c.tsv', 'odd[1].csv']) writeFileSync(within(name), '');
  expect(expandPatterns([within('?.csv')])).toEqual([within('a.csv'), within('b.csv')]);
  const others = ['-', within('odd[1].csv'), within('none*.csv')];
  expect(expandPatterns(others)).toEqual(others);
});

it('{date} is the day in UTC', () => {
  expect(utcDate(Date.UTC(2026, 0, 31, 23, 59))).toBe('2026-01-31');
  expect(fillDate('in/{date}/x-{date}.csv', '2026-01-31')).toBe('in/2026-01-31/x-2026-01-31.csv');
  const mentions = ['a.csv', 'a-{date}.csv'].map(name => mentionsDate([undefined, name]));
  expect(mentions).toEqual([false, true]);
});

it('run takes patterns and dates in all of its paths', async () => {
  using sandbox = createSandbox();
  for (const day of ['30', '31'])
    for (const [name, ip] of Object.entries({a: `192.0.2.${day}`, b: `192.0.2.1${day}`}))
      sandbox.write(`in/2026-01-${day}-${name}.csv`, `ip\n${ip}\n`);
  const args = 'run in/{date}-*.csv -o out-{date}.csv --endpoint embedded --date 2026-01-31';
  expect((await runHere(sandbox, args.split(' '))).code).toBe(0);
  const [, ...rows] = sandbox.read('out-2026-01-31.csv').trimEnd().split('\n');
  expect(rows.map(line => line.split(',')[0])).toEqual(['192.0.2.31', '192.0.2.131']);
  const {paths} = sandbox.summary('out-2026-01-31.summary.json').input;
  expect(paths).toEqual(['in/2026-01-31-a.csv', 'in/2026-01-31-b.csv']);
});

it('on Windows the user’s directories are below %LOCALAPPDATA%, and a directory is not synced', () => {
  expect(userDirectory('cache', {LOCALAPPDATA: '/local'}, 'win32')).toBe(
    join('/local', 'bulk-enrich', 'Cache'),
  );
  const named = {LOCALAPPDATA: '/local', XDG_STATE_HOME: '/state'};
  expect(userDirectory('state', named, 'win32')).toBe(join('/state', 'bulk-enrich'));
  expect(userDirectory('state', named, 'linux')).toBe(join('/state', 'bulk-enrich'));
  expect(() => syncDirectory('/nowhere/at/all', 'win32')).not.toThrow();
  expect(() => syncDirectory('/nowhere/at/all', 'linux')).toThrow('ENOENT');
});

it.runIf(process.platform === 'linux')('a directory whose file system can’t sync it is used as it is', () => {
  const directory = '/proc/self';
  const file = openSync(directory, 'r');
  expect(() => fsyncSync(file)).toThrow('EINVAL');
  closeSync(file);
  expect(() => syncDirectory(directory)).not.toThrow();
});
