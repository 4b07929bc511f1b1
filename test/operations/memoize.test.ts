import {expect, test} from 'vitest';
import {RecentValues} from '../../src/operations/memoize.ts';

const keys = Array.from({length: 1_000}, (_, i) => `key ${i}`);

test('recent texts are kept within the byte limit; used ones stay', () => {
  const recent = new RecentValues<number>(20 * 1_100, () => 1_000);
  for (const [value, key] of keys.entries()) {
    recent.set(key, value);
    expect(recent.get('key 0')).toBe(0);
    expect(recent.size).toBeLessThanOrEqual(20);
  }
  expect(recent.get('key 999')).toBe(999);
  expect(recent.get('key 995')).toBe(995);
  expect(recent.get('key 500')).toBeUndefined();
});
