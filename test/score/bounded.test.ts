import {describe, expect, test} from 'vitest';
import {compile} from '../../src/score/language/condition.ts';
import {conditionChecker} from '../../src/score/language/expression.ts';
import type {Facts} from '../../src/score/language/read-facts.ts';
import {condition} from './score-helpers.ts';

/** A text on which JavaScript's own RegExp tries each way to part it in two: minutes for this, hours for a longer one. */
const HOSTILE = `${'a'.repeat(35)}!`;

const row = (fields: Facts): Facts => ({row: fields});

describe('patterns are RE2', () => {
  test.each([
    ['^(a+)+$', HOSTILE, false],
    ['^(a|aa)+$', 'a'.repeat(100_000), true],
    ['(.*)(.*)(.*)(.*)(.*)x', 'a'.repeat(100_000), false],
    ['(?i)^[a-z.]+@EXAMPLE\\\\.com$', 'a.b@example.com', true],
    ['b', 'abc', true],
    ['^\\\\pL+$', 'Zoë', true],
  ])('%s', (pattern, text, expected) => {
    expect(condition(`row.country.matches("${pattern}")`).decide(row({country: text}))).toBe(expected);
  });
});

test('a long text has a result of its own, though one that begins like it was searched before', () => {
  const {decide} = condition('row.country.matches("^a+$")');
  const long = 'a'.repeat(200);
  const texts = [long, `${long}!`, `${long}a`, `${long}!`, `b${long}`];
  expect(texts.map(country => decide(row({country})))).toEqual([true, false, true, false, false]);
});

describe('the work of a condition on one row is bounded', () => {
  const many = Array.from({length: 5_000}, (_, n) => ({action: `a${n}`}));
  const facts = (length: number): Facts => ({
    verify: {rules: many.slice(0, length)},
    row: {country: 'US,DE'},
  });

  test.each([
    ['verify.rules.exists(r, r.action == "a499")', 500, true],
    ['verify.rules.all(a, verify.rules.exists(b, a.action == b.action))', 60, true],
    ['verify.rules.all(a, verify.rules.exists(b, a.action == b.action))', 5_000, undefined],
    [
      'verify.rules.exists(a, verify.rules.all(b, verify.rules.all(c, a.action == b.action || b.action == c.action)))',
      5_000,
      undefined,
    ],
    ['verify.rules.map(a, verify.rules.filter(b, b.action == a.action)).size() == 5000', 5_000, undefined],
    ['row.country.split(",").exists(c, c in ["DE"])', 1, true],
    ['verify.rules.exists(r, r.action == "a1" ? true : false) || false', 2, true],
    ['verify.rules.all(r, has(r.action) && (r.action == "a0" || !(r.action == "a0")))', 2, true],
    ['row["country"].split(",").map(list, list + "x") == ["USx", "DEx"]', 1, true],
  ])('%s of %i', (text, length, expected) => {
    expect(condition(text).decide(facts(length))).toBe(expected);
  });

  test('a map is gone over like a list, and looking into a list by hash is one step', () => {
    const vocabulary = {row: {kind: 'dyn'}, list: {kind: 'object', fields: {known: {kind: 'set'}}}} as const;
    const known = new Map(many.map(({action}) => [action, true]));
    const decide = (text: string, row: object) =>
      compile(conditionChecker(vocabulary)(text, 'here')).decide({row, list: {known}, list_: {known}});
    const map = Object.fromEntries(many.slice(0, 200).map(({action}) => [action, 1]));
    expect(decide('row.map.all(a, row.map.exists(b, a == b))', {map})).toBeUndefined();
    expect(decide('list.known.all(a, list.known.exists(b, a == b))', {})).toBeUndefined();
    expect(decide('row.flags.all(f, f)', {flags: [true, true]})).toBe(true);
    expect(decide('row.tags.exists(t, t in list.known)', {tags: [...Array(500).fill('b'), 'a7']})).toBe(true);
  });

  test.each([
    'row.tags.exists(t, t in row.large)',
    'row.tags.all(t, size(row.large) == 1)',
    'row.tags.exists_one(t, t in row.large)',
    'size(row.tags.map(t, row.large)) == 0',
  ])('%s: an object of the row counts as what it holds', text => {
    const large = Object.fromEntries(Array.from({length: 10_001}, (_, n) => [`n${n}`, 1]));
    const compiled = compile(conditionChecker({row: {kind: 'dyn'}})(text, 'here'));
    expect(compiled.decide(row({tags: ['a', 'b'], large}))).toBeUndefined();
    expect(compiled.decide(row({tags: ['a', 'b'], large: {a: 1}}))).toBeTypeOf('boolean');
  });

  test('once too much was done, the elements that are left read nothing', () => {
    let read = 0;
    const keys = Array.from({length: 10_001}, (_, n) => `n${n}`);
    const large = new Proxy(Object.fromEntries(keys.map(key => [key, 1])), {
      ownKeys: () => {
        read += 1;
        return keys;
      },
    });
    const text = 'row.tags.exists(t, size(row.large) == 1)';
    const compiled = compile(conditionChecker({row: {kind: 'dyn'}})(text, 'here'));
    expect(compiled.decide(row({tags: Array(1_000).fill('a'), large}))).toBeUndefined();
    expect(read).toBeLessThan(10);
  });

  test('a text is not looked for in another where both are long', () => {
    const half = 'a'.repeat(200_000);
    const contains = condition('row.country.contains(row.email)');
    expect(contains.decide(row({country: half + half, email: `${half}b${half}`}))).toBeUndefined();
    expect(contains.decide(row({country: `${half}b`, email: 'ab'}))).toBe(true);
    const split = condition('size(row.country.split(row.email)) > 1');
    expect(split.decide(row({country: half + half, email: `${half}b${half}`}))).toBeUndefined();
  });

  test('numbers have their written value, however small or large', () => {
    expect(condition('ip.latitude + 0.0 > 0.000000000001').decide({ip: {latitude: 5e-13}})).toBe(false);
    expect(condition('ip.latitude + 0.0 < 1e300').decide({ip: {latitude: 5}})).toBe(true);
  });
});
