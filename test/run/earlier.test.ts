import {expect, test} from 'vitest';
import type {Job} from '../../src/job/job.ts';
import {warnOfEarlier} from '../../src/run/open/budgets.ts';

const none = {spent: 0, maybeSpent: 0, calls: 0};

/** What is said of earlier attempts, in a run with this limit. Money is in thousandths of a credit. */
function said(earlier: object, limit: number | null = 10): string[] {
  const told: string[] = [];
  const maxCredits = limit ?? undefined;
  const all = {counted: none, notCounted: none, unknown: false, ...earlier};
  warnOfEarlier(all, {settings: {maxCredits}} as unknown as Job, sentence => told.push(sentence));
  return told;
}

test('what earlier attempts may have spent is said to be gone from the limit, like what they spent', () => {
  expect(said({counted: {spent: 2_000, maybeSpent: 1_500, calls: 4}})).toEqual([
    expect.stringMatching(
      /^Earlier attempts .* 3\.5 credits\. So 6\.5 of 10 credits are left for this run\./,
    ),
  ]);
  // The limit may have been lowered since.
  expect(said({counted: {spent: 12_000, maybeSpent: 0, calls: 12}})[0]).toContain('So 0 of 10 credits');
});

test('what does not count against the limit is said too, where it was all doubtful as well', () => {
  expect(said({notCounted: {spent: 0, maybeSpent: 3_000, calls: 3}})).toEqual([
    expect.stringMatching(/^3 credits of earlier attempts do not count against this run's limit\./),
  ]);
});

test('a run without a limit says nothing of it, nor does one without earlier attempts', () => {
  const counted = {spent: 2_000, maybeSpent: 0, calls: 2};
  expect([said({counted}, null), said({})]).toEqual([[], []]);
});
