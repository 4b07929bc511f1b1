import {describe, expect, test} from 'vitest';
import {noAttempts} from '../../../src/ledger/run/ledger-entry.ts';
import {CircuitBreaker} from '../../../src/lookup/pace/circuit-breaker.ts';
import {policyNumbers} from '../../../src/lookup/retry-policy.ts';

/** What nights (test/seams/night) do not show: the retry budget, the ramp, the choice of a probe, the last calls of values. */

const MINUTE = policyNumbers.patienceMs;
const ambiguous = (status?: number) =>
  ({kind: 'ambiguous', code: 'down', latencyMs: 1, ...(status && {status})}) as const;
const keys = (count: number) => Array.from({length: count}, (_, n) => `v${n}`);

interface Given {
  readonly maxOutageMs?: number;
  /** Values that are not settled. */
  readonly pending?: number;
}

const task = (doubts = 0) => ({entry: {history: {...noAttempts, doubts}}});

/** A watch with chance in the middle: waits are three quarters of their bound. Unless `pending` is given, more values come. */
function watching({maxOutageMs = 1e9, pending}: Given = {}) {
  const left = {count: pending};
  const open = () => (left.count === undefined ? undefined : Array.from({length: left.count}, () => task()));
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

describe('the retry budget', () => {
  test('begins an outage once it is empty, with one value too', () => {
    const {failed} = watching();
    const counted = Array.from({length: policyNumbers.budgetTokens}, () => failed('a'));
    expect(counted.indexOf('service')).toBe(policyNumbers.budgetTokens - 1);
  });

  test('gets a tenth of a retry for each success, and never more than there was', () => {
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

  test('holds a tenth at least after an outage', () => {
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
});

test('after an outage calls in flight grow by one a success, until nothing is held back', () => {
  const {watch} = outage();
  watch.succeeded();
  const room = [watch.room(0, 0), watch.room(0, 2)];
  for (let n = 2; n < policyNumbers.largestRamp; n++) watch.succeeded();
  room.push(watch.room(0, 0));
  watch.succeeded();
  expect([...room, watch.room(0, 0)]).toEqual([2, 0, policyNumbers.largestRamp, Number.POSITIVE_INFINITY]);
});

describe('a probe', () => {
  const roomAt = ({watch}: Watching, ...times: number[]) => times.map(now => watch.room(now, 0));

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

  test('not where one of them got no connection', () => {
    const it = poisoned();
    it.notSent('v1', MINUTE);
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
