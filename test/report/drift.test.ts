import {describe, expect, test} from 'vitest';
import {compareRuns, driftSentence, makeRunProfile, type RunProfile} from '../../src/report/drift.ts';
import type {Summary} from '../../src/report/summary.ts';
import {bareSummary, fullSummary} from './summaries.ts';

function run(
  shares: Record<string, number>,
  {rows = 10_000, mean = 20, credits = 0}: {rows?: number; mean?: number | undefined; credits?: number} = {},
): RunProfile {
  const all = Object.entries(shares).map(([name, value]) => [name, {value, of: rows}]);
  const figures = {
    rows: {value: rows, of: 1},
    credits: {value: credits, of: 1},
    'risk.mean': {value: mean, of: rows},
    ...Object.fromEntries(all),
  };
  return {finished_at: '2026-01-05T00:00:00.000Z', isWhole: true, figures};
}

const jumped = (now: RunProfile, before: readonly RunProfile[], threshold = 0.1) =>
  compareRuns(now, before, threshold).map(({what}) => what);

describe('a figure jumps', () => {
  const usual = [run({failed: 0.01}), run({failed: 0.02}), run({failed: 0.9})];

  test('nothing, without earlier runs', () => expect(jumped(run({failed: 1}), [])).toEqual([]));

  test('nothing, where all is as usual', () => expect(jumped(run({failed: 0.03}), usual)).toEqual([]));

  test('a share beyond the threshold, up or down, against the median', () => {
    expect(compareRuns(run({failed: 0.14}), usual, 0.1)).toEqual([
      {what: 'failed', now: 0.14, usual: 0.02, runs: 3},
    ]);
    expect(jumped(run({'ip.is_vpn': 0.05}), [run({'ip.is_vpn': 0.3})])).toEqual(['ip.is_vpn']);
    expect(jumped(run({failed: 0.11}), usual)).toEqual([]);
  });

  test('the threshold is the one that was asked for', () => {
    expect(jumped(run({failed: 0.03}), [run({failed: 0.01})], 0.01)).toEqual(['failed']);
    expect(jumped(run({failed: 0.6}), [run({failed: 0.01})], 0.6)).toEqual([]);
  });

  test('the mean score by points, the rows by half', () => {
    expect(jumped(run({}, {mean: 31}), [run({})])).toEqual(['risk.mean']);
    expect(jumped(run({}, {mean: 29}), [run({})])).toEqual([]);
    expect(jumped(run({}, {rows: 4_900}), [run({})])).toEqual(['rows']);
    expect(jumped(run({}, {rows: 15_100}), [run({})])).toEqual(['rows']);
    expect(jumped(run({}, {rows: 14_000}), [run({})])).toEqual([]);
  });

  test('if costs rise or fewer values are known, but not the other way round', () => {
    const night = (credits: number, known: number) => run({hit_rate: known}, {credits});
    expect(jumped(night(1_600, 0.7), [night(1_000, 0.9)])).toEqual(['credits', 'hit_rate']);
    expect(jumped(night(1_400, 0.85), [night(1_000, 0.9)])).toEqual([]);
    expect(jumped(night(100, 0.9), [night(1_000, 0.1)])).toEqual([]);
  });

  test('no figure because a run caught up on nights that have no whole run', () => {
    const night = (day: number, of = run({hit_rate: 0.9, failed: 0.01}, {credits: 1_000})): RunProfile => ({
      ...of,
      finished_at: `2026-01-${String(day).padStart(2, '0')}T02:00:00.000Z`,
    });
    const month = [4, 5, 6, 7].map(day => night(day));
    const outage = {...night(8, run({hit_rate: 1, failed: 0.5})), isWhole: false};
    const double = (failed = 0.01, rows = 20_000) => run({hit_rate: 0.6, failed}, {rows, credits: 2_000});
    const at = (day: number, of = double()) => night(day, of);
    expect(jumped(at(8), month)).toEqual(['rows', 'credits', 'hit_rate']);
    expect(jumped(at(9), month)).toEqual([]);
    expect(jumped(outage, month)).toEqual([]);
    expect(jumped(at(9), [...month, outage])).toEqual([]);
    expect(jumped(at(9, double(0.01, 4_000)), month)).toEqual(['rows']);
    expect(jumped(at(9, double(0.5)), month)).toEqual(['failed']);
    expect(jumped(at(10), [...month, at(9)])).toEqual(['rows', 'credits', 'hit_rate']);
  });

  test('nothing that chance brings about: few answers, few rows', () => {
    expect(jumped(run({failed: 0.2}, {rows: 5}), [run({failed: 0}, {rows: 5})])).toEqual([]);
    expect(jumped(run({}, {rows: 8}), [run({}, {rows: 3})])).toEqual([]);
    expect(jumped(run({}, {rows: 12}), [run({}, {rows: 4})])).toEqual([]);
    expect(jumped(run({}, {rows: 16}), [run({}, {rows: 4})])).toEqual([]);
    expect(jumped(run({}, {rows: 17}), [run({}, {rows: 4})])).toEqual(['rows']);
    expect(jumped(run({failed: 0.2}), [run({failed: 0})])).toEqual(['failed']);
  });

  test('nothing that chance brings about in the earlier runs, whose new answers were few', () => {
    const night = (value: number, of: number) => ({...run({}), figures: {'ip.is_vpn': {value, of}}});
    const few = [night(0, 2), night(0, 2), night(0.5, 2)];
    expect(jumped(night(0.4, 20), [night(0, 2)])).toEqual([]);
    expect(jumped(night(0.4, 20), few)).toEqual([]);
    expect(jumped(night(1, 20), few)).toEqual(['ip.is_vpn']);
    expect(jumped(night(0.4, 20), [night(0, 200), ...few])).toEqual([]);
  });

  test('nothing that only one of them had', () => {
    expect(jumped(run({'ip.is_vpn': 0.9}), [run({failed: 0})])).toEqual([]);
    const {'risk.mean': _, ...unscored} = run({}).figures;
    expect(jumped({...run({}), figures: unscored}, [run({}, {mean: 90})])).toEqual([]);
  });

  test('a new normal is one after six nights', () => {
    const old = Array.from({length: 24}, () => run({failed: 0}));
    const fresh = (nights: number) => Array.from({length: nights}, () => run({failed: 0.5}));
    expect(jumped(run({failed: 0.5}), [...old, ...fresh(4)])).toEqual(['failed']);
    expect(jumped(run({failed: 0.5}), [...old, ...fresh(6)])).toEqual([]);
  });
});

test('a run is known by shares and a mean, not by names or values', () => {
  const summary = fullSummary();
  const fields = {new_fields: summary.fields, new_answers: {ip: 2_000}};
  const profile = makeRunProfile({...summary, ...fields});
  const {figures} = profile;
  const values = Object.fromEntries(Object.entries(figures).map(([name, {value}]) => [name, value]));
  expect(values).toMatchObject({rows: 40_000, credits: 53_337, 'risk.mean': 21.37});
  expect(values.hit_rate).toBeCloseTo(24_834 / 78_235, 9);
  expect(values.failed).toBeCloseTo(129 / 91_489, 9);
  expect(figures.invalid?.of).toBe(120_000 - 9_119);
  expect(values['risk.high']).toBeCloseTo(1_959 / 39_702, 9);
  expect(figures['ip.is_vpn']).toEqual({value: 0.0535, of: 2_000});
  expect(values['ip.postal_code present']).toBeCloseTo(0.303, 9);
  expect(figures['ip.is_threat']).toBeUndefined();
  // Shares over all rows change little if only the new answers of a broken service differ.
  expect(makeRunProfile(summary).figures['ip.is_vpn']).toBeUndefined();
  expect(JSON.stringify(profile)).not.toMatch(/example|signups|US|timeout/);
  expect(Object.keys(makeRunProfile(bareSummary()).figures)).toEqual(['rows', 'credits']);
});

test('a run that a limit cut short is not whole, whatever ended it', () => {
  const error = {code: 'ip.outage', count: 2, rows: [1, 2]};
  const {lookups} = fullSummary();
  const stale = {...lookups, ip: {...lookups.ip, stale: 1}};
  for (const [isWhole, more] of [
    [true, {reason: 'lookups_failed'}],
    [false, {reason: 'deadline'}],
    [false, {reason: 'fail_if', errors: [error]}],
    [true, {reason: 'fail_if', errors: [{...error, service: true}]}],
    [false, {reason: 'lookups_failed', lookups: stale}],
  ] as [boolean, Partial<Summary>][])
    expect(makeRunProfile(fullSummary(more)).isWhole, more.reason).toBe(isWhole);
});

test('a jump is said in a sentence', () => {
  for (const [what, now, usual, sentence] of [
    ['risk.high', 0.124, 0.031, 'share of high risk 12% (usually 3.1%)'],
    ['rows', 12_000, 40_000.5, 'rows 12,000 (usually 40,001)'],
    ['credits', 1_600, 1_000, 'credits 1,600 (usually 1,000)'],
    ['risk.mean', 31.26, 20, 'mean risk score 31.3 (usually 20)'],
  ] as const)
    expect(driftSentence({what, now, usual, runs: 9})).toBe(sentence);
});
