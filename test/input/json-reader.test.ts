import {expect, it} from 'vitest';
import {jsonMembers} from '../../src/input/records/json-reader.ts';
import {readBytes, rejectsOf} from './reading.ts';

/** Each record as its text, or why it was rejected; the same however the bytes are cut. */
async function read(text: string | Buffer, maxRecordSize = 1_000): Promise<string[]> {
  const all = await Promise.all(
    [1, 7, 65_536].map(async size => {
      const {records} = await readBytes(text, {maxRecordSize}, size);
      return records.map(record =>
        record.type === 'reject' ? `${record.line}: ${record.reason}` : 'raw' in record ? record.raw : '',
      );
    }),
  );
  expect(all.slice(1)).toEqual([all[0], all[0]]);
  return all[0] ?? [];
}

it('a line of NDJSON is kept as it came', async () => {
  const line = '{ "n": 12345678901234567890, "b":1e400,"a" : {"x":[1, 2]}, "10":0,"2":0,"__proto__":0 }';
  const {format, records, blankLines} = await readBytes(`\ufeff${line}\r\n\r\n  \n{"c":null}\n\n`);
  const expected = {kind: 'ndjson', eol: '\r\n', bom: true, encoding: 'utf-8'};
  expect(format).toEqual({...expected, columns: [...'n b a 10 2 __proto__ c'.split(' ')]});
  expect(records).toMatchObject([
    {type: 'ndjson', record: 1, line: 1, raw: line, value: {a: {x: [1, 2]}}},
    {type: 'ndjson', record: 2, line: 4, raw: '{"c":null}'},
  ]);
  expect(blankLines).toBe(3);
});

it.each([
  ['[1]', 'not_an_object', 'expected a JSON object, found an array'],
  ['null', 'not_an_object', 'expected a JSON object, found null'],
  ['17', 'not_an_object', 'expected a JSON object, found a number'],
  ['{"a":', 'invalid_json', 'the line is not valid JSON'],
  // A fault is named with its place, and without any text of the row.
  ['{"name":"Jo", "score": 1, "risk": NaN}', 'invalid_json', /JSON \(NaN at column 35\)$/],
  ["{'name': 'Jo'}", 'invalid_json', /JSON \(a single quote at column 2\)$/],
  ['{"a": True}', 'invalid_json', /JSON \(True at column 7\)$/],
  ['{"a": 1,}', 'invalid_json', /JSON \(a comma before a bracket at column 8\)$/],
  ['{"a": x@example.com}', 'invalid_json', /JSON \(a character that JSON does not have there at column 7\)$/],
])('the line %s is rejected, and the next one is read', async (bad, reason, sentence) => {
  const {records} = await readBytes(`{"a":1}\n${bad}\n{"a":2}\n`);
  const detail = typeof sentence === 'string' ? sentence : expect.stringMatching(sentence);
  expect(records).toMatchObject([
    {record: 1},
    {type: 'reject', file: 'stdin', record: 2, line: 2, reason, detail, raw: bad},
    {record: 3, line: 3},
  ]);
});

it.each([
  ['\x1e{"ip":1}\n\x1e{"ip":2}\n', ['{"ip":1}', '{"ip":2}']],
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

it.each([
  ['[', ',', ']', 'the object has 2008 bytes; the limit is 1024'],
  ['', '', '\n', 'the line has 2008 bytes; the limit is 1024'],
])(
  'of %j one object is too long, and one is not UTF-8: the others are read',
  async (open, comma, end, detail) => {
    const text = Buffer.concat([
      Buffer.from(`${open}{"a":1}${comma}\n{"a":"${'x'.repeat(2_000)}"}${comma}\n{"a":"`),
      Buffer.from([0xe9, 0xff]),
      Buffer.from(`"}${comma}\n{"a":2}${end}`),
    ]);
    expect(await read(text)).toEqual(['{"a":1}', '2: too_large', '3: invalid_encoding', '{"a":2}']);
    const {records} = await readBytes(text, {maxRecordSize: 1_024}, 100);
    expect(rejectsOf(records)[0]?.detail).toBe(detail);
  },
);

it.each([
  ['{}', ''],
  [' { } ', ''],
  ['{"a":1}', 'a 1'],
  ['{ "a" : 12345678901234567890 , "b" : 1e400 }', 'a 12345678901234567890|b 1e400'],
  ['{"a":{"id":1},"id":2}', 'a {"id":1}|id 2'],
  ['{"a":"\\"id\\":3, }","id":2}', 'a "\\"id\\":3, }"|id 2'],
  ['{"a":"\\\\","b":"\\\\\\"{"}', 'a "\\\\"|b "\\\\\\"{"'],
  ['{"a":[1,{"b":"]"}],"c":null}', 'a [1,{"b":"]"}]|c null'],
  ['{"a\\u0062":1}', 'ab 1'],
  ['{"a":1,"a":2}', 'a 2'],
  ['{"__proto__":1,"constructor":{}}', '__proto__ 1|constructor {}'],
])('the members of %s are %s', (text, members) => {
  expect([...jsonMembers(text)].map(member => member.join(' ')).join('|')).toBe(members);
});
