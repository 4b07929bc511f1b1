import {statSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {expect} from 'vitest';
import {filesUnder} from '../support/command.ts';
import {openStage, type Stage} from '../support/stage.ts';

const DAY = 86_400_000;
const ROWS = 12;

type Sizes = Readonly<Record<string, number>>;

/** Everything that lies on the disk, with its size. The files of the history, one for each night, count as one. */
function sizesOf({directory}: Stage): Sizes {
  const root = dirname(directory);
  const sizes: Record<string, number> = {};
  for (const path of filesUnder(root)) {
    const name = path.replace(/(?<=\/runs\/)[\w-]+(?=\.json$)/, 'RUN');
    sizes[name] = (sizes[name] ?? 0) + statSync(join(root, path)).size;
  }
  return sizes;
}

/** The largest that each file was: what is written anew each night is as long as that night's answers are. */
function largest(nights: readonly Sizes[]): Sizes {
  const most: Record<string, number> = {};
  for (const night of nights)
    for (const [file, size] of Object.entries(night)) most[file] = Math.max(most[file] ?? 0, size);
  return most;
}

/** Addresses that no other night has; some stand in every list. */
function listOf(night: number): string {
  const own = Array.from({length: ROWS}, (_, n) => `198.18.${night}.${n}`);
  return `ip\n${['203.0.113.1', '203.0.113.2', ...own].join('\n')}\n`;
}

/** Growth of the history per night: a file for a year. */
const HISTORY_A_NIGHT = 5_000;
/** A report's timeline has a line for each stretch of its night: more where the machine was busy. */
const TIMELINE = 5_000;

/**
 * Runs a nightly job so often, and expects that in the last third of the nights nothing on the disk was larger than in the
 * third before. Returns both.
 */
export async function expectNoGrowth(nights: number): Promise<readonly [before: Sizes, last: Sizes]> {
  await using stage = await openStage();
  const name = 'nightly';
  stage.account('a.yaml', 'endpoint: URL\nmax_credits_per_day: 1000\n');
  const settings = {
    ip: 'ip',
    name,
    force: true,
    maxAge: 'ip=2d,rejected=2d',
    report: stage.path('out.html'),
    metrics: stage.path('out.prom'),
  };
  const sizes: Sizes[] = [];
  for (let night = 0; night < nights; night++) {
    stage.write('list.csv', listOf(night));
    const now = () => Date.parse('2026-01-01T02:15:00Z') + night * DAY;
    const ended = await stage.run(settings, {fromFile: true, name, now});
    expect(ended).toMatchObject({code: 0, summary: {rows: {written: ROWS + 2}}});
    sizes.push(sizesOf(stage));
  }
  const third = Math.ceil(nights / 3);
  const before = largest(sizes.slice(-2 * third, -third));
  const last = largest(sizes.slice(-third));
  expect(Object.keys(last).sort()).toEqual(Object.keys(before).sort());
  expect(Object.keys(last).filter(file => file.endsWith('.db'))).toHaveLength(3);
  for (const [file, size] of Object.entries(last)) {
    const mayGrow = file.includes('/runs/') ? third * HISTORY_A_NIGHT : file.endsWith('.html') ? TIMELINE : 0;
    // Numbers and times of other lengths are no growth.
    expect(size, file).toBeLessThanOrEqual((before[file] ?? 0) * 1.05 + 32 + mayGrow);
  }
  return [before, last];
}
