import {describe, expect, test} from 'vitest';
import {playRandomNights} from './nights.ts';
import {broken, ok, type PlayOptions, play, rejected} from './play.ts';
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
  /** Half of the values are of each operation. Its calls, by time; and how many values of each ended how. */
  const night = (isDown: (t: number) => boolean, more: Partial<PlayOptions> = {}) => {
    const calls = {ip: [] as number[], email: [] as number[]};
    const operationOf = (value: number) => (value % 2 === 0 ? 'ip' : 'email');
    const rate = {count: 50, perMs: 1_000};
    const options = {values: 1_000, latencyMs: 20, rate, maxOutageMs: 600_000, operationOf, ...more};
    const {told, stop, notices} = play(options, ({value, t}) => {
      calls[operationOf(value)].push(t);
      return {attempt: operationOf(value) === 'email' && isDown(t) ? broken : ok};
    });
    const ends = {ip: new Map<string, number>(), email: new Map<string, number>()};
    for (const [value, {status}] of told) {
      const counts = ends[operationOf(value)];
      counts.set(status, (counts.get(status) ?? 0) + 1);
    }
    return {calls, stop, notices, ip: Object.fromEntries(ends.ip), email: Object.fromEntries(ends.email)};
  };

  test('gets a call now and then, and the other keeps its pace', () => {
    const {calls, stop, notices, ip, email} = night(() => true);
    expect([ip, email, stop?.kind]).toEqual([{ok: 500}, {}, 'outage']);
    expect(notices).toEqual(['down', 'stopped']);
    expect(calls.ip.at(-1)).toBeLessThan(12_000);
    expect(calls.email.length).toBeLessThan(80);
  });

  test('is looked up once it answers', () => {
    const {stop, ip, email, calls} = night(t => t < 8_000);
    expect([ip, email, stop]).toEqual([{ok: 500}, {ok: 500}, undefined]);
    expect(calls.email.length).toBeLessThan(550);
  });

  test('ends without calls after the longest outage if the run publishes', () => {
    const more = {publishOn: ['outage'] as const, maxOutageMs: 5_000};
    const {stop, ip, email, calls} = night(() => true, more);
    const {skipped = 0, failed = 0} = email;
    expect([ip, stop, skipped + failed]).toEqual([{ok: 500}, undefined, 500]);
    expect(failed).toBeLessThan(4);
    expect(calls.email.length).toBeLessThan(40);
  });

  test('costs no more credits than there are, and its values end with the others', () => {
    const {ip, email} = night(() => true, {maxCredits: 300, publishOn: ['budget']});
    expect((ip.ok ?? 0) + (ip.skipped ?? 0)).toBe(500);
    expect(email.skipped ?? 0).toBeGreaterThan(490);
  });
});
