import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {openRecordSource} from '../../src/input/source.ts';
import {newDirectory} from '../support/new-directory.ts';

const within = newDirectory();

async function read(name: string, content: string | Buffer) {
  const path = join(within(), name);
  writeFileSync(path, content);
  const source = await openRecordSource({paths: [path], header: true, encoding: 'auto', chunkSize: 7});
  const rows: string[] = [];
  for await (const records of source.batches())
    for (const record of records)
      rows.push(
        record.type === 'reject'
          ? record.detail
          : record.type === 'ndjson'
            ? record.raw
            : String(record.type === 'csv' && record.fields),
      );
  return {rows, notes: source.notes.map(String)};
}

const nuls = (count: number) => '\0'.repeat(count);

test.each([
  ['at the end', `ip\n192.0.2.1\n${nuls(5)}`, '0 in front and 5 at the end'],
  ['at the end of much', `ip\n192.0.2.1\n${nuls(200_000)}`, '0 in front and 200000 at the end'],
  ['in front', `${nuls(9)}ip\n192.0.2.1\n`, '9 in front and 0 at the end'],
  [
    'in front of little, and much',
    `${nuls(100_000)}ip\n192.0.2.1\n${nuls(3)}`,
    '100000 in front and 3 at the end',
  ],
])('NUL bytes %s are left out, and told', async (_, text, told) => {
  const {rows, notes} = await read('list.csv', text);
  expect(rows).toEqual(['192.0.2.1']);
  expect(notes).toEqual([
    expect.stringContaining(`with NUL bytes, as after a power cut: ${told} are left out.`),
  ]);
});

test('record separators (RFC 7464) are no part of a row', async () => {
  const {rows} = await read('list.log', '\x1e{"ip":"192.0.2.1"}\n\x1e{"ip":"192.0.2.2"}\n');
  expect(rows).toEqual(['{"ip":"192.0.2.1"}', '{"ip":"192.0.2.2"}']);
});

test.each([
  ['{"name":"Jo", "score": 1, "risk": NaN}', '(NaN at column 35)'],
  ["{'name': 'Jo'}", '(a single quote at column 2)'],
  ['{"a": True}', '(True at column 7)'],
  ['{"a": 1,}', '(a comma before a bracket at column 8)'],
  ['{"a": jo@example.com}', '(a character that JSON does not have there at column 7)'],
])('%s says where it is no JSON, and nothing of its texts', async (line, told) => {
  const {rows} = await read('list.ndjson', `{"a": 1}\n${line}\n{"a": 2}\n`);
  expect(rows[1]).toBe(`the line is not valid JSON ${told}`);
});
