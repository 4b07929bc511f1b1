import {cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {expect, test} from 'vitest';
import {packageVersion} from '../../src/operations/package-files.ts';
import {listOf} from '../support/crash.ts';
import {lacks} from '../support/real-parts.ts';
import {localOutput, openFleetArena} from './fleet-arena.ts';
import {heldRun} from './whole.ts';

const NEIGHBOUR = '0.0.9';

/** This package as another version: the version before, of the same protocol. */
function installNeighbour(): Disposable & {readonly program: string} {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const folder = mkdtempSync(join(tmpdir(), 'bulk-enrich-neighbour-'));
  cpSync(join(root, 'dist'), join(folder, 'dist'), {recursive: true});
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as object;
  writeFileSync(join(folder, 'package.json'), JSON.stringify({...own, version: NEIGHBOUR}));
  return {
    program: join(folder, 'dist/cli/bin.js'),
    [Symbol.dispose]: () => rmSync(folder, {recursive: true}),
  };
}

test.skipIf(lacks('redis'))(
  'a fleet is upgraded while a run is under way: its workers are of two neighbouring versions for a while',
  async () => {
    await using arena = await openFleetArena({latencyMs: 20});
    using neighbour = installNeighbour();
    arena.sandbox.write('list.csv', listOf(300, 150));
    const expected = await localOutput(arena);
    arena.api.newLedger();
    const {program} = neighbour;
    const old = arena.sandbox.start(['worker', '--concurrency', '4'], {env: arena.env, program});
    try {
      const {run, letGo} = await heldRun(arena, 1, () => arena.run());
      await arena.worker(['--concurrency', '4']);
      const {stdout} = await arena.here(['fleet', 'status', '--json']);
      const {workers, runs} = JSON.parse(stdout) as Record<'workers' | 'runs', {version: string}[]>;
      expect(workers.map(({version}) => version).sort()).toEqual([NEIGHBOUR, packageVersion()]);
      expect(runs.map(({version}) => version)).toEqual([packageVersion()]);
      letGo();
      old.kill('SIGTERM');
      expect(await old.outcome).toMatchObject({code: 0});
      expect(await run.outcome).toMatchObject({code: 0});
      expect(arena.sandbox.read('out.csv')).toBe(expected);
    } finally {
      old.kill('SIGKILL');
    }
  },
);
