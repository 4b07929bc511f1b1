import {expect, test} from 'vitest';
import type {Spend} from '../../src/report/run-record.ts';
import {openArena} from '../support/crash.ts';
import {runHere} from '../support/main.ts';
import {ips} from '../support/stage.ts';
import {until} from '../support/until.ts';

const RATE = 40;
const EACH = 40;
/** The rate at the sender is exact (test/sim); the log includes the way to a connection. */
const SEEN_AT_MOST = 1.25 * RATE;
const FLAGS = ['--ip', 'ip', '--rate', 'unlimited', '--log', 'trace'];

/**
 * When calls left, by the clock of those that made them: on the way to the service a busy machine brings some together.
 * From logs at `trace`, to a millisecond, and with the way to a connection in it.
 */
function departures(log: string): number[] {
  const calls = log.split('\n').filter(line => line.includes('"msg":"call"'));
  return calls.map(line => JSON.parse(line)).map(({time, ms}) => time - ms);
}

/** Calls of a log that left in its busiest second. */
function busiestSecond(log: string): number {
  const times = departures(log);
  return Math.max(...times.map(end => times.filter(time => time <= end && time > end - 1_000).length));
}

test('two processes of an account: its rate holds for each, its credits for both, and over a kill', async () => {
  await using arena = await openArena({latencyMs: 5});
  const {sandbox, api, env} = arena;
  sandbox.write(
    '../home/config/bulk-enrich/accounts/production.yaml',
    `endpoint: ${api.url}\nrate: ${RATE}/s\nmax_credits_per_day: ${3 * EACH}\n`,
  );
  const start = (n: number) => {
    sandbox.write(`${n}.csv`, ips(EACH, EACH * n));
    return sandbox.start(['run', `${n}.csv`, ...FLAGS], {env});
  };
  const ended = await Promise.all([start(0).outcome, start(1).outcome]);
  expect(ended.map(({code}) => code)).toEqual([0, 0]);
  expect(api.ledger.calls).toBe(2 * EACH);
  for (const {stderr} of ended) {
    expect(departures(stderr)).toHaveLength(EACH);
    expect(busiestSecond(stderr)).toBeLessThanOrEqual(SEEN_AT_MOST);
  }

  // The rest of the day suffices for one of these two, and that one is killed under way.
  const killed = start(2);
  await until(() => api.ledger.calls > 2 * EACH + 5);
  const other = start(3);
  killed.kill('SIGKILL');
  const later = await Promise.all([killed.outcome, other.outcome]);
  expect(later[0]).toMatchObject({signal: 'SIGKILL'});
  expect(later[1].stderr).toContain('max_credits_per_day');
  const again = await runHere(sandbox, ['run', '2.csv', ...FLAGS], {env});
  expect(again).toMatchObject({code: 7});
  const {credits} = api.ledger;
  expect(credits).toBeLessThanOrEqual(3 * EACH);
  // A killed process loses the rest of its block, which is 1%, and what it had reserved and not sent.
  expect(credits).toBeGreaterThanOrEqual(3 * EACH - 4);

  // The history is complete: the resumed run's line has the spending of the killed one.
  const {total} = JSON.parse((await runHere(sandbox, ['spend', '--json'])).stdout) as Spend;
  expect(total.spent).toBeLessThanOrEqual(credits);
  expect(total.spent + total.maybe_spent).toBeGreaterThanOrEqual(credits);
});
