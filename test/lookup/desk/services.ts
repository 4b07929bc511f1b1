import type {Attempt} from '../../../src/client/attempt.ts';
import type {Rate} from '../../../src/job/setting-types.ts';
import {randomOf} from '../../support/random.ts';
import {broken, busy, ok, play, type Reply, reset, type Service} from './play.ts';

const s = (count: number) => ({count, perMs: 1_000});
const m = (count: number) => ({count, perMs: 60_000});

/** How a service replies; made anew for each play, as some of them count. */
type Manner = () => Service;
const calm: Manner = () => () => ({attempt: ok});
const crowded = (most: number, attempt: Attempt): Manner => {
  return () =>
    ({open}) => ({attempt: open > most ? attempt : ok});
};
const slowsDown: Manner =
  () =>
  ({open}) => ({attempt: ok, ms: 50 + Math.max(0, open - 8) * 6.25});
const share = (p: number, other: Reply, seed: number): Manner => {
  return () => {
    const luck = randomOf(seed);
    return () => (luck() < p ? other : {attempt: ok});
  };
};
/** A bucket of as many calls as `rate` refills in a second. */
const bucket = (rate: number, waitMs: number): Manner => {
  return () => {
    let level = rate;
    let last = 0;
    return ({t}) => {
      level = Math.min(rate, level + ((t - last) / 1_000) * rate);
      last = t;
      if (level < 1) return {attempt: busy(waitMs)};
      level -= 1;
      return {attempt: ok};
    };
  };
};
const windowed = (count: number, ms: number, waits: boolean): Manner => {
  return () => {
    let start = 0;
    let n = 0;
    return ({t}) => {
      if (t - start >= ms) [start, n] = [t - (t % ms), 0];
      return {attempt: n++ < count ? ok : busy(waits ? Math.ceil((start + ms - t) / 1_000) * 1_000 : 0)};
    };
  };
};

/** A service as it is: its name, its ideal in calls a second, the run's rate, its latency and its manner. */
const service = (
  name: string,
  ideal: number,
  rate: Rate | 'unlimited',
  latencyMs: number,
  manner: Manner,
  more: {readonly values?: number; readonly maxOutageMs?: number} = {},
) => [name, {rate, latencyMs, ...more}, manner, ideal] as const;

/** Of 100 calls, four have all wait for 1.04 s. */
const HELD = 1 / (1 / 50 + 0.04 * 1.04);

export const services = [
  service('calm, 50/s', 50, s(50), 20, calm),
  service('slow answers (1.5 s), 40/s', 40, s(40), 1_500, calm),
  service('10 a minute', 10 / 60, m(10), 20, calm, {values: 60}),
  service('4% 503, Retry-After 1', 48, s(50), 20, share(0.04, {attempt: busy(1_000, 503)}, 3)),
  service('4% 429, Retry-After 1 (all wait)', HELD, s(50), 20, share(0.04, {attempt: busy(1_000)}, 3)),
  service('5% 429 without a word', 47.5, s(50), 20, share(0.05, {attempt: busy()}, 7)),
  service('8% 500', 46, s(50), 20, share(0.08, {attempt: broken}, 9)),
  service('8% 500 at once, answers 1.5 s', 36.8, s(40), 1_500, share(0.08, {attempt: broken, ms: 5}, 9)),
  service('3% reset', 48.5, s(50), 20, share(0.03, {attempt: reset}, 11)),
  service('bucket 40/s under 200/s, Retry-After 1', 40, s(200), 20, bucket(40, 1_000)),
  service('bucket 40/s under 200/s, silent', 40, s(200), 20, bucket(40, 0)),
  service('bucket 5/s under 200/s, silent', 5, s(200), 20, bucket(5, 0)),
  service('10 in each second under 100/s, Retry-After 1', 10, s(100), 100, windowed(10, 1_000, true)),
  service('40 in each second under 200/s, silent', 40, s(200), 20, windowed(40, 1_000, false)),
  service('150 in each 5 s, Retry-After', 30, s(200), 20, windowed(150, 5_000, true)),
  service('600 a minute, Retry-After', 10, s(50), 20, windowed(600, 60_000, true)),
  service('600 a minute, silent', 10, s(50), 20, windowed(600, 60_000, false)),
  service('60 a minute, silent', 1, s(50), 20, windowed(60, 60_000, false), {values: 300}),
  service('1,000 an hour, silent', 1_000 / 3_600, s(50), 20, windowed(1_000, 3_600_000, false), {
    ...{values: 3_500, maxOutageMs: 7_200_000},
  }),
  service('8 at once, 100 ms', 80, s(200), 100, crowded(8, busy())),
  service('latency that rises with load', 160, s(200), 50, slowsDown),
  service('connections break above 20 at once', 200, s(400), 100, crowded(20, reset)),
  service('unlimited, 64 at once, 20 ms', 3_200, 'unlimited', 20, calm, {values: 20_000}),
];

/** Shares of the ideal, where it can't be had: what a limit of calls at once costs to find. */
const least: Readonly<Record<string, number>> = {
  '8 at once, 100 ms': 0.75,
  'connections break above 20 at once': 0.5,
};

/** Plays one service of the table. Returns each promise that does not hold. */
export function playService(
  [name, options, make, ideal]: (typeof services)[number],
  values: number,
): readonly string[] {
  const {told, lastTold, refused, sent} = play({...options, values}, make());
  const answered = [...told.values()].filter(({status}) => status === 'ok').length;
  const share = (told.size * 1_000) / lastTold / ideal;
  return [
    told.size === values ? '' : `${told.size} of ${values} values are told`,
    answered >= 0.99 * values ? '' : `${answered} of ${values} values are answered`,
    refused <= sent.length / 4 ? '' : `${refused} of ${sent.length} calls are refused`,
    share >= (least[name] ?? 0.85) ? '' : `${share.toFixed(2)} of the ideal`,
  ].flatMap(fault => (fault === '' ? [] : [`${name}: ${fault}`]));
}
