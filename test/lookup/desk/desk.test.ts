import {expect, test} from 'vitest';
import {playRandomNights} from './nights.ts';
import {play, services} from './play.ts';

/** The desk alone, in virtual time. test/seams has nights of whole runs. */

const least: Readonly<Record<string, number>> = {
  '8 at once, 100 ms': 0.75,
  'connections break above 20 at once': 0.5,
};

test.each(services)(
  '%s: near the ideal, a quarter of the calls refused at most',
  (name, options, make, ideal) => {
    const {values = 1_500} = options;
    const {told, lastTold, refused, sent} = play({...options, values}, make());
    const answered = [...told.values()].filter(({status}) => status === 'ok').length;
    expect({told: told.size, isAnswered: answered >= 0.99 * values}).toEqual({
      told: values,
      isAnswered: true,
    });
    expect(refused).toBeLessThanOrEqual(sent.length / 4);
    expect((told.size * 1_000) / lastTold / ideal).toBeGreaterThan(least[name] ?? 0.85);
  },
);

test('random nights: each value is told once, no limit, rate or pause is exceeded, and the books are the service’s', () => {
  expect(playRandomNights(1, 2_500)).toEqual([]);
});
