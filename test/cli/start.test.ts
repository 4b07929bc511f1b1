import {readFileSync} from 'node:fs';
import {posix} from 'node:path';
import {fileURLToPath} from 'node:url';
import {expect, test} from 'vitest';

const src = fileURLToPath(new URL('../../src/', import.meta.url));
const IMPORT = /^(?:import|export) (?!type\b)([^;]*?)from '([^']+)'/gm;
const ONLY_TYPES = /^\{(?:\s*type [^,}]+,?)+\s*\}\s*$/;

/** The modules of src and the packages that are loaded with a file, if nothing else is asked for. */
function loadedWith(file: string, found = new Set<string>()): Set<string> {
  found.add(file);
  for (const [, names = '', from = ''] of readFileSync(src + file, 'utf8').matchAll(IMPORT)) {
    if (ONLY_TYPES.test(names)) continue;
    const path = from.startsWith('.') ? posix.join(posix.dirname(file), from) : from;
    if (path.endsWith('.ts') && !found.has(path)) loadedWith(path, found);
    else found.add(path);
  }
  return found;
}

test('every command starts without settings, operations and most packages: those load slowly', () => {
  const loaded = [...loadedWith('cli/bin.ts'), ...loadedWith('cli/program.ts')];
  const packages = loaded.filter(name => !/\.(?:ts|json)$|^node:/.test(name));
  expect(new Set(packages)).toEqual(new Set(['commander', 'leven']));
  expect(
    loaded.filter(name => /^(?:job\/settings|operations\/table|run|lookup|ledger)\b/.test(name)),
  ).toEqual([]);
  expect(loaded.filter(name => name.endsWith('.ts')).length).toBeLessThan(25);
});
