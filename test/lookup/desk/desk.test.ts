import {describe, expect, test} from 'vitest';
import type {Attempt} from '../../../src/client/attempt.ts';
import {playRandomNights} from './nights.ts';
import {broken, busy, ok, type PlayOptions, play, rejected, unsent} from './play.ts';
import {playService, services} from './services.ts';

/** The desk alone, in virtual time. test/seams has nights of whole runs. */

const isSoak = process.env.SOAK !== undefined;

test.each(services)('%s: near the ideal, a quarter of the calls refused at most', (...service) => {
  expect(playService(service, isSoak ? 20_000 : (service[1].values ?? 1_500))).toEqual([]);
});

test('random nights: each value is told once, no limit, rate or pause is exceeded, and the books are the service’s', () => {
  expect(isSoak ? playRandomNights(1_000_000, 100_000) : playRandomNights(1, 2_500)).toEqual([]);
  // Rare ones that once broke a promise: in an outage the last value ended for want of credits.
  for (const night of [1_002_012, 1_065_181]) expect(playRandomNights(night, 1)).toEqual([]);
});

test('a refusal that ends the calls is told once', () => {
  const forbidden = {...rejected('forbidden'), status: 403} as const;
  const {notices} = play({values: 50, latencyMs: 20, isAnswered: () => true}, () => ({attempt: forbidden}));
  expect(notices).toEqual(['stopped']);
});

describe('an operation that fails while another is answered', () => {
  type Reply = (t: number) => Attempt;
  /** Half of the values are of each operation. Its calls, by time; and how many values of each ended how. */
  const night = (email: Reply, more: Partial<PlayOptions> = {}, ip: Reply = () => ok) => {
    const calls = {ip: [] as number[], email: [] as number[]};
    const operationOf = (value: number) => (value % 2 === 0 ? 'ip' : 'email');
    const rate = {count: 50, perMs: 1_000};
    const options = {values: 1_000, latencyMs: 20, rate, maxOutageMs: 600_000, operationOf, ...more};
    const {told, stop, notices} = play(options, ({value, t}) => {
      calls[operationOf(value)].push(t);
      return {attempt: operationOf(value) === 'email' ? email(t) : ip(t)};
    });
    const ends = {ip: new Map<string, number>(), email: new Map<string, number>()};
    for (const [value, {status}] of told) {
      const counts = ends[operationOf(value)];
      counts.set(status, (counts.get(status) ?? 0) + 1);
    }
    return {calls, stop, notices, ip: Object.fromEntries(ends.ip), email: Object.fromEntries(ends.email)};
  };
  const down: Reply = () => broken;
  const downUntil =
    (end: number): Reply =>
    t =>
      t < end ? broken : ok;

  test('gets a call now and then, and the other keeps its pace', () => {
    const {calls, stop, notices, ip, email} = night(down);
    expect([ip, email]).toEqual([{ok: 500}, {}]);
    expect(stop).toMatchObject({kind: 'outage', operation: 'email', why: 'too long'});
    expect(notices).toEqual(['down', 'stopped']);
    expect(calls.ip.at(-1)).toBeLessThan(12_000);
    expect(calls.email.length).toBeLessThan(80);
    // The limit counts from its first failure, and not from the last value of the other.
    expect(calls.email.at(-1)).toBeLessThan(630_000);
  });

  test('is looked up once it answers', () => {
    const {stop, ip, email, calls} = night(downUntil(8_000));
    expect([ip, email, stop]).toEqual([{ok: 500}, {ok: 500}, undefined]);
    expect(calls.email.length).toBeLessThan(550);
  });

  test('is told once, however often it comes back', () => {
    const {notices, email} = night(t => (t % 20_000 < 10_000 ? broken : ok), {values: 4_000});
    expect([notices, email]).toEqual([['down'], {ok: 2_000}]);
  });

  test('is told once the other is answered, though it failed before', () => {
    const {notices} = night(down, {values: 200}, t => (t < 1_000 ? busy(1_000) : ok));
    expect(notices).toEqual(['down', 'stopped']);
  });

  test('gets no more calls if these are then throttled, and the other keeps its pace', () => {
    const {calls, ip} = night(t => (t < 2_000 ? broken : busy()));
    expect(ip).toEqual({ok: 500});
    expect(calls.ip.at(-1)).toBeLessThan(12_000);
    expect(calls.email.length).toBeLessThan(80);
  });

  test('does not test if an outage of the whole service is over: the other does', () => {
    const away = (t: number) => t > 5_000 && t < 65_000;
    const {calls, ip} = night(
      t => (away(t) ? unsent : broken),
      {},
      t => (away(t) ? unsent : ok),
    );
    expect(ip).toEqual({ok: 500});
    expect(calls.ip.at(-1)).toBeLessThan(110_000);
  });

  test('is not one that fails with all others', () => {
    const all = (t: number) => (t > 1_000 && t < 300_000 ? broken : ok);
    const operationOf = (value: number) => (value % 20 === 0 ? 'ip' : 'email');
    const rate = {count: 200, perMs: 1_000};
    const {notices} = play({values: 2_000, latencyMs: 300, rate, operationOf}, ({t}) => ({attempt: all(t)}));
    expect(notices).toEqual([]);
  });

  test.each([300, 30_000])('does not hold up the list if a failure takes %i ms', ms => {
    const operationOf = (value: number) => (value % 2 === 0 ? 'ip' : 'email');
    let answered = 0;
    let last = 0;
    const {notices} = play({values: 4_000, latencyMs: 5, operationOf}, ({value, t}) => {
      if (operationOf(value) === 'email') return {attempt: broken, ms};
      answered += 1;
      last = t;
      return {attempt: ok};
    });
    expect([answered, notices]).toEqual([2_000, ['down', 'stopped']]);
    // By then its first few calls have failed, four at a time.
    expect(last).toBeLessThan(3 * ms);
  });

  test('does not hold up the list if the others come late, as in a run that knows the first ones', () => {
    const operationOf = (value: number) => (value > 1_000 && value % 2 === 0 ? 'ip' : 'email');
    const {told} = play({values: 2_000, latencyMs: 20, operationOf}, ({value}) => ({
      attempt: operationOf(value) === 'ip' ? ok : broken,
    }));
    expect([...told.values()].filter(({status}) => status === 'ok')).toHaveLength(499);
  });

  test('is tried with any of its values, as some of them may break the service', () => {
    const rate = {count: 2, perMs: 1_000};
    const lanes = [
      {name: 'all', operations: ['ip'], rate},
      {name: 'email', operations: ['email'], rate: 'unlimited'},
    ] as const;
    const operationOf = (value: number) => (value % 2 === 0 ? 'ip' : 'email');
    const breaks = (value: number) => operationOf(value) === 'email' && value < 400;
    const options = {values: 2_000, latencyMs: 20, rate, lanes, operationOf, maxOutageMs: 600_000};
    const {told} = play(options, ({value}) => ({attempt: breaks(value) ? broken : ok}));
    expect([...told.values()].filter(({status}) => status === 'ok')).toHaveLength(1_800);
  });

  test('ends without calls after the longest outage if the run publishes', () => {
    const more = {publishOn: ['outage'] as const, maxOutageMs: 5_000};
    const {stop, ip, email, calls} = night(down, more);
    const {skipped = 0, failed = 0} = email;
    expect([ip, stop, skipped + failed]).toEqual([{ok: 500}, undefined, 500]);
    expect(failed).toBeLessThan(4);
    expect(calls.email.length).toBeLessThan(40);
  });

  test('ends alone also if its values fill the rows that a run holds, and is tried for those that follow', () => {
    const more = {publishOn: ['outage'] as const, maxOutageMs: 60_000, mostOpen: 96};
    const {ip, email, calls, notices} = night(down, more);
    expect([ip, email, notices]).toEqual([{ok: 500}, {skipped: 500}, ['down']]);
    expect(calls.ip.at(-1)).toBeLessThan(90_000);
    const later = night(downUntil(65_000), {...more, values: 6_000});
    expect(later.ip).toEqual({ok: 3_000});
    expect(later.email.ok).toBeGreaterThan(1_000);
  });

  test('ends with another one that is down, and not with the third', () => {
    const operationOf = (value: number) => (['ip', 'email', 'phone'] as const)[value % 3] ?? 'ip';
    const more = {publishOn: ['outage'] as const, maxOutageMs: 60_000, mostOpen: 144};
    const {told, notices} = play({values: 1_500, latencyMs: 20, operationOf, ...more}, ({value}) => ({
      attempt: operationOf(value) === 'ip' ? ok : broken,
    }));
    expect([...told.values()].filter(({status}) => status === 'ok')).toHaveLength(500);
    expect(notices).toEqual(['down', 'down']);
  });

  test('costs no more credits than there are, and its values end with the others', () => {
    const {ip, email} = night(down, {maxCredits: 300, publishOn: ['budget']});
    expect((ip.ok ?? 0) + (ip.skipped ?? 0)).toBe(500);
    expect(email.skipped ?? 0).toBeGreaterThan(490);
  });
});
