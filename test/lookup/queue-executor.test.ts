import {describe, expect, test} from 'vitest';
import {policyNumbers} from '../../src/lookup/policy.ts';
import {type SimulatedCall, type SimulationOptions, simulate, simulated, valuesUpTo} from './simulation.ts';

const {ok, reset, refused, html, status, throttled, rejected, quota} = simulated;
const MINUTE = 60_000;
const poison = (keys: readonly string[], kind = status(500)) => ({
  answer: ({key}: SimulatedCall) => (keys.includes(key) ? kind : ok),
});
const failed = (error: string) => ({status: 'failed', error});
const callsOf = (calls: readonly SimulatedCall[], key: string) =>
  calls.filter(call => call.key === key).length;

test('lanes together hold no more than the concurrency, and take turns', async () => {
  const operations = ['ip', 'phone', 'email'] as const;
  const lanes = operations.map(name => ({
    name,
    operations: [name],
    rate: 'unlimited' as const,
    concurrency: 1,
  }));
  const run = await simulate({
    values: valuesUpTo(30),
    operations,
    lanes,
    concurrency: 1,
    answer: () => ok,
  });
  expect([run.peakInFlight(), run.settled.size]).toEqual([1, 30]);
  const first = run.calls.slice(0, 9).map(({operation}) => operation);
  expect(operations.map(name => first.filter(each => each === name).length)).toEqual([3, 3, 3]);
});

describe('a value that always fails', () => {
  test('among others: it fails after its resends, and the rest does not wait', async () => {
    const run = await simulate({values: valuesUpTo(2_000), ...poison(['v50'])});
    expect(run.settled.get('v50')).toEqual(failed('http_500'));
    expect(callsOf(run.calls, 'v50')).toBe(3);
    expect(run.settledAt.get('v50')).toBeLessThan(5_000);
    expect([...run.settled.values()].filter(({status: each}) => each === 'ok')).toHaveLength(1_999);
    // 2,000 values at 200/s, the canary's first calls included.
    expect(run.tookMs).toBeLessThan(11_000);
    expect(run.executor.pace().pauses).toBe(0);
  });

  test.each([1, 2, 4])('%i of them at the very end: a minute is waited, then they fail', async count => {
    const values = valuesUpTo(300);
    const last = values.slice(-count);
    const run = await simulate({values, ...poison(last)});
    for (const key of last)
      expect([key, run.settled.get(key), callsOf(run.calls, key)]).toEqual([key, failed('http_500'), 3]);
    expect(run.tookMs).toBeGreaterThan(MINUTE);
    expect(run.tookMs).toBeLessThan(MINUTE + 8_000);
  });

  test('an outage of a minute that begins with the last value fails nothing', async () => {
    const run = await simulate({
      values: valuesUpTo(300),
      answer: ({key, atMs}) => (key === 'v300' && atMs < MINUTE ? status(503) : ok),
    });
    expect(run.settled.get('v300')?.status).toBe('ok');
  });

  test.each([5, 12, 30])('%i of them and nothing else left: no endless outage', async count => {
    const values = valuesUpTo(200 + count);
    const last = values.slice(-count);
    const run = await simulate({values, ...poison(last)});
    expect(run.stop).toBeUndefined();
    expect([...run.settled.values()].filter(each => each.status === 'failed')).toHaveLength(count);
    for (const key of last) expect(callsOf(run.calls, key)).toBeLessThanOrEqual(12);
    expect(run.tookMs).toBeLessThan(15 * MINUTE);
  });

  test('they are all there is, and nothing ever succeeded', async () => {
    const values = valuesUpTo(8);
    const run = await simulate({values, ...poison(values)});
    expect([run.stop, run.settled.size]).toEqual([undefined, 8]);
    expect(run.tookMs).toBeGreaterThan(MINUTE);
  });

  test('a value in its backoff holds no slot', async () => {
    const run = await simulate({values: valuesUpTo(40), concurrency: 1, resends: 5, ...poison(['v12'])});
    // With one slot, the others are sent between its attempts.
    const between = run.calls.filter(({key, call}) => key !== 'v12' && call > 12).length;
    expect(between).toBe(28);
    expect(run.calls.filter(({call}) => call > 12)[0]?.key).not.toBe('v12');
  });
});

describe('an outage', () => {
  /** By then some 300 values are answered. */
  const BEGIN = 1_500;
  const down = (from: number, to: number, kind: SimulationOptions['answer'] | ReturnType<typeof status>) => ({
    answer: (call: SimulatedCall) => {
      if (call.atMs < from || call.atMs >= to) return ok;
      return typeof kind === 'function' ? kind(call) : kind;
    },
  });

  test.each([
    ['500', status(500)],
    ['503', status(503)],
    ['resets', reset],
    ['refused', refused],
    ['429 without Retry-After', throttled()],
    ['429 with Retry-After', throttled('1')],
  ] as const)('%s for ten minutes fails no value and is asked gently', async (_, kind) => {
    const run = await simulate({
      values: valuesUpTo(600),
      ...down(BEGIN, 10 * MINUTE, kind as ReturnType<typeof status>),
    });
    expect(run.stop).toBeUndefined();
    expect([...run.settled.values()].filter(({status: each}) => each === 'ok')).toHaveLength(600);
    const asked = run.calls.filter(({atMs}) => atMs >= BEGIN && atMs < 10 * MINUTE);
    expect(asked.length).toBeGreaterThan(0);
    expect(run.calls.length - asked.length).toBe(600);
    expect(asked.length).toBeLessThan(80);
    const {pauses, pausedMs} = run.executor.pace();
    expect(pauses).toBeGreaterThan(0);
    expect(pausedMs).toBeGreaterThan(9 * MINUTE);
  });

  test('the probe is one at a time, of another value each time while there are others', async () => {
    const run = await simulate({values: valuesUpTo(600), ...down(BEGIN, 4 * MINUTE, status(503))});
    const probes = run.calls.filter(({atMs}) => atMs > BEGIN + 1_000 && atMs < 4 * MINUTE);
    expect(probes.length).toBeGreaterThan(8);
    expect(new Set(probes.map(({key}) => key)).size).toBe(probes.length);
    for (const [index, probe] of probes.entries())
      expect(probe.atMs - (probes[index - 1]?.atMs ?? 0)).toBeGreaterThan(20);
  });

  test('after it calls in flight ramp up', async () => {
    const run = await simulate({
      values: valuesUpTo(600),
      latencyMs: 500,
      ...down(BEGIN, MINUTE, status(503)),
    });
    const back = run.calls.find(({atMs}) => atMs >= MINUTE)?.atMs ?? 0;
    const within = (from: number, to: number) =>
      run.calls.filter(({atMs}) => atMs > back + from && atMs <= back + to).length;
    expect(within(0, 900)).toBeLessThanOrEqual(3);
    expect(within(2_500, 3_000)).toBeGreaterThan(8);
  });

  test('that lasts too long stops the run, with the time to come back', async () => {
    const run = await simulate({values: valuesUpTo(600), ...down(BEGIN, 1e9, status(500))});
    expect(run.stop).toMatchObject({kind: 'outage', cause: 'http_500', why: 'too long'});
    expect([...run.settled.values()].every(({status: each}) => each === 'ok')).toBe(true);
    expect(run.tookMs).toBeGreaterThanOrEqual(15 * MINUTE);
    expect(run.tookMs).toBeLessThan(15 * MINUTE + 10_000);
    const stop = run.stop as {sinceMs: number; comeBackMs: number};
    expect(stop.comeBackMs - stop.sinceMs).toBeGreaterThanOrEqual(30 * MINUTE);
  });

  test('a service that refuses the first ten values ends the run', async () => {
    const run = await simulate({values: valuesUpTo(3), answer: () => refused});
    expect(run.stop).toMatchObject({kind: 'outage', cause: 'econnrefused'});
    expect(run.settled.size).toBe(0);
  });

  test('a gateway’s errors are never held against the last values, when there are several', async () => {
    const run = await simulate({values: valuesUpTo(8), answer: () => status(503)});
    expect([run.stop?.kind, run.settled.size]).toEqual(['outage', 0]);
  });

  test('calls that must never be resent are unknown at once', async () => {
    const run = await simulate({values: valuesUpTo(3), resends: 0, answer: () => reset});
    expect([...run.settled.values()]).toEqual(Array(3).fill({status: 'unknown', error: 'econnreset'}));
    expect(run.calls).toHaveLength(3);
  });

  test('gate and outage together: neither loses the other’s wake-up', async () => {
    const run = await simulate({
      values: valuesUpTo(600),
      latencyMs: 700,
      answer: ({atMs, call}) => {
        if (atMs < 5_000 || atMs > 3 * MINUTE) return ok;
        return call % 3 === 0 ? throttled('20') : call % 3 === 1 ? status(500) : refused;
      },
    });
    expect([run.stop, run.settled.size]).toEqual([undefined, 600]);
  });
});

describe('resends', () => {
  /** Down from the start for half a minute. */
  const downAtFirst = ({atMs}: SimulatedCall) => (atMs < MINUTE / 2 ? reset : ok);

  test('a value that has none left when an outage is over fails then, and is not sent again', async () => {
    const run = await simulate({values: valuesUpTo(5), resends: 1, answer: downAtFirst});
    expect(run.stop).toBeUndefined();
    const failures = [...run.settled].filter(([, outcome]) => outcome.status === 'failed');
    expect(failures).toHaveLength(4);
    for (const [key, outcome] of failures) {
      expect([outcome, callsOf(run.calls, key)]).toEqual([failed('econnreset'), 2]);
      expect(run.settledAt.get(key)).toBeGreaterThan(MINUTE / 2);
    }
  });

  test('where none is left, the outage ends the run: nothing can find out that it is over', async () => {
    const run = await simulate({values: valuesUpTo(6), answer: () => status(503)});
    expect(run.stop).toMatchObject({kind: 'outage', cause: 'http_503', why: 'no resends'});
    expect([run.settled.size, run.calls.length]).toEqual([0, 18]);
    expect(run.tookMs).toBeGreaterThan(5 * MINUTE);
  });

  test('or the values are told as not asked for, where the rest is published', async () => {
    const run = await simulate({values: valuesUpTo(6), publishOn: ['outage'], answer: () => status(503)});
    expect([...run.settled.values()]).toEqual(Array(6).fill({status: 'skipped', error: 'outage'}));
  });

  test('a service that breaks at the last values is not an outage, however few resends they have', async () => {
    const run = await simulate({values: valuesUpTo(5), resends: 1, answer: () => status(500)});
    expect([...run.settled.values()]).toEqual(Array(5).fill(failed('http_500')));
    expect(run.calls).toHaveLength(10);
    expect(run.tookMs).toBeGreaterThanOrEqual(MINUTE);
  });

  test('a value that an earlier session sent as often as allowed is not sent again', async () => {
    const doubts = 3;
    const run = await simulate({
      values: valuesUpTo(2),
      before: {mayBeCarriedOut: true, doubts, lastCode: 'http_502'},
      answer: () => ok,
    });
    expect([run.calls.length, [...run.settled.values()]]).toEqual([0, Array(2).fill(failed('http_502'))]);
  });

  test('a throttled call counts where it is charged, and where it is free it does not', async () => {
    const storm = {
      values: valuesUpTo(3),
      answer: ({atMs}: SimulatedCall) => (atMs < MINUTE ? throttled() : ok),
    };
    const charged = await simulate({...storm, throttledCost: 'spent'});
    expect([charged.calls.length, [...charged.settled.values()]]).toEqual([
      9,
      Array(3).fill(failed('http_429')),
    ]);
    const free = await simulate(storm);
    expect([...free.settled.values()].map(({status: each}) => each)).toEqual(Array(3).fill('ok'));
  });

  const most = (calls: readonly SimulatedCall[]) =>
    Math.max(...[...new Set(calls.map(({key}) => key))].map(key => callsOf(calls, key)));

  test.each([1, 2, 5].flatMap(resends => [3, 5, 8, 40].map(count => [resends, count] as const)))(
    'with %i of them, no outage sends any of %i values more often',
    async (resends, count) => {
      for (const kind of [reset, status(503), status(500)]) {
        const run = await simulate({values: valuesUpTo(count), resends, answer: () => kind});
        expect(most(run.calls)).toBeLessThanOrEqual(1 + resends);
      }
    },
  );
});

describe('throttling', () => {
  test('one 429 stops everybody for as long as asked', async () => {
    const run = await simulate({
      values: valuesUpTo(2_000),
      answer: ({call}) => (call === 500 ? throttled('7') : ok),
    });
    const at = run.calls[499]?.atMs ?? 0;
    const during = run.calls.filter(({atMs}) => atMs > at + 25 && atMs < at + 7_000);
    expect(during).toEqual([]);
    expect(run.settled.size).toBe(2_000);
    expect(callsOf(run.calls, run.calls[499]?.key ?? '')).toBe(2);
  });

  test('more than may be waited for stops the run at once', async () => {
    const run = await simulate({
      values: valuesUpTo(200),
      answer: ({call}) => (call === 50 ? throttled('7200') : ok),
    });
    expect(run.stop).toMatchObject({kind: 'outage', cause: 'http_429', why: 'asked'});
    const stop = run.stop as {sinceMs: number; comeBackMs: number};
    expect(stop.comeBackMs - stop.sinceMs).toBeCloseTo(7_200_000, -2);
    expect(run.tookMs).toBeLessThan(5_000);
  });

  test('a storm beyond --max-outage stops the run', async () => {
    const run = await simulate({
      values: valuesUpTo(2_000),
      answer: ({atMs}) => (atMs > 3_000 ? throttled() : ok),
    });
    expect(run.stop).toMatchObject({kind: 'outage', cause: 'http_429'});
    expect(run.tookMs).toBeGreaterThan(15 * MINUTE);
    expect(run.calls.filter(({atMs}) => atMs > 4_000).length).toBeLessThan(150);
  });

  test('nonsense about when to come back is as if it were not there', async () => {
    const texts = ['-5', 'NaN', '9'.repeat(50), 'soon', '', '0'];
    const run = await simulate({
      values: valuesUpTo(300),
      answer: ({call}) => (call % 20 === 0 ? throttled(texts[(call / 20) % texts.length]) : ok),
    });
    expect([run.stop, run.settled.size]).toEqual([undefined, 300]);
    expect(run.tookMs).toBeLessThan(2 * MINUTE);
  });
});

describe('quotas', () => {
  test('a quota that runs out is waited for before anybody is refused', async () => {
    const run = await simulate({
      values: valuesUpTo(100),
      latencyMs: 1,
      answer: ({call}) => quota(59 - ((call - 1) % 60), 10),
    });
    expect(run.settled.size).toBe(100);
    const gaps = run.calls.map(({atMs}, index) => atMs - (run.calls[index - 1]?.atMs ?? 0));
    expect(gaps.filter(gap => gap >= 9_900)).toHaveLength(1);
  });

  test('one that always reads 0 is no quota', async () => {
    const run = await simulate({values: valuesUpTo(400), answer: () => quota(0, 60)});
    expect(run.settled.size).toBe(400);
    expect(run.executor.pace().pauses).toBe(0);
  });
});

describe('the canary', () => {
  test('few are in flight until one is answered, and then as many as may be', async () => {
    const run = await simulate({values: valuesUpTo(200), latencyMs: 1_000, answer: () => ok});
    const sentBefore = (ms: number) => run.calls.filter(({atMs}) => atMs < ms).length;
    expect(sentBefore(1_000)).toBe(policyNumbers.canaryInFlight);
    expect(sentBefore(2_000)).toBeGreaterThan(3 * policyNumbers.canaryInFlight);
  });

  test.each([
    ['404', rejected(404, 'not_found'), {kind: 'refused', streak: {code: 'not_found', credentials: false}}],
    ['403', rejected(403, 'forbidden'), {kind: 'refused', streak: {code: 'forbidden', credentials: true}}],
    ['HTML with 200', html, {kind: 'refused', streak: {code: 'bad_response', credentials: false}}],
  ])('ten times %s and nothing else stops the run', async (_, answer, expected) => {
    const run = await simulate({values: valuesUpTo(200), answer: () => answer});
    expect(run.stop).toMatchObject(expected);
    expect(run.calls.length).toBeLessThanOrEqual(
      policyNumbers.refusalStreak + policyNumbers.canaryInFlight - 1,
    );
  });

  test('nine times is not ten', async () => {
    const run = await simulate({
      values: valuesUpTo(50),
      answer: ({call}) => (call <= 9 ? rejected(403, 'forbidden') : ok),
    });
    expect([run.stop, run.settled.size]).toEqual([undefined, 50]);
  });

  test('once anything was answered, rejections are of values', async () => {
    const run = await simulate({
      values: valuesUpTo(50),
      answer: ({call}) => (call === 1 ? ok : rejected(403, 'forbidden')),
    });
    expect([run.stop, run.settled.size]).toEqual([undefined, 50]);
  });

  test('stale session tokens fail their rows; ten and nothing else are credentials', async () => {
    const stale = rejected(401, 'invalid_token');
    const among = await simulate({
      values: valuesUpTo(50),
      operations: ['verify'],
      answer: ({call}) => (call % 2 === 0 ? stale : ok),
    });
    expect([among.stop, among.settled.size]).toEqual([undefined, 50]);
    const all = await simulate({values: valuesUpTo(50), operations: ['verify'], answer: () => stale});
    expect(all.stop).toMatchObject({kind: 'refused', streak: {credentials: true}});
    // Once an address was answered, the key is known to be right.
    const beside = await simulate({
      values: valuesUpTo(60),
      operations: ['ip', 'verify'],
      answer: ({operation}) => (operation === 'ip' ? ok : stale),
    });
    expect(beside.stop).toMatchObject({kind: 'refused', operation: 'verify', streak: {credentials: false}});
  });
});

describe('a streak of refusals, once values were answered', () => {
  const answer = ({call}: SimulatedCall) => (call <= 30 ? ok : rejected(400, 'quota_exceeded'));

  test('ends the run at a hundred', async () => {
    const run = await simulate({values: valuesUpTo(500), isAnswered: () => true, answer});
    expect(run.stop).toMatchObject({kind: 'refused', streak: {count: 100, isKnownToAnswer: true}});
    expect(run.calls.length).toBeLessThanOrEqual(30 + 100 + 16);
  });

  test('ends nothing where all may fail, and is told once', async () => {
    const told: number[] = [];
    const values = valuesUpTo(500);
    const run = await simulate({values, mayAllFail: true, answer, refused: ({count}) => told.push(count)});
    expect([run.stop, run.settled.size, told]).toEqual([undefined, 500, [10]]);
  });

  test('is of values where it is shorter, or where some are answered in between', async () => {
    const isBad = (call: number) => call > 30 && call % 50 !== 0;
    const run = await simulate({
      values: valuesUpTo(500),
      isAnswered: () => true,
      answer: ({call}) => (isBad(call) ? rejected(400, 'odd_value') : ok),
    });
    expect([run.stop, run.settled.size]).toEqual([undefined, 500]);
    const kept = [...run.settled.values()].filter(outcome => 'rejected' in outcome);
    // Nine of each streak, before it was one.
    expect(kept).toHaveLength(10 * 9);
  });
});

describe('the budget', () => {
  test('stops the run', async () => {
    const run = await simulate({values: valuesUpTo(50), credits: 20, answer: () => ok});
    expect([run.stop?.kind, run.calls.length]).toEqual(['budget', 20]);
  });

  test('or skips the rest, which takes no permits', async () => {
    const run = await simulate({
      values: valuesUpTo(5_000),
      credits: 20,
      publishOn: ['budget'],
      isAnswered: () => false,
      lanes: [{name: 'all', operations: ['ip'], rate: {count: 1, perMs: 1_000}, concurrency: 4}],
      answer: () => ok,
    });
    expect([run.stop, run.calls.length, run.settled.size]).toEqual([undefined, 20, 5_000]);
    expect(run.tookMs).toBeLessThan(25_000);
  });
});

describe('a fleet', () => {
  const lost = {kind: 'ambiguous', code: 'worker_lost', latencyMs: 0, lost: true} as const;
  const held = (closedMs: number) =>
    ({kind: 'not_sent', code: 'fleet_gate', latencyMs: 0, closedMs}) as const;

  test('loses a worker with all it had in hand: no outage, and no value fails for it', async () => {
    const run = await simulate({
      values: valuesUpTo(200),
      concurrency: 32,
      answer: ({call, attempt}) => ((call > 60 && call <= 84) || attempt === 2 ? lost : ok),
    });
    expect([...run.settled.values()].filter(({status: each}) => each !== 'ok')).toEqual([]);
    expect(run.executor.pace().pauses).toBe(0);
  });

  test('with --resends 0, a lost call is unknown', async () => {
    const run = await simulate({
      values: valuesUpTo(40),
      resends: 0,
      answer: ({key}) => (key === 'v20' ? lost : ok),
    });
    expect(run.settled.get('v20')).toEqual({status: 'unknown', error: 'worker_lost'});
  });

  test('gives values back: everybody waits for as long as its gate is closed', async () => {
    const run = await simulate({
      values: valuesUpTo(100),
      answer: ({key, attempt}) => (key === 'v30' && attempt === 1 ? held(5_000) : ok),
    });
    const at = run.calls.find(({key}) => key === 'v30')?.atMs ?? 0;
    expect(run.settled.get('v30')?.status).toBe('ok');
    const between = run.calls.filter(({atMs}) => atMs > at + 100 && atMs < at + 5_000);
    expect(between).toEqual([]);
    expect(run.executor.pace().pauses).toBe(1);
  });

  test('a worker that stops gives back more than five values at once: that is no outage', async () => {
    const run = await simulate({
      values: valuesUpTo(100),
      concurrency: 32,
      answer: ({call}) => (call > 40 && call <= 60 ? held(0) : ok),
    });
    expect([run.settled.size, run.executor.pace().pauses]).toEqual([100, 0]);
  });
});
