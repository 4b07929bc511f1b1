import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {dateAfter, type KnownDate, SharedDate} from '../../src/disk/shared-date.ts';
import {Sqlite} from '../../src/disk/sqlite.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = 20_000 * DAY;

/** The known dates, and the leaps, after runs under these clocks, in days since the first one. */
function after(...days: readonly number[]) {
  let date: KnownDate = {agreed: 0, said: NOW, claimed: 0};
  const leaps = days.map(day => {
    const next = dateAfter(date, NOW + day * DAY);
    date = next.date;
    return next.leap ?? '-';
  });
  const day = (ms: number) => (ms === 0 ? undefined : (ms - NOW) / DAY);
  return [day(date.agreed), day(date.said), day(date.claimed), leaps.join(' ')];
}

test.each([
  ['a run on the same day agrees with nothing', [0.5], [undefined, 0, undefined, '-']],
  ['each night agrees with the one before', [1, 2, 3], [2, 3, undefined, '- - -']],
  ['so do runs of each hour, once a day', [0.3, 0.6, 0.9, 1.1, 1.4], [0, 0.9, undefined, '- - - - -']],
  ['and those of a monthly job', [31, 62], [31, 62, undefined, '- -']],
  ['a clock that is far ahead agrees with nothing', [1, 71], [0, 1, 71, '- ahead']],
  ['nor do more runs of its day', [1, 71, 71.5], [0, 1, 71, '- ahead ahead']],
  ['nor another that is further ahead', [1, 71, 400], [0, 1, 400, '- ahead ahead']],
  ['the right clock after it goes on as if it had not been', [1, 71, 2], [1, 2, undefined, '- ahead -']],
  ['after a long pause the second night is believed', [1, 71, 72], [71, 72, undefined, '- ahead -']],
  ['a clock that is behind agrees with nothing', [1, -30], [0, 1, -30, '- behind']],
  ['until a run on another day says so too', [1, -30, -29], [-30, -29, undefined, '- behind -']],
  ['an hour is no matter', [1, 1 - 1 / 24], [0, 1, undefined, '- -']],
] as const)('%s', (_, days, expected) => {
  expect(after(...days)).toEqual(expected);
});

test('a file knows the date from one run to the next, and each run is told once', () => {
  const directory = mkdtempSync(join(tmpdir(), 'bulk-enrich-date-'));
  const files = ['one.db', 'another.db'].map(
    name => new Sqlite(join(directory, name), {synchronous: 'OFF', busyTimeoutMs: 0}),
  );
  const told: string[] = [];
  const note = (day: number) => {
    const date = new SharedDate(
      () => NOW + day * DAY,
      sentence => told.push(sentence),
    );
    return files.map(file => file.transaction(() => date.note(file)))[0];
  };
  const days = ({
    certain,
    agreed = certain,
    earlier,
  }: Record<'certain' | 'earlier', number> & {agreed?: number}) => ({
    certain: NOW + certain * DAY,
    agreed: NOW + agreed * DAY,
    earlier: NOW + earlier * DAY,
  });
  expect(note(0)).toEqual({certain: 0, agreed: 0, earlier: 0, leaps: false});
  expect(note(1)).toEqual({...days({certain: 0, earlier: 0}), leaps: false});
  expect(told).toEqual([]);
  expect(note(71)).toEqual({...days({certain: 0, earlier: 1}), leaps: true});
  expect(told).toEqual([expect.stringMatching(/says 2024-12-14 .* more than 35 days after the last run/)]);
  // The certain date is not later than the clock.
  expect(note(-5)).toEqual({...days({certain: -5, agreed: 0, earlier: -5}), leaps: true});
  expect(told[1]).toMatch(/earlier than the last run/);
  for (const file of files) file.close();
  rmSync(directory, {recursive: true});
});
