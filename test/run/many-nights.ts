import {statSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {expect} from 'vitest';
import {filesUnder} from '../support/command.ts';
import {openStage, type Stage} from '../support/stage.ts';

const DAY = 86_400_000;
const ROWS = 12;

/** Everything that lies on the disk, with its size; the history has a year's runs, which is longer than any test. */
function sizesOf({directory}: Stage): Record<string, number> {
  const root = dirname(directory);
  return Object.fromEntries(
    filesUnder(root).map(name => [name, name.endsWith('runs.db') ? 0 : statSync(join(root, name)).size]),
  );
}

/** Addresses that no other night has; some stand in every list. */
function listOf(night: number): string {
  const own = Array.from({length: ROWS}, (_, n) => `198.18.${night}.${n}`);
  return `ip\n${['203.0.113.1', '203.0.113.2', ...own].join('\n')}\n`;
}

/** Nights after which the store lets go as many answers as it gets. */
const settled = (nights: number) => Math.ceil(nights * 0.6);

/** Runs a nightly job so often, and expects that in the last two fifths of the nights nothing on the disk grew. */
export async function expectNoGrowth(nights: number): Promise<void> {
  await using stage = await openStage();
  const name = 'nightly';
  const settings = {
    ip: 'ip',
    name,
    force: true,
    maxAge: 'ip=2d,rejected=2d',
    maxCreditsPerDay: 1_000,
    report: stage.path('out.html'),
    metrics: stage.path('out.prom'),
  };
  let first: Record<string, number> = {};
  for (let night = 0; night < nights; night++) {
    stage.write('list.csv', listOf(night));
    const now = () => Date.parse('2026-01-01T02:15:00Z') + night * DAY;
    const ended = await stage.run(settings, {fromFile: true, name, now});
    expect(ended).toMatchObject({code: 0, summary: {rows: {written: ROWS + 2}}});
    if (night === settled(nights)) first = sizesOf(stage);
  }
  const last = sizesOf(stage);
  expect(Object.keys(last)).toEqual(Object.keys(first));
  expect(Object.keys(last).filter(file => file.endsWith('.db'))).toHaveLength(3);
  // Numbers and times of other lengths are no growth.
  for (const [file, size] of Object.entries(last))
    expect(size, file).toBeLessThanOrEqual((first[file] ?? 0) * 1.05 + 32);
}
