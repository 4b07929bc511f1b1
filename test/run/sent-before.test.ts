import {readFileSync} from 'node:fs';
import {expect, test} from 'vitest';
import {takeLock} from '../../src/disk/lock.ts';
import {ips, openStage} from '../support/stage.ts';

const settings = {ip: 'ip', concurrency: 1};

test.each([
  ['another run holds this output', 11],
  ['this output exists', 2],
])('%s: exit %s of a run that made none, after one of an earlier day that made its own', async (_, code) => {
  await using stage = await openStage();
  const [yesterday, today] = [86_400_000, 0].map(ago =>
    new Date(Date.now() - ago).toISOString().slice(0, 10),
  );
  stage.write('list.csv', ips(20));
  const daily = {...settings, output: 'out-{date}.csv'};
  expect((await stage.stopAt(5, {...daily, date: yesterday})).code).toBe(130);
  if (code === 2) stage.write(`out-${today}.csv`, 'mine');
  const lock =
    code === 11 ? takeLock(stage.path(`out-${today}.csv.run`), {ours: true, busy: who => who}) : undefined;
  const before = stage.api.ledger.calls;
  const ended = await stage.run(daily);
  lock?.release();
  expect([ended.code, ended.summary]).toEqual([code, undefined]);
  expect(stage.api.ledger.calls).toBe(before + 15);
  const earlier = JSON.parse(readFileSync(stage.path(`out-${yesterday}.summary.json`), 'utf8'));
  expect(earlier).toMatchObject({status: 'completed', credits: {spent: 20}});
});
