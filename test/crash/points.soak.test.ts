import {expect, test} from 'vitest';
import {lacks} from '../support/real-parts.ts';
import {killAt, uninterrupted} from './points.ts';

const POINTS = Number(process.env.SOAK_POINTS ?? 100);

test.skipIf(lacks('strace'))(
  `killed at each of the first ${POINTS} points at which the disk changes`,
  async () => {
    const calm = await uninterrupted();
    // Of the many writes the first that fit; of all else everything, or as many as asked for, spread over the run.
    const rare = calm.points.filter(({call}) => call !== 'pwrite64');
    const writes = calm.points.filter(({call}) => call === 'pwrite64');
    const step = Math.max(1, rare.length / POINTS);
    const points = rare.filter((_, i) => Math.floor(i / step) > Math.floor((i - 1) / step));
    points.push(...writes.slice(0, POINTS - points.length));
    let kills = 0;
    for (const point of points) if ((await killAt(point, calm)).killed) kills += 1;
    console.log(`${points.length} points, ${kills} kills`);
    expect(kills).toBeGreaterThan(0.8 * points.length);
  },
);
