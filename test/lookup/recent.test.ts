import {expect, test} from 'vitest';
import {CameBefore, Recent} from '../../src/lookup/recent.ts';

const keys = Array.from({length: 1_000}, (_, i) => `key ${i}`);

test('what came lately is kept, within its bytes; what is used stays', () => {
  const recent = new Recent<number>(20 * 1_100, () => 1_000);
  for (const [value, key] of keys.entries()) {
    recent.set(key, value);
    expect(recent.get('key 0')).toBe(0);
    expect(recent.size).toBeLessThanOrEqual(20);
  }
  expect(recent.get('key 999')).toBe(999);
  expect(recent.get('key 995')).toBe(995);
  expect(recent.get('key 500')).toBeUndefined();
});

test('what comes again soon is told from what comes once', () => {
  const cameBefore = new CameBefore();
  expect(keys.map(key => cameBefore.note(key))).not.toContain(true);
  const again = keys.slice(-100).map(key => cameBefore.note(key));
  // Two that fall on one place may take turns there.
  expect(again.filter(Boolean).length).toBeGreaterThan(80);
  for (let i = 0; i < 100_000; i++) cameBefore.note(`other ${i}`);
  expect(cameBefore.note('key 999')).toBe(false);
});
