import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import type {Attempt, PaceHeaders} from '../../src/client/attempt.ts';
import type {Cost} from '../../src/job/settings/cost.ts';
import {noAttempts} from '../../src/ledger/run/ledger-entry.ts';
import {
  type Blame,
  backoffMs,
  blamesValue,
  chargeOfAttempt,
  historyAfterAttempt,
  nextStep,
  type PolicySettings,
  policyNumbers,
  requestedWaitMs,
  retryMs,
  throttleMs,
} from '../../src/lookup/retry-policy.ts';

const settings: PolicySettings = {
  resends: 2,
  cost: {throttled: 'free', rejected: 'maybe'},
};
const pace: PaceHeaders = {limits: {}};
const boughtAt = 1_000;
const heard = {boughtAt, latencyMs: 1, pace};
const kinds = {
  answered: {kind: 'answered', ...heard, status: 200, data: {city: 'X'}, unknownFields: [], wrongTypes: []},
  notSent: {kind: 'not_sent', code: 'econnrefused', latencyMs: 1},
  throttled: {kind: 'throttled', ...heard, status: 429, code: 'http_429'},
  reset: {kind: 'ambiguous', code: 'econnreset', latencyMs: 1},
  broken: {kind: 'ambiguous', code: 'http_500', latencyMs: 1, status: 500},
  unreadable: {kind: 'unreadable', ...heard, status: 200, code: 'bad_response', detail: 'not JSON'},
  rejected: {kind: 'rejected', ...heard, status: 404, code: 'not_found'},
  bad: {kind: 'rejected', ...heard, status: 400, code: 'invalid_ip'},
  denied: {kind: 'rejected', ...heard, status: 200, code: 'quota'},
  credentials: {kind: 'fatal', reason: 'credentials', code: 'invalid_token', latencyMs: 1, status: 401},
  badToken: {kind: 'fatal', reason: 'credentials', code: 'invalid_token', latencyMs: 1, status: 400},
  brokenToken: {kind: 'fatal', reason: 'credentials', code: 'invalid_token', latencyMs: 1, status: 500},
  odd: {kind: 'fatal', reason: 'credentials', code: 'invalid_token', latencyMs: 1, status: 200},
  credits: {kind: 'fatal', reason: 'credits', code: 'http_402', latencyMs: 1, status: 402},
  redirect: {kind: 'fatal', reason: 'redirect', code: 'http_307', latencyMs: 1, status: 307},
  certificate: {kind: 'fatal', reason: 'certificate', code: 'CERT_HAS_EXPIRED', latencyMs: 1},
} as const satisfies Record<string, Attempt>;

test.each([
  ['answered', 'spent'],
  ['notSent', 'free'],
  ['throttled', 'free'],
  ['reset', 'maybe'],
  ['broken', 'maybe'],
  ['unreadable', 'spent'],
  ['rejected', 'maybe'],
  ['bad', 'maybe'],
  ['denied', 'spent'],
  ['credentials', 'free'],
  ['credits', 'free'],
  ['redirect', 'maybe'],
  ['certificate', 'free'],
  ['badToken', 'free'],
  ['brokenToken', 'maybe'],
  ['odd', 'maybe'],
] as const)('%s is %s', (kind, charge) => {
  expect(chargeOfAttempt(kinds[kind], settings.cost)).toBe(charge);
});

test('a call that may have been charged without an answer leaves a doubt', () => {
  const doubtful = (own: Partial<Cost> = {}) =>
    Object.entries(kinds).flatMap(([name, kind]) =>
      historyAfterAttempt(noAttempts, kind, chargeOfAttempt(kind, {...settings.cost, ...own})).doubts > 0
        ? [name]
        : [],
    );
  const always = ['reset', 'broken', 'unreadable', 'denied', 'brokenToken', 'odd', 'redirect'];
  const rejections = ['rejected', 'bad'];
  expect(doubtful().toSorted()).toEqual([...always, ...rejections].toSorted());
  expect(doubtful({rejected: 'free', throttled: 'free'})).toEqual(always);
  expect(doubtful({rejected: 'free', throttled: 'maybe'})).toEqual(['throttled', ...always]);
});

test('the cost of throttled and rejected calls is a setting', () => {
  const own: Cost = {throttled: 'spent', rejected: 'free'};
  expect([chargeOfAttempt(kinds.throttled, own), chargeOfAttempt(kinds.rejected, own)]).toEqual([
    'spent',
    'free',
  ]);
  expect(chargeOfAttempt(kinds.notSent, own)).toBe('free');
});

describe('the next step', () => {
  const step = (
    attempt: Attempt,
    {doubts = 0, blame = 'value', ...own}: Partial<PolicySettings> & Step = {},
  ) =>
    nextStep(
      'ip',
      {boughtAt, ...attempt},
      {doubts, mayBeCarriedOut: false, lastCode: ''},
      {...settings, ...own},
      blame,
    );
  interface Step {
    readonly doubts?: number;
    readonly blame?: Blame;
  }
  const failed = (error: string) => ({next: 'settle', outcome: {status: 'failed', error}});
  const rejected = {
    next: 'settle',
    outcome: {status: 'failed', error: 'not_found', rejected: true, boughtAt},
  };
  const again = {next: 'retry'};
  const held = {next: 'hold'};
  const unknown = (error: string) => ({next: 'settle', outcome: {status: 'unknown', error}});

  test.each([
    [
      'an answer',
      kinds.answered,
      {},
      {next: 'settle', outcome: {status: 'ok', data: '{"city":"X"}', boughtAt}},
    ],
    ['a rejection', kinds.rejected, {}, rejected],
    ['an unreadable answer', kinds.unreadable, {}, failed('bad_response')],
    ['not sent: for ever', kinds.notSent, {doubts: 2}, again],
    ['throttled: for ever', kinds.throttled, {doubts: 2}, again],
    ['throttled, charged for', kinds.throttled, {doubts: 3}, failed('http_429')],
    ['ambiguous, first', kinds.reset, {doubts: 1}, again],
    ['ambiguous, second', kinds.reset, {doubts: 2}, again],
    ['ambiguous, third', kinds.reset, {doubts: 3}, failed('econnreset')],
    ['ambiguous, no resends', kinds.reset, {doubts: 1, resends: 0}, unknown('econnreset')],
    ['ambiguous, two attempts', kinds.reset, {doubts: 2, resends: 1}, failed('econnreset')],
    ['ambiguous in an outage', kinds.reset, {doubts: 2, blame: 'service'}, again],
    ['the last time in an outage', kinds.reset, {doubts: 3, blame: 'service'}, held],
    ['ambiguous at the last call', kinds.broken, {doubts: 1, blame: 'value for good'}, failed('http_500')],
    [
      'ambiguous, never resent',
      kinds.reset,
      {doubts: 1, resends: 0, blame: 'service'},
      unknown('econnreset'),
    ],
    ['fatal', kinds.credentials, {}, {next: 'stop'}],
  ] as const)('%s', (_, attempt, given, expected) => {
    expect(step(attempt, given)).toEqual(expected);
  });

  test.each(['no_http_404', 'http_404_page'])('a rejection with %s, a code of its own, does', code => {
    expect(step({...kinds.rejected, code})).toMatchObject({outcome: {error: code, rejected: true}});
  });

  test.each<[string, {readonly code?: string; readonly status?: number}]>([
    ['by a bare status', {code: 'http_404'}],
    ['without a code', {code: 'service_error'}],
    ['of the caller', {status: 403}],
  ])('a rejection %s says nothing for other runs', (_, own) => {
    const history = {doubts: 0, mayBeCarriedOut: false, lastCode: ''};
    const step = nextStep('ip', {...kinds.rejected, ...own}, history, settings, 'value');
    expect(step).toEqual({next: 'settle', outcome: {status: 'failed', error: own.code ?? 'not_found'}});
  });

  test.each([
    ['first try, redeemed', false, true, 'ok'],
    ['after a lost attempt, redeemed', true, true, 'unknown'],
    ['after a lost attempt, not redeemed', true, false, 'ok'],
  ] as const)('a verdict: %s', (_, mayBeCarriedOut, redeemed, status) => {
    const attempt = {...kinds.answered, data: {verdict: {can_pass: true, redeemed}}};
    const {outcome} = nextStep(
      'verify',
      attempt,
      {doubts: 0, mayBeCarriedOut, lastCode: ''},
      settings,
      'value',
    ) as {
      outcome: {status: string; error?: string; data: string; boughtAt: number};
    };
    expect(outcome.status).toBe(status);
    expect(outcome.error).toBe(status === 'unknown' ? 'verdict_replay_uncertain' : undefined);
    expect([JSON.parse(outcome.data), outcome.boughtAt]).toEqual([attempt.data, boughtAt]);
  });

  test('an answer without a verdict is one, after a lost attempt too', () => {
    const history = {doubts: 1, mayBeCarriedOut: true, lastCode: ''};
    expect(nextStep('verify', kinds.answered, history, settings, 'value')).toMatchObject({
      outcome: {status: 'ok'},
    });
    const named = {...kinds.answered, data: {verdict: {redeemed: true}}};
    expect(nextStep('ip', named, history, settings, 'value')).toMatchObject({outcome: {status: 'ok'}});
  });
});

test.each([
  [500, true],
  [501, true],
  [502, false],
  [503, false],
  [504, false],
  [520, true],
  [408, false],
  [425, false],
  [undefined, false],
])('status %s may be the value’s own fault: %s', (status, blamed) => {
  const attempt = {kind: 'ambiguous', code: 'x', latencyMs: 1, ...(status && {status})} as const;
  expect(blamesValue(attempt)).toBe(blamed);
});

describe('waits', () => {
  test('backoff is full jitter under 0.5 s · 2ⁿ, at most 30 s', () => {
    expect([0, 1, 2, 5, 6, 7, 60, 2_000].map(n => backoffMs(n, 30_000, 1 - 1e-9))).toEqual([
      500, 1_000, 2_000, 16_000, 30_000, 30_000, 30_000, 30_000,
    ]);
    expect(backoffMs(4, 30_000, 0)).toBe(0);
    expect(backoffMs(4, 30_000, 0.5)).toBe(4_000);
  });

  const doubted = (doubts: number) => ({doubts, mayBeCarriedOut: doubts > 0, lastCode: ''});

  test('a retry backs off from its first attempt that counts', () => {
    expect([0, 1, 2, 3].map(n => retryMs(doubted(n), false, {...settings, resends: 9}, 0.5))).toEqual([
      250, 250, 500, 1_000,
    ]);
  });

  test('before its last attempt a value that can’t be told from an outage waits a minute', () => {
    expect(retryMs(doubted(1), true, settings, 0.5)).toBe(250);
    expect(retryMs(doubted(2), true, settings, 0.5)).toBe(policyNumbers.patienceMs);
    expect(retryMs(doubted(2), false, settings, 0.5)).toBe(500);
    expect(retryMs(doubted(1), true, {...settings, resends: 1}, 0.5)).toBe(policyNumbers.patienceMs);
    // An unsent or uncounted attempt is not the last one, however few are left.
    expect(retryMs(doubted(0), true, {...settings, resends: 0}, 0.5)).toBe(250);
  });

  test('throttled: at least the time that the service asks for, else backoff', () => {
    expect(throttleMs(undefined, 0, 0)).toBe(50);
    expect(throttleMs(undefined, 3, 0.5)).toBe(2_000);
    expect(throttleMs(7_000, 0, 0)).toBe(7_000);
    expect(throttleMs(7_000, 0, 0.999)).toBe(7_100);
    expect(throttleMs(0, 0, 0.5)).toBe(50);
    // Asked for too little, again and again.
    expect(throttleMs(0, 4, 0.5)).toBe(4_000);
  });

  test('throttled: never less than asked, never beyond the cap where nothing is asked', () => {
    fc.assert(
      fc.property(
        fc.option(fc.integer({min: 0, max: 86_400_000}), {nil: undefined}),
        fc.nat(200),
        fc.double({min: 0, max: 1, maxExcluded: true, noNaN: true}),
        (asked, streak, random) => {
          const wait = throttleMs(asked, streak, random);
          expect(wait).toBeGreaterThanOrEqual(asked ?? 50);
          expect(wait).toBeLessThanOrEqual(Math.max((asked ?? 0) + 100, policyNumbers.gateCapMs));
        },
      ),
      {seed: 4},
    );
  });

  test.each([
    ['Retry-After', {retryAfter: '3', limits: {}}, 3_000],
    ['a quota that is used up', {limits: {'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '9'}}, 9_000],
    [
      'a quota with calls left',
      {limits: {'x-ratelimit-remaining': '2', 'x-ratelimit-reset': '9'}},
      undefined,
    ],
    ['both', {retryAfter: '3', limits: {'ratelimit-remaining': '0', 'ratelimit-reset': '9'}}, 3_000],
    ['nothing', {limits: {}}, undefined],
  ])('asked by %s', (_, headers, expected) => {
    expect(requestedWaitMs({...kinds.throttled, pace: headers}, 0)).toBe(expected);
  });
});
