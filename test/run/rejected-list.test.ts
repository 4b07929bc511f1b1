import {expect, test} from 'vitest';
import {readRerunList} from '../../src/cli/commands/outputs.ts';
import {openStage} from '../support/stage.ts';

const LATIN = Buffer.from('192.0.2.4,J\xfcrgen\n', 'latin1');

test.each([
  [
    'lines above the header',
    'Title\nip;"a note"\n192.0.2.1;a\n192.0.2.2\n192.0.2.3\n192.0.2.4;b\n',
    {skipLines: 1},
    'ip;a note\n192.0.2.2\n192.0.2.3\n',
  ],
  ['no header', '192.0.2.1,a\n192.0.2.2\n192.0.2.3,b\n', {header: false, ip: 'column_1'}, '192.0.2.2\n'],
  ['rows of stdin', 'ip,n\n192.0.2.1,1\n192.0.2.2\n192.0.2.3,1\n', {input: '-'}, 'ip,n\n192.0.2.2\n'],
  [
    'an array that is cut off',
    '[{"ip":"192.0.2.1"},{"ip":"192.0.2',
    {input: 'list.json'},
    '{"ip":"192.0.2\n',
  ],
  [
    'bytes that are no text',
    Buffer.concat([Buffer.from('ip,n\n192.0.2.1,\u00fc\n'), LATIN]),
    {encoding: 'utf-8'},
    Buffer.concat([Buffer.from('ip,n\n'), LATIN]),
  ],
])('rejected rows become a list under the header that they had: %s', async (_, list, settings, expected) => {
  await using stage = await openStage({list});
  stage.write('list.json', list);
  const ended = await stage.run({ip: 'ip', ...settings}, {stdin: list.toString()});
  expect(ended).toMatchObject({code: 3});
  const {bytes} = await readRerunList(stage.path('out.rejects.ndjson'));
  expect(bytes.toString('latin1')).toBe(Buffer.from(expected).toString('latin1'));
});

test('the header is kept once, over an interruption too', async () => {
  await using stage = await openStage();
  stage.write('list.csv', 'ip,n\n192.0.2.1,1\n192.0.2.2\n192.0.2.3,1\n192.0.2.4\n192.0.2.5,1\n');
  expect(await stage.run({ip: 'ip', maxCredits: 1})).toMatchObject({code: 7});
  expect(await stage.run({ip: 'ip'})).toMatchObject({code: 3});
  const lines = stage.read('out.rejects.ndjson').trimEnd().split('\n');
  expect(lines.map(line => JSON.parse(line).header)).toEqual(['ip,n\n', undefined]);
});

test.each([
  ['none', '', 8, 'before\n'],
  ['one behind the first 1,000', '192.0.2.1,1\n', 3, undefined],
])('a run that can read no row replaces nothing: %s is readable', async (_, last, code, kept) => {
  await using stage = await openStage({list: `ip,n\n${'192.0.2.2\n'.repeat(1_100)}${last}`});
  stage.write('out.csv', 'before\n');
  const ended = await stage.run({ip: 'ip', maxRejects: '100%', force: true});
  expect([ended.code, ended.summary?.rows]).toMatchObject([
    code,
    {rejected: 1_100, written: last === '' ? 0 : 1},
  ]);
  if (kept !== undefined) expect(stage.read('out.csv')).toBe(kept);
});

test('a row that was too long to be kept whole is left out and counted, never handed back in part', async () => {
  await using stage = await openStage();
  stage.write('list.csv', `ip,n\n192.0.2.1,1\n192.0.2.2,${'x'.repeat(1_048_577)}\n192.0.2.3\n`);
  const {code} = await stage.run({ip: 'ip'});
  const {bytes, cut} = await readRerunList(stage.path('out.rejects.ndjson'));
  expect([code, bytes.toString(), cut]).toEqual([3, 'ip,n\n192.0.2.3\n', 1]);
});

test('a row that was empty is no line of the list, and one of odd bytes is whole however long it is', async () => {
  await using stage = await openStage();
  const odd = Buffer.concat([Buffer.from('x'.repeat(70_000)), LATIN.subarray(0, -1)]);
  const lines = [
    {raw: '192.0.2.1', header: 'ip,n\n'},
    {raw: ''},
    {raw: 'x'.repeat(65_536), raw_base64: odd.toString('base64'), raw_truncated: true},
  ];
  stage.write('out.rejects.ndjson', lines.map(line => `${JSON.stringify(line)}\n`).join(''));
  const {bytes, cut} = await readRerunList(stage.path('out.rejects.ndjson'));
  const expected = [Buffer.from('ip,n\n192.0.2.1\n'), odd, Buffer.from('\n')];
  expect([bytes.equals(Buffer.concat(expected)), cut]).toEqual([true, 0]);
});
