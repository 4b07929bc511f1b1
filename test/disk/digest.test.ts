import {createHash} from 'node:crypto';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {Readable} from 'node:stream';
import {afterAll, expect, test} from 'vitest';
import {digestFiles, hasDigest} from '../../src/disk/digest.ts';

const here = mkdtempSync(join(tmpdir(), 'bulk-enrich-digest-'));
afterAll(() => rmSync(here, {recursive: true}));

const [first, second] = [join(here, 'first'), join(here, 'second')];
writeFileSync(first, 'one\n');
writeFileSync(second, 'two\n');
const of = (text: string) => ({
  bytes: text.length,
  sha256: createHash('sha256').update(text).digest('hex'),
});

test.each([
  ['all of several files, one after the other', undefined, 'one\ntwo\n'],
  ['their first bytes, across the files', 6, 'one\ntw'],
  ['their first bytes, to the end of a file', 4, 'one\n'],
  ['all of them, if they have fewer bytes', 9, 'one\ntwo\n'],
])('a digest is of %s', async (_, most, text) => {
  expect(await digestFiles([first, second], most)).toEqual(of(text));
  const streams = ['one\n', 'two\n'].map(each => Readable.from([Buffer.from(each)]));
  expect(await digestFiles(streams, most)).toEqual(of(text));
});

test('a file has a digest if its size and its content fit', async () => {
  expect(await hasDigest(first, of('one\n'))).toBe(true);
  for (const other of ['two\n', 'one', 'one\ntwo\n']) expect(await hasDigest(first, of(other))).toBe(false);
  expect(await hasDigest(join(here, 'none'), of(''))).toBe(false);
});
