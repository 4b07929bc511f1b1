import {readFileSync} from 'node:fs';
import {pathToFileURL} from 'node:url';
import {expect, test} from 'vitest';
import {compile} from '../../sim/compile.ts';

/**
 * Faults planted in the desk, one at a time: its nights or its services must break a promise. A line of faults.txt each:
 * its name, the file, the text there, and the text in its place.
 */
const faults = readFileSync(new URL('faults.txt', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map(line => line.split(' ▸ ').map(part => part.replaceAll('\\n', '\n')));

test.each(faults)('%s: falls', async (name = '', file, from = '', to = '') => {
  const fault = {file: `lookup/${file}`, from, to};
  const {file: compiled} = await compile(name.replaceAll(' ', '-'), 'test/lookup/desk/promises.ts', fault);
  const {brokenPromises} = (await import(pathToFileURL(compiled).href)) as typeof import('./promises.ts');
  expect(brokenPromises()).not.toEqual([]);
});
