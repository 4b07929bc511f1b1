import {setTimeout as sleep} from 'node:timers/promises';
import {expect, test} from 'vitest';
import type {Spend} from '../../src/report/spend.ts';
import {startApiProcess} from '../support/api-process.ts';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {ips} from '../support/stage.ts';

const KEY = 'account-key-19be02';
const RATE = 40;
const EACH = 40;
/** What leaves is exact (test/ledger/shared-pace.test.ts); a busy machine brings some of it together on the way. */
const SEEN_AT_MOST = 1.25 * RATE;

test('an account is one for two processes: its rate and its credits hold over both, and over a kill', async () => {
  await using api = await startApiProcess({key: KEY, latency: 5});
  using sandbox = createSandbox();
  sandbox.write(
    '../home/config/bulk-enrich/accounts/production.yaml',
    `endpoint: ${api.url}\nrate: ${RATE}/s\nmax_credits_per_day: ${3 * EACH}\n`,
  );
  const env = {BULK_ENRICH_BASE_URL: api.url, BULK_ENRICH_API_KEY: KEY};
  const start = (n: number) => {
    sandbox.write(`${n}.csv`, ips(EACH, EACH * n));
    return sandbox.start(['run', `${n}.csv`, '--ip', 'ip', '--rate', 'unlimited'], {env});
  };
  const ended = await Promise.all([start(0).outcome, start(1).outcome]);
  expect(ended.map(({code}) => code)).toEqual([0, 0]);
  const {calls, max_per_second: busiest} = await api.ledger();
  expect(calls).toBe(2 * EACH);
  expect(busiest).toBeLessThanOrEqual(SEEN_AT_MOST);
  expect(busiest).toBeGreaterThanOrEqual(0.8 * RATE);

  // What is left of the day is no more than one of these two needs, and that one is killed under way.
  const killed = start(2);
  while ((await api.ledger()).calls <= 2 * EACH + 5) await sleep(20);
  const other = start(3);
  killed.kill('SIGKILL');
  expect(await killed.outcome).toMatchObject({signal: 'SIGKILL'});
  expect((await other.outcome).stderr).toContain('max_credits_per_day');
  expect(await runHere(sandbox, ['run', '2.csv', '--ip', 'ip', '--rate', 'unlimited'], {env})).toMatchObject({
    code: 7,
  });
  const {credits, max_per_second} = await api.ledger();
  expect(credits).toBeLessThanOrEqual(3 * EACH);
  // A killed process loses the rest of its block, which is 1%, and what it had reserved and not sent.
  expect(credits).toBeGreaterThanOrEqual(3 * EACH - 4);
  expect(max_per_second).toBeLessThanOrEqual(SEEN_AT_MOST);

  // The history lacks nothing of it: what the killed run spent is in the line of the one that went on.
  const {total} = JSON.parse((await runHere(sandbox, ['spend', '--json'])).stdout) as Spend;
  expect(total.spent).toBeLessThanOrEqual(credits);
  expect(total.spent + total.maybe_spent).toBeGreaterThanOrEqual(credits);
});
