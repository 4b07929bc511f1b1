import {expect, test} from 'vitest';
import {lacks} from '../support/real-parts.ts';
import {killAt, uninterrupted} from './points.ts';

test.skipIf(lacks('strace'))(
  'a run killed at a rename, an unlink, an fsync or a write resumes as if nothing had happened',
  {timeout: 120_000},
  async () => {
    const calm = await uninterrupted();
    const rare = calm.points.filter(({call}) => call === 'rename');
    const others = calm.points.filter(({call}) => call !== 'rename');
    const step = Math.ceil(others.length / 3);
    let kills = 0;
    for (const point of [...rare, ...others.filter((_, i) => i % step === step - 1)])
      if ((await killAt(point, calm)).killed) kills += 1;
    expect(kills).toBeGreaterThan(5);
  },
);
