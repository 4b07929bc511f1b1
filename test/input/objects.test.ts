import {describe, expect, it} from 'vitest';
import {createObjectSource, makeObjectRecord} from '../../src/input/objects.ts';

const LIMIT = 1_000;
const tooLarge = {type: 'reject', record: 3, reason: 'too_large'};

describe('a row that a program gives', () => {
  it('comes back as it is, with its number', () => {
    const row = {ip: '192.0.2.1', seen: new Date(0), [Symbol('own')]: 1};
    const record = makeObjectRecord(row, 3, LIMIT);
    expect(record).toMatchObject({type: 'object', record: 3, line: 3});
    expect(record.type === 'object' && record.value).toBe(row);
  });

  it.each([
    [null, 'null'],
    [undefined, 'undefined'],
    [['192.0.2.1'], 'an array'],
    ['192.0.2.1', 'a string'],
    [17, 'a number'],
  ])('is an object: %j is rejected', (given, found) => {
    const why = {reason: 'not_an_object', detail: `expected an object, found ${found}`};
    expect(makeObjectRecord(given, 3, LIMIT)).toMatchObject({type: 'reject', record: 3, ...why});
  });

  it.each([
    ['a text', {note: 'x'.repeat(LIMIT)}],
    ['bytes', {photo: new Uint8Array(LIMIT)}],
    ['many numbers', {all: Array.from({length: LIMIT / 8}, (_, n) => n)}],
    ['an inner object', {user: {about: {note: 'x'.repeat(LIMIT)}}}],
    ['a map', {all: new Map([['a', {note: 'x'.repeat(LIMIT)}]])}],
  ])('is rejected if it holds too much: %s', (_, row) => {
    expect(makeObjectRecord(row, 3, LIMIT)).toMatchObject(tooLarge);
  });

  it('has its size counted once, whatever refers to it, without what the program’s own objects hold', () => {
    const note = {note: 'x'.repeat(LIMIT / 2)};
    const row: Record<string, unknown> = {first: note, second: note};
    row.itself = row;
    row.client = new (class {
      cache = 'x'.repeat(10 * LIMIT);
    })();
    expect(makeObjectRecord(row, 3, LIMIT)).toMatchObject({type: 'object', value: row});
  });
});

it('the columns of given rows are the names of their first rows, in order of first appearance', () => {
  const rows = [{ip: '192.0.2.1', id: 1}, null, {mail: 'user@example.com', ip: ''}];
  const {format, sample} = createObjectSource(rows);
  expect(format.columns).toEqual(['ip', 'id', 'mail']);
  expect(sample).toHaveLength(3);
});
