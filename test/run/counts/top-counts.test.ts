import fc from 'fast-check';
import {expect, test} from 'vitest';
import {countTopName, countTopNames, emptyTopCounts, topSummary} from '../../../src/run/counts/counters.ts';

test('answers are counted by country, network and domain, wherever an operation has them', () => {
  const top = emptyTopCounts();
  countTopNames(top, 'ip', {country: 'US', asn_organization: ' Example Net '});
  countTopNames(top, 'ip', {country: 'US', asn_organization: ''});
  countTopNames(top, 'phone', {country: 'AU'});
  countTopNames(top, 'verify', {location: {country: 'US'}, email: {domain_name: 'example.org'}});
  countTopNames(top, 'verify', {location: null, email: 'not an object'});
  for (let n = 0; n < 5; n += 1) countTopNames(top, 'email', {domain: 'example.com'});
  expect(topSummary(top)).toEqual({
    countries: {counted: 3, missed_at_most: 0, names: [{name: 'US', count: 3}]},
    networks: {counted: 1, missed_at_most: 0, names: [{name: 'Example Net', count: 1}]},
    domains: {counted: 6, missed_at_most: 0, names: [{name: 'example.com', count: 5}]},
    phone_countries: {counted: 1, missed_at_most: 0, names: [{name: 'AU', count: 1}]},
  });
});

test('a domain with fewer than five rows is never named', () => {
  const top = emptyTopCounts();
  for (let n = 0; n < 4; n += 1) countTopNames(top, 'email', {domain: 'family.example'});
  expect(topSummary(top).domains).toEqual({counted: 4, missed_at_most: 0, names: []});
});

test('names that objects have by themselves are names like any other', () => {
  const top = emptyTopCounts();
  for (const name of ['constructor', 'toString', '__proto__', 'constructor'])
    countTopName(top.networks, name);
  expect(topSummary(top).networks?.names).toEqual([
    {name: 'constructor', count: 2},
    {name: 'toString', count: 1},
  ]);
});

test('memory stays bounded, a common name is kept, and no count is too high', () => {
  const names = fc.array(fc.integer({min: 0, max: 3_000}), {minLength: 2_000, maxLength: 6_000});
  fc.assert(
    fc.property(names, picks => {
      const top = emptyTopCounts();
      const truth = new Map<string, number>();
      for (const [index, pick] of picks.entries()) {
        const name = index % 3 === 0 ? 'common.example' : `domain${pick}.example`;
        countTopName(top.domains, name);
        truth.set(name, (truth.get(name) ?? 0) + 1);
      }
      expect(Object.keys(top.domains.counts).length).toBeLessThanOrEqual(400);
      expect(topSummary(top).domains?.names[0]?.name).toBe('common.example');
      for (const [name, count] of Object.entries(top.domains.counts)) {
        expect(count).toBeLessThanOrEqual(truth.get(name) ?? 0);
        expect(count + top.domains.missed).toBeGreaterThanOrEqual(truth.get(name) ?? 0);
      }
    }),
    {numRuns: 20, seed: 11},
  );
});

test('what a name lacks is never more than is said, however often it was dropped', () => {
  const top = emptyTopCounts();
  for (const round of [1, 2]) {
    for (let times = 0; times < 2; times += 1) countTopName(top.domains, 'lost.example');
    for (let n = 0; n < 400; n += 1)
      for (let times = 0; times < 3; times += 1) countTopName(top.domains, `${round}-${n}.example`);
    expect(top.domains.counts['lost.example']).toBeUndefined();
  }
  countTopName(top.domains, 'lost.example');
  expect((top.domains.counts['lost.example'] ?? 0) + top.domains.missed).toBeGreaterThanOrEqual(5);
});

test('a name that repeats the value is counted without it', () => {
  const top = emptyTopCounts();
  for (const asn_organization of ['dsl-203.0.113.7', 'Example Net', 'host 203.0.113.7'])
    countTopNames(top, 'ip', {country: 'US', asn_organization}, ' 203.0.113.7');
  countTopNames(top, 'email', {domain: 'example.com'}, 'jo@example.com');
  expect(top.networks.counts).toEqual({'[value]': 2, 'Example Net': 1});
  expect([top.countries.counts, top.domains.counts]).toEqual([{US: 3}, {'example.com': 1}]);
});

test('of a long name eighty characters are kept, so names that only differ after them are one', () => {
  const top = emptyTopCounts();
  for (const end of ['a', 'b']) countTopName(top.networks, `${'n'.repeat(80)}${end}`);
  expect(topSummary(top).networks).toEqual({
    ...{counted: 2, missed_at_most: 0},
    names: [{name: 'n'.repeat(80), count: 2}],
  });
});
