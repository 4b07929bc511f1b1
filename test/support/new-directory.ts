import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach} from 'vitest';

/** Gives each test of the file, or of the `describe`, an empty directory. Returns the path of what is in it. */
export function newDirectory(): (...names: readonly string[]) => string {
  let here: string;
  beforeEach(() => {
    here = mkdtempSync(join(tmpdir(), 'bulk-enrich-test-'));
  });
  afterEach(() => rmSync(here, {recursive: true}));
  return (...names) => join(here, ...names);
}
