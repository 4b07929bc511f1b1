import {expect, it} from 'vitest';
import {readBytes, rejectsOf} from './reading.ts';

/** Each record as its text, or why it was rejected; the same however the bytes are cut. */
async function read(text: string | Buffer, maxRecordSize = 1_000): Promise<string[]> {
  const all = await Promise.all(
    [1, 7, 65_536].map(async size => {
      const {records} = await readBytes(text, {maxRecordSize}, size);
      return records.map(one =>
        one.type === 'ndjson' ? one.raw : one.type === 'reject' ? `${one.line}: ${one.reason}` : '',
      );
    }),
  );
  expect(all[1]).toEqual(all[0]);
  expect(all[2]).toEqual(all[0]);
  return all[0] ?? [];
}

it.each([
  ['[{"a":1},{"a":2}]', ['{"a":1}', '{"a":2}']],
  ['  [\n  {"a": "x\\"]}{",\n   "b": [{}, []]}\n]\n', ['{"a": "x\\"]}{","b": [{}, []]}']],
  ['{\n  "a": 12345678901234567890\n}\n{\n "a": 2\n}\n', ['{"a": 12345678901234567890}', '{"a": 2}']],
  [
    '[{"a":1}, 5, "x", [1], null, {"a":2}]',
    ['{"a":1}', ...Array.from({length: 4}, () => '1: not_an_object'), '{"a":2}'],
  ],
  ['[\n{"a":1},\n{"a":tru},\n{"a":2}\n]', ['{"a":1}', '3: invalid_json', '{"a":2}']],
  ['[\n{"a":1},\n{"a":', ['{"a":1}', '3: cut_off']],
  ['[\n{"a":1},\n{"a":\n\n', ['{"a":1}', '3: cut_off']],
  ['[\n{"a":1},\n', ['{"a":1}', '3: cut_off']],
  ['{\r\n  "a": 1\r\n}\r\n{\r\n  "a": 2\r\n}\r\n', ['{"a": 1}', '{"a": 2}']],
  ['[{"a":1},5\n,\n{"a":tru}]', ['{"a":1}', '1: not_an_object', '3: invalid_json']],
])('%j', async (text, expected) => {
  expect(await read(text)).toEqual(expected);
});

it('an object that is too long or not UTF-8 is rejected, and the others are read', async () => {
  const text = Buffer.concat([
    Buffer.from(`[{"a":1},\n{"a":"${'x'.repeat(2_000)}"},\n{"a":"`),
    Buffer.from([0xe9, 0xff]),
    Buffer.from('"},\n{"a":2}]'),
  ]);
  expect(await read(text)).toEqual(['{"a":1}', '2: too_large', '3: invalid_encoding', '{"a":2}']);
  const {records} = await readBytes(text, {maxRecordSize: 1_024}, 100);
  expect(rejectsOf(records)[0]?.detail).toBe('the object has 2008 bytes; the limit is 1024');
});
