import fc from 'fast-check';
import {expect, test} from 'vitest';
import {jsonMembers} from '../../src/input/records/ndjson-reader.ts';
import {samples} from '../support/samples.ts';

test.each([
  ['{}', ''],
  [' { } ', ''],
  ['{"a":1}', 'a 1'],
  ['{ "a" : 12345678901234567890 , "b" : 1e400 }', 'a 12345678901234567890|b 1e400'],
  ['{"a":{"id":1},"id":2}', 'a {"id":1}|id 2'],
  ['{"a":"\\"id\\":3, }","id":2}', 'a "\\"id\\":3, }"|id 2'],
  ['{"a":[1,{"b":"]"}],"c":null}', 'a [1,{"b":"]"}]|c null'],
  ['{"a\\u0062":1}', 'ab 1'],
  ['{"a":1,"a":2}', 'a 2'],
  ['{"__proto__":1,"constructor":{}}', '__proto__ 1|constructor {}'],
])('%s has %s', (text, members) => {
  expect([...jsonMembers(text)].map(member => member.join(' ')).join('|')).toBe(members);
});

test('the texts are those of the values that JSON.parse finds', () => {
  const objects = fc.dictionary(fc.string({unit: 'grapheme'}), fc.jsonValue());
  fc.assert(
    fc.property(objects, fc.constantFrom(undefined, 1, '\t'), (object, indent) => {
      const text = JSON.stringify(object, undefined, indent);
      const parsed = JSON.parse(text) as Record<string, unknown>;
      const members = jsonMembers(text);
      expect([...members.keys()].sort()).toEqual(Object.keys(parsed).sort());
      for (const [name, value] of members) expect(JSON.parse(value)).toEqual(parsed[name]);
    }),
    {seed: 7, numRuns: samples(500)},
  );
});
