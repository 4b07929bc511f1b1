import {createHash} from 'node:crypto';
import {writeFileSync} from 'node:fs';
import {Readable} from 'node:stream';
import {beforeEach, expect, test} from 'vitest';
import {digestFiles, hasDigest} from '../../src/disk/digest.ts';
import {newDirectory} from '../support/new-directory.ts';

const at = newDirectory();
beforeEach(() => {
  writeFileSync(at('first'), 'one\n');
  writeFileSync(at('second'), 'two\n');
});
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const of = (text: string) => ({bytes: text.length, sha256: sha256(text)});

test.each([
  ['all of several files, one after the other', undefined, 'one\ntwo\n'],
  ['their first bytes, across the files', 6, 'one\ntw'],
  ['their first bytes, to the end of a file', 4, 'one\n'],
  ['all of them, if they have fewer bytes', 9, 'one\ntwo\n'],
])('a digest is of %s', async (_, most, text) => {
  expect(await digestFiles([at('first'), at('second')], most)).toEqual(of(text));
  const streams = ['one\n', 'two\n'].map(each => Readable.from([Buffer.from(each)]));
  expect(await digestFiles(streams, most)).toEqual(of(text));
});

test('a file has a digest if its size and its content fit', async () => {
  expect(await hasDigest(at('first'), of('one\n'))).toBe(true);
  for (const other of ['two\n', 'one', 'one\ntwo\n'])
    expect(await hasDigest(at('first'), of(other))).toBe(false);
  expect(await hasDigest(at('none'), of(''))).toBe(false);
});
