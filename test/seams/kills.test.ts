import {spawnSync} from 'node:child_process';
import {rmSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {expect, test} from 'vitest';
import {compile} from '../sim/compile.mjs';

interface Killed {
  readonly step: number;
  readonly faults: readonly string[];
}

const play = fileURLToPath(new URL('night/play.mjs', import.meta.url));

test('a list of seven rows, killed at any step and run again, has the same bytes, pays again for two values at most, and never shows an output without its summary and rejects', async () => {
  const {directory, file} = await compile(`kills-${process.pid}`, 'test/seams/night/kills.ts');
  const {stdout, stderr} = spawnSync(process.execPath, [play, file], {encoding: 'utf8'});
  rmSync(directory, {recursive: true, force: true});
  expect(stderr).toBe('');
  const results = JSON.parse(stdout) as readonly Killed[];
  expect(results.filter(({faults}) => faults.length > 0)).toEqual([]);
  expect(results.length).toBeGreaterThan(30);
});
