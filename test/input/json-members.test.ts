import {expect, test} from 'vitest';
import {jsonMembers} from '../../src/input/records/json-reader.ts';

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
