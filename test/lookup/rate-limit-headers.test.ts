import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {parseQuota, parseRetryAfter} from '../../src/lookup/rate-limit-headers.ts';
import {samples} from '../support/samples.ts';

const now = Date.parse('2031-05-06T07:08:09Z');
const date = (ms: number) => new Date(now + ms).toUTCString();
const DAY = 86_400_000;

describe('Retry-After', () => {
  test.each([
    ['0', 0],
    ['120', 120_000],
    [' 2 ', 2_000],
    ['1.5', 1_500],
    ['1.25', 1_250],
    [date(30_000), 30_000],
    ['Tuesday, 06-May-31 07:08:39 GMT', 30_000],
    ['Tue May  6 07:08:39 2031', 30_000],
    ['Tue, 06 May 2031 07:08 GMT', undefined],
    ['by Tue, 06 May 2031 07:08:39 GMT', undefined],
    // A moment that has passed says: now.
    [date(-30_000), 0],
    ['86400', DAY],
    ['172800', 2 * DAY],
    [String(3_660 * 86_400), 3_660 * DAY],
    [String(3_660 * 86_400 + 1), undefined],
    [String(now / 1_000 + 90), 90_000],
    [String(now + 90_000), 90_000],
    [date(-DAY + 1_000), 0],
    [date(-DAY), undefined],
    [date(DAY), DAY],
    [date(2 * DAY), 2 * DAY],
    [date(3_661 * DAY), undefined],
    ['2031', 2_031_000],
  ])('%j', (retryAfter, expected) => {
    expect(parseRetryAfter({retryAfter, limits: {}}, now)).toBe(expected);
  });

  test.each([
    '',
    '-1',
    '+5',
    '1e9',
    '0x10',
    'NaN',
    'Infinity',
    '9'.repeat(400),
    'soon',
    '5, 10',
    '2031-05-06',
  ])('%j says nothing', retryAfter => {
    expect(parseRetryAfter({retryAfter, limits: {}}, now)).toBeUndefined();
  });

  test('a date is measured against the response’s own clock', () => {
    const pace = {retryAfter: date(3_600_000 + 20_000), date: date(3_600_000), limits: {}};
    expect(parseRetryAfter(pace, now)).toBe(20_000);
    expect(parseRetryAfter({...pace, date: 'yesterday'}, now)).toBe(3_620_000);
  });

  test('none', () => expect(parseRetryAfter({limits: {}}, now)).toBeUndefined());
});

describe('quota', () => {
  const of = (limits: Record<string, string>, own?: string) => parseQuota({limits, date: own}, now);
  const family = (prefix: string) => (left: string, reset: string) => ({
    [`${prefix}-remaining`]: left,
    [`${prefix}-reset`]: reset,
  });
  const [x, plain] = [family('x-ratelimit'), family('ratelimit')];
  const seconds = Math.floor(now / 1_000);

  test.each([
    ['RateLimit, structured', {ratelimit: '"default";r=50;t=30'}, 50, 30_000],
    ['RateLimit, the tightest of several', {ratelimit: '"burst";r=50;t=3, "day";r=2;t=600'}, 2, 600_000],
    ['RateLimit, older form', {ratelimit: 'limit=100, remaining=0, reset=7'}, 0, 7_000],
    ['RateLimit, in capitals', {ratelimit: 'Limit=100, Remaining=0, Reset=7'}, 0, 7_000],
    ['a part of a second', {'ratelimit-remaining': '3', 'ratelimit-reset': '1.25'}, 3, 1_250],
    ['RateLimit-*', {'ratelimit-limit': '10', 'ratelimit-remaining': '3', 'ratelimit-reset': '5'}, 3, 5_000],
    ['X-RateLimit-*, delta', x('0', '60'), 0, 60_000],
    ['epoch seconds', x('0', String(seconds + 9)), 0, 9_000],
    ['epoch milliseconds', x('0', String(now + 9_000)), 0, 9_000],
    ['a date', x('1', date(4_000)), 1, 4_000],
    ['X-Rate-Limit-*', {'x-rate-limit-remaining': '1', 'x-rate-limit-reset': '4'}, 1, 4_000],
    ['several families', {...plain('9', '1'), ratelimit: '"a";r=4;t=2'}, 4, 2_000],
    ['several families, one with X-', {...x('9', '1'), ratelimit: '"a";r=4;t=2'}, 4, 2_000],
  ])('%s', (_, limits, remaining, resetMs) => {
    expect(of(limits as Record<string, string>)).toEqual({remaining, resetMs});
  });

  test('an epoch reset is measured against the response’s own clock', () => {
    expect(of(x('0', String(seconds + 3_609)), date(3_600_000))).toEqual({remaining: 0, resetMs: 9_000});
  });

  test.each(['1000000000', '1000000000000'])('a reset of %s is a moment', reset => {
    expect(of(x('0', reset), 'Sun, 09 Sep 2001 01:46:30 GMT')).toEqual({remaining: 0, resetMs: 10_000});
  });

  test.each([
    ['no reset', {'x-ratelimit-remaining': '0'}],
    ['no remaining', {'x-ratelimit-reset': '5'}],
    ['negative remaining', x('-1', '5')],
    ['negative reset', x('0', '-5')],
    ['past epoch', x('0', String(seconds - 100))],
    ['absurd reset', x('0', '999999999')],
    ['absurd remaining', x('9'.repeat(30), '5')],
    ['words', x('none', 'tomorrow')],
    ['durations', x('0', '6m0s')],
    ['a word before the reset', x('0', 'in 5')],
    ['a word behind the reset', x('0', '5 s')],
    ['half a number', x('0', '5.s')],
    ['a policy alone', {'ratelimit-policy': '"default";q=100;w=10'}],
    ['structured garbage', {ratelimit: ';;;=,,="";r=;t=x'}],
    ['empty', {ratelimit: '', ...x('', '')}],
  ])('%s says nothing', (_, limits) => {
    expect(of(limits as Record<string, string>)).toBeUndefined();
  });
});

/** Texts that are nearly right are worse than noise. */
const headerText = fc.oneof(
  fc.string(),
  fc.string({unit: 'binary'}),
  fc.integer().map(String),
  fc.double().map(String),
  fc.bigInt().map(String),
  fc.date({noInvalidDate: true}).map(each => each.toUTCString()),
  fc.tuple(fc.integer(), fc.integer()).map(([r, t]) => `"x";r=${r};t=${t}`),
  fc.tuple(fc.string(), fc.string()).map(([r, t]) => `limit=1, remaining=${r}, reset=${t}`),
);
const sane = (ms: number) => Number.isFinite(ms) && ms >= 0 && ms <= 3_660 * DAY;

test('any header gives a sane value, or no value', () => {
  const names = ['ratelimit', 'ratelimit-policy', 'ratelimit-remaining', 'ratelimit-reset'];
  const limits = fc.dictionary(fc.constantFrom(...names, ...names.map(name => `x-${name}`)), headerText);
  const optional = fc.option(headerText, {nil: undefined});
  fc.assert(
    fc.property(fc.record({retryAfter: optional, date: optional, limits}), pace => {
      const wait = parseRetryAfter(pace, now);
      const quota = parseQuota(pace, now);
      expect(wait === undefined || sane(wait)).toBe(true);
      if (quota === undefined) return;
      expect([sane(quota.resetMs), Number.isSafeInteger(quota.remaining)]).toEqual([true, true]);
      expect(quota.remaining).toBeGreaterThanOrEqual(0);
    }),
    {seed: 4, numRuns: samples(2_000)},
  );
});
