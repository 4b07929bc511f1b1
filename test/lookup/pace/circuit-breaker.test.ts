import {describe, expect, test} from 'vitest';
import {noAttempts} from '../../../src/ledger/run/ledger-entry.ts';
import {CircuitBreaker} from '../../../src/lookup/pace/circuit-breaker.ts';
import {policyNumbers} from '../../../src/lookup/retry-policy.ts';

const MINUTE = policyNumbers.patienceMs;
const ambiguous = (status?: number) =>
  ({kind: 'ambiguous', code: 'down', latencyMs: 1, ...(status && {status})}) as const;
const keys = (count: number) => Array.from({length: count}, (_, n) => `v${n}`);

interface Given {
  readonly maxOutageMs?: number;
  /** Values that are not settled. */
  readonly pending?: number;
  /** Sends that they have left together. */
  readonly sendsLeft?: number;
}

const task = (doubts = 0) => ({entry: {history: {...noAttempts, doubts}}});

/** A watch with chance in the middle: waits are three quarters of their bound. Unless `pending` is given, more values come. */
function watching({maxOutageMs = 1e9, pending, sendsLeft}: Given = {}) {
  const left = {count: pending ?? sendsLeft};
  const open = () =>
    left.count === undefined ? undefined : Array.from({length: left.count}, () => task(sendsLeft && 2));
  const policy = {resends: 2, cost: {throttled: 'free', rejected: 'maybe'}} as const;
  const watch = new CircuitBreaker({maxOutageMs, policy, random: () => 0.5}, open);
  return {
    left,
    watch,
    failed: (key: string, now = 0, status: number | undefined = 500) =>
      watch.failed(key, ambiguous(status), now),
    notSent: (key: string, now = 0) => watch.notSent(key, 'refused', now),
  };
}

type Watching = ReturnType<typeof watching>;

/** An outage that began at 0, by as many values as it takes. */
function outage(given?: Given): Watching {
  const it = watching(given);
  for (const key of keys(policyNumbers.outageValues)) it.failed(key);
  return it;
}

describe('an outage begins', () => {
  test('with the fifth value that fails', () => {
    const {watch, failed} = watching();
    expect(['a', 'a', 'b', 'c', 'd'].map(key => failed(key))).toEqual(Array(5).fill('value'));
    expect(watch.current).toBeUndefined();
    expect(failed('e', 7)).toBe('service');
    expect(watch.current).toMatchObject({since: 7, cause: 'down'});
  });

  test('not where something succeeds in between', () => {
    const {watch, failed, notSent} = watching();
    for (const key of keys(12)) {
      expect(failed(key)).toBe('value');
      for (let n = 1; n < policyNumbers.unsentStreak; n++) notSent(key);
      watch.succeeded();
    }
    expect(watch.current).toBeUndefined();
  });

  test('with the fifth call in a row that could not be sent', () => {
    const {watch, failed, notSent} = watching();
    for (let n = 1; n < policyNumbers.unsentStreak; n++) notSent('a');
    failed('b');
    for (let n = 1; n < policyNumbers.unsentStreak; n++) notSent('a');
    expect([watch.current, notSent('a', 3), notSent('a', 4)]).toEqual([undefined, 'service', 'service']);
    expect(watch.current).toMatchObject({since: 3, cause: 'refused'});
  });

  test('when the retry budget is empty, of one value too', () => {
    const {failed} = watching();
    const counted = Array.from({length: policyNumbers.budgetTokens}, () => failed('a'));
    expect(counted.indexOf('service')).toBe(policyNumbers.budgetTokens - 1);
  });

  test('a success gives a tenth of a retry back, and never more than there was', () => {
    const {watch, failed} = watching();
    for (let n = 0; n < 5_000; n++) watch.succeeded();
    let failures = 0;
    for (; watch.current === undefined && failures < 1_000; failures += 1) {
      if (failures % 2 === 0) watch.succeeded();
      failed('a');
    }
    // 100 and 0.1 before each second one: n ≥ 100 + 0.05 n.
    expect(failures).toBe(106);
  });
});

test('where there is no outage, calls are sent and end as they like', () => {
  const {watch} = watching();
  watch.sent('a');
  watch.inconclusive('a');
  expect([watch.current, watch.room(0, 1e6), watch.overdue(1e12)]).toEqual([
    undefined,
    Number.POSITIVE_INFINITY,
    undefined,
  ]);
});

test('an outage lasts from when it began', () => {
  const {watch, failed} = watching({maxOutageMs: 2 * MINUTE, pending: policyNumbers.outageValues});
  for (const key of keys(policyNumbers.outageValues)) failed(key, 5_000);
  expect([watch.overdue(2 * MINUTE), watch.overdue(2 * MINUTE + 5_000)?.since]).toEqual([undefined, 5_000]);
  expect([failed('v0', MINUTE), failed('v0', MINUTE + 5_000)]).toEqual(['service', 'value for good']);
});

describe('after an outage', () => {
  test('the retry budget holds a tenth at least', () => {
    const {watch, failed} = watching();
    const untilOutage = () => {
      let failures = 1;
      while (failed('a') === 'value' && failures < 1_000) failures += 1;
      watch.succeeded();
      return failures;
    };
    expect([untilOutage(), untilOutage()]).toEqual([100, 10]);
    const early = outage();
    early.watch.succeeded();
    // Five of a hundred were used.
    for (let n = 0; n < 95; n++) expect(early.failed('a')).toBe('value');
    expect(early.failed('a')).toBe('service');
  });

  test('calls in flight grow by one a success, until nothing is held back', () => {
    const {watch} = outage();
    watch.succeeded();
    const room = [watch.room(0, 0), watch.room(0, 2)];
    for (let n = 2; n < policyNumbers.largestRamp; n++) watch.succeeded();
    room.push(watch.room(0, 0));
    watch.succeeded();
    expect([...room, watch.room(0, 0)]).toEqual([2, 0, policyNumbers.largestRamp, Number.POSITIVE_INFINITY]);
  });

  test('values count from nothing', () => {
    const {watch, failed} = outage();
    watch.succeeded();
    expect(['w', 'x', 'y', 'z'].map(key => failed(key))).toEqual(Array(4).fill('value'));
  });
});

describe('a probe', () => {
  const roomAt = ({watch}: Watching, ...times: number[]) => times.map(now => watch.room(now, 0));

  test('is one, in its time, with longer and longer waits', () => {
    const it = outage();
    expect(roomAt(it, 0, 374, 375)).toEqual([0, 0, 1]);
    it.watch.sent('v0');
    expect(roomAt(it, 375)).toEqual([0]);
    it.failed('v0', 1_000);
    expect(roomAt(it, 1_749, 1_750)).toEqual([0, 1]);
    it.watch.sent('v9');
    it.notSent('v9', 2_000);
    expect(roomAt(it, 3_499, 3_500)).toEqual([0, 1]);
  });

  test('that says nothing makes room for the next; other calls say nothing of it', () => {
    const it = outage();
    it.watch.sent('v0');
    it.watch.inconclusive('v1');
    it.failed('v1', 375);
    expect(roomAt(it, 375)).toEqual([0]);
    it.watch.inconclusive('v0');
    expect(roomAt(it, 374, 375)).toEqual([0, 1]);
  });

  test('is a value that was not tried yet, where there is one', () => {
    const {watch} = outage();
    const candidates = (...of: string[]) =>
      watch.candidates(of.map(key => ({key, ...task(key === 'v1' ? 2 : 1)}))).map(({key}) => key);
    expect(candidates('v1', 'v9', 'v2')).toEqual(['v9']);
    // Else the one that may be sent more often.
    expect(candidates('v1', 'v2')).toEqual(['v2', 'v1']);
    watch.succeeded();
    expect(candidates('v1', 'v9')).toEqual(['v1', 'v9']);
  });

  test('waits longer than half a minute where few may be sent, so that they last as long as the outage may', () => {
    const waits = (sendsLeft: number) => {
      const it = outage({maxOutageMs: 10 * MINUTE, sendsLeft});
      let now = 0;
      return Array.from({length: 9}, () => {
        while (it.watch.room(now, 0) === 0) now += 125;
        it.watch.sent('v0');
        it.failed('v0', now, 503);
        return now;
      });
    };
    expect(waits(1_000).at(-1)).toBe(91_125);
    expect(waits(4).at(-1)).toBe(190_250);
    // The last one there is waits until a minute is over.
    expect(waits(1)[0]).toBe(MINUTE);
  });

  test('is sent at the very end of the time that an outage may last, and beyond it as before', () => {
    const it = outage({maxOutageMs: 1_000});
    it.watch.sent('v0');
    it.failed('v0', 375);
    expect(roomAt(it, 999, 1_000)).toEqual([0, 1]);
    expect([it.watch.overdue(999), it.watch.overdue(1_000)?.cause]).toEqual([undefined, 'down']);
    it.watch.sent('v0');
    it.failed('v0', 1_000);
    expect(roomAt(it, 1_000, 2_499, 2_500)).toEqual([0, 0, 1]);
  });
});

describe('values at which the service always breaks', () => {
  const poisoned = () => outage({pending: policyNumbers.outageValues});
  const lastCall = () => {
    const it = poisoned();
    it.watch.sent('v0');
    expect(it.failed('v0', MINUTE)).toBe('value for good');
    return it;
  };

  test('get one last call each after a minute, and are failed', () => {
    const it = poisoned();
    expect(it.failed('v0', MINUTE - 1)).toBe('service');
    expect(it.failed('v0', MINUTE)).toBe('value for good');
    expect(it.watch.current).toBeUndefined();
    expect(it.watch.overdue(1e12)).toBeUndefined();
    expect(it.watch.room(MINUTE, 0)).toBe(2);
    expect(it.failed('v1', MINUTE)).toBe('value for good');
    expect(it.watch.current).toBeUndefined();
  });

  test('are failed, whatever came in the meantime', () => {
    const it = lastCall();
    it.left.count = 99;
    expect(it.failed('v1', MINUTE)).toBe('value for good');
  });

  test('not while another value is left', () => {
    const it = poisoned();
    it.left.count = policyNumbers.outageValues + 1;
    expect(it.failed('v0', MINUTE)).toBe('service');
    it.watch.settled('v4');
    it.watch.settled('never failed');
    it.left.count = policyNumbers.outageValues;
    expect(it.watch.onlyFailingLeft).toBe(false);
    it.left.count = policyNumbers.outageValues - 1;
    expect(it.watch.onlyFailingLeft).toBe(true);
    expect(it.failed('v0', MINUTE)).toBe('value for good');
  });

  test.each([
    ['a gateway’s error', (it: Watching) => it.failed('v1', MINUTE, 503)],
    ['no connection', (it: Watching) => it.notSent('v1', MINUTE)],
  ])('not where one of them got %s', (_, get) => {
    const it = poisoned();
    get(it);
    expect(it.failed('v0', MINUTE)).toBe('service');
    expect(it.failed('v1', MINUTE)).toBe('value for good');
  });

  test.each([
    ['a gateway’s error', (it: Watching) => it.failed('v1', MINUTE, 503)],
    ['no connection', (it: Watching) => it.notSent('v1', MINUTE)],
    [
      'a value that was not tried before',
      (it: Watching) => {
        it.left.count = 99;
        return it.failed('v9', MINUTE);
      },
    ],
  ])('at the last call, %s: the outage continues', (_, get) => {
    const it = lastCall();
    it.watch.sent('v1');
    it.watch.sent('v2');
    expect(get(it)).not.toBe('value for good');
    expect(it.watch.current).toMatchObject({since: 0, probe: undefined});
  });
});
