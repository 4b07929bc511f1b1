import {readFileSync, statSync, writeFileSync} from 'node:fs';
import {gzipSync} from 'node:zlib';
import {expect, test} from 'vitest';
import {SpareFile} from '../../src/ledger/run/ledger-file.ts';
import {newDirectory} from '../support/new-directory.ts';

const at = newDirectory();

test('space is reserved in full, also where a kill cut the file off, and again after its release', () => {
  const path = at('spare');
  writeFileSync(path, 'cut off');
  const spare = new SpareFile(path);
  for (const _ of [1, 2]) {
    spare.hold(1);
    expect(statSync(path).size).toBe(1_048_576);
    spare.hold(256);
    expect(statSync(path).size).toBe(6 * 1_048_576);
    expect([spare.release(), spare.release()]).toEqual([true, false]);
  }
  spare.hold(1);
  // Some file systems would give equal bytes no space.
  expect(gzipSync(readFileSync(path).subarray(0, 65_536)).length).toBeGreaterThan(65_000);
});
