import {describe, expect, test} from 'vitest';
import {compileCondition, fieldReader} from '../../src/score/language/condition.ts';
import {createConditionChecker} from '../../src/score/language/expression.ts';
import {condition} from './score-helpers.ts';

/** A text on which JavaScript's own RegExp tries each way to part it in two: minutes for this, hours for a longer one. */
const HOSTILE = `${'a'.repeat(35)}!`;

const row = (fields: object) => ({row: fields});

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

describe('loops and searches', () => {
  const facts = (length: number): Readonly<Record<string, unknown>> => ({
    verify: {rules: Array.from({length}, (_, n) => ({action: `a${n}`}))},
    row: {country: 'US,DE'},
  });

  test.each([
    ['verify.rules.exists(r, r.action == "a499")', 500, true],
    ['verify.rules.all(a, verify.rules.exists(b, a.action == b.action))', 60, true],
    ['row.country.split(",").exists(c, c in ["DE"])', 1, true],
    ['verify.rules.exists(r, r.action == "a1" ? true : false) || false', 2, true],
    ['verify.rules.all(r, has(r.action) && (r.action == "a0" || !(r.action == "a0")))', 2, true],
    ['row["country"].split(",").map(list, list + "x") == ["USx", "DEx"]', 1, true],
    ['row.country.contains("DE") && row.country.endsWith(",DE")', 1, true],
  ])('%s of %i', (text, length, expected) => {
    expect(condition(text).decide(facts(length))).toBe(expected);
  });

  const nested = (list: string, loops: number, body: string): string =>
    loops === 0 ? body : `${list}.exists(x${loops}, ${nested(list, loops - 1, body)})`;
  const digits = JSON.stringify([...'0123456789']);
  const inner = nested(digits, 8, 'x1 == a + "!"');

  test.each([
    ['the constant part of an expression', `ip.is_vpn || ${nested(digits, 9, 'x1 == "no"')}`],
    ['a constant part in a loop that ignores errors', `${digits}.exists(a, ${inner})`],
  ])('%s with too many steps is refused at the start', (_, text) => {
    expect(() => condition(text)).toThrow(/more than 1,000,000 steps/);
  });

  test.each([
    ['verify.rules.exists(r, r.action == "no")', 100_000, false],
    ['verify.rules.map(r, r.action).exists(a, a == "a99999")', 100_000, true],
    [nested('verify.rules', 2, 'x1.action == x2.action + "!"'), 900, false],
    [nested('verify.rules', 2, 'x1.action == x2.action + "!"'), 1_100, undefined],
    [nested('verify.rules', 9, 'x1.action == "no"'), 10, undefined],
    ['verify.rules.all(r, !(r.action in verify.rules.map(a, a.action + "!")))', 800, undefined],
  ])('%s of %i: too many steps end the run', (text, length, expected) => {
    const {decide} = condition(text);
    if (expected === undefined)
      expect(() => decide(facts(length))).toThrow(/1,000,000 steps.*The expression: verify/);
    else expect(decide(facts(length))).toBe(expected);
  });

  test('a list of the rules is looked into by hash', () => {
    const vocabulary = {
      row: {kind: 'dyn'},
      list: {kind: 'object', fields: {known: {kind: 'map', of: {kind: 'bool'}, what: 'entry'}}},
    } as const;
    const known = new Map([['a7', true]]);
    const {decide} = compileCondition<object>(
      createConditionChecker(vocabulary)('row.tags.exists(t, t in list.known)', 'here'),
      path => fieldReader(facts => facts, path),
    );
    const list = {list: {known}};
    expect(decide({row: {tags: ['b', 'a7']}, ...list})).toBe(true);
    expect(decide({row: {tags: ['b']}, ...list})).toBe(false);
  });
});

test('numbers have their written value, however small or large', () => {
  expect(condition('ip.latitude + 0.0 > 0.000000000001').decide({ip: {latitude: 5e-13}})).toBe(false);
  expect(condition('ip.latitude + 0.0 < 1e300').decide({ip: {latitude: 5}})).toBe(true);
});
