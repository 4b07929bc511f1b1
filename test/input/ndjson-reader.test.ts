import {expect, it} from 'vitest';
import {readBytes, rejectsOf} from './reading.ts';

it('keeps each line as it came', async () => {
  const line = '{ "n": 12345678901234567890, "b":1e400,"a" : {"x":[1, 2]}, "10":0,"2":0,"__proto__":0 }';
  const {format, records} = await readBytes(`${line}\r\n\r\n{"c":null}`);
  const expected = {kind: 'ndjson', eol: '\r\n', bom: false, encoding: 'utf-8'};
  expect(format).toEqual({...expected, columns: [...'n b a 10 2 __proto__ c'.split(' ')]});
  expect(records).toMatchObject([
    {type: 'ndjson', record: 1, line: 1, raw: line, value: {a: {x: [1, 2]}}},
    {type: 'ndjson', record: 2, line: 3, raw: '{"c":null}'},
  ]);
});

it('strips the byte order mark and remembers it', async () => {
  const {format, records} = await readBytes('\ufeff{"a":1}\n');
  expect(format).toMatchObject({kind: 'ndjson', bom: true});
  expect(records).toMatchObject([{raw: '{"a":1}'}]);
});

it('skips and counts blank lines', async () => {
  const {records, blankLines} = await readBytes('{"a":1}\n\n  \n{"a":2}\n\n');
  expect(records.map(({line}) => line)).toEqual([1, 4]);
  expect(blankLines).toBe(3);
});

it.each([
  ['[1]', 'not_an_object', 'expected a JSON object, found an array'],
  ['null', 'not_an_object', 'expected a JSON object, found null'],
  ['17', 'not_an_object', 'expected a JSON object, found a number'],
  ['{"a":', 'invalid_json', 'the line is not valid JSON'],
])('rejects %s and continues', async (bad, reason, detail) => {
  const {records} = await readBytes(`{"a":1}\n${bad}\n{"a":2}\n`);
  expect(records).toMatchObject([
    {record: 1},
    {type: 'reject', file: 'stdin', record: 2, line: 2, reason, detail, raw: bad},
    {record: 3, line: 3},
  ]);
});

it('rejects lines that are too long or no UTF-8', async () => {
  const text = Buffer.concat([
    Buffer.from(`{"a":1}\n{"a":"${'x'.repeat(200)}"}\n{"a":"`),
    Buffer.from([0xe9]),
    Buffer.from('"}\n{"a":2}\n'),
  ]);
  for (const size of [1, 4_096]) {
    const {records} = await readBytes(text, {maxRecordSize: 100}, size);
    expect(rejectsOf(records)).toMatchObject([
      {record: 2, line: 2, reason: 'too_large'},
      {record: 3, line: 3, reason: 'invalid_encoding'},
    ]);
    expect(records).toHaveLength(4);
  }
});
