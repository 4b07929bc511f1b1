import {expect, test} from 'vitest';
import {saved, toSaved} from '../../src/ledger/run/ledger-file.ts';

const text = toSaved({spent: 10});

test('a saved value is read as it was written', () => {
  expect(saved(text)).toEqual({spent: 10});
});

test.each([
  ['another digit', text.replace('10', '90')],
  ['no checksum', '{"spent":90}'],
  ['an empty checksum', '{"spent":90}\n'],
  ['a checksum with more behind it', `${text} `],
])('a saved value with %s is damage', (_, damaged) => {
  expect(() => saved(damaged)).toThrow(expect.objectContaining({code: 'state_damaged'}));
});
