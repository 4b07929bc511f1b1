import {expect, test} from 'vitest';
import {OutcomeCache} from '../../src/lookup/outcome-cache.ts';

const keys = Array.from({length: 1_000}, (_, i) => `key ${i}`);

test('a text that came twice lately is kept, within the byte limit; used ones stay', () => {
  const recent = new OutcomeCache<number>(20 * 1_100, () => 1_000);
  for (const [value, key] of keys.entries()) {
    recent.set(key, value);
    recent.set(key, value);
    expect(recent.get('key 0')).toBe(0);
    expect(recent.size).toBeLessThanOrEqual(20);
  }
  expect(recent.get('key 999')).toBe(999);
  expect(recent.get('key 995')).toBe(995);
  expect(recent.get('key 500')).toBeUndefined();
});

test('texts that repeat soon are told from texts that come once', () => {
  const recent = new OutcomeCache<true>(Number.POSITIVE_INFINITY, () => 0);
  const set = (key: string) => recent.set(key, true);
  keys.forEach(set);
  expect(recent.size).toBe(0);
  keys.slice(-100).forEach(set);
  // Two that fall on one place may take turns there.
  expect(recent.size).toBeGreaterThan(80);
  for (let i = 0; i < 100_000; i++) set(`other ${i}`);
  set('key 0');
  expect(recent.get('key 0')).toBeUndefined();
});

test('of long texts that differ in one character each is its own', () => {
  const recent = new OutcomeCache<string>(Number.POSITIVE_INFINITY, () => 0);
  const texts = ['a', 'b'].map(end => 'x'.repeat(1_001) + end);
  for (const text of [...texts, ...texts, ...texts]) recent.set(text, text);
  for (const text of texts) expect(recent.get(text) ?? text).toBe(text);
});
