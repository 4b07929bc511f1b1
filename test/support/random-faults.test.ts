import {expect, test} from 'vitest';
import type {Call} from './api-server.ts';
import {randomFaults} from './random-faults.ts';
import {whole} from './whole.ts';

const kinds = [500, 503, 429, 'reset', 'cut'] as const;
const values = Array.from({length: 30}, (_, i) => `203.0.113.${i}`);
const seen = (seed: number, order: readonly string[]) => {
  const script = randomFaults({share: 0.6, kinds, seed});
  const all = new Map<string, unknown[]>();
  for (const value of order) {
    all.set(
      value,
      [1, 2, 3].map(attempt => script(whole<Call>({operation: 'ip', value, attempt}))),
    );
  }
  return values.map(value => all.get(value) ?? []);
};

test('faults go by the seed, whatever the order of the calls, and each value gets through in the end', () => {
  const first = seen(1, values);
  expect(seen(1, values.toReversed())).toEqual(first);
  expect(seen(2, values)).not.toEqual(first);
  expect(new Set(first.flat()).size).toBe(kinds.length + 1);
  expect(first.every(([, , third]) => third === undefined)).toBe(true);
});

test('the share is that of the calls that fault', () => {
  const script = randomFaults({share: 1, kinds: [500]});
  for (const value of values) expect(script(whole<Call>({operation: 'ip', value, attempt: 1}))).toBeDefined();
});
