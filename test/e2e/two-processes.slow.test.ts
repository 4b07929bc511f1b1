import {expect, test} from 'vitest';
import {createSandbox} from '../support/command.ts';
import {ips} from '../support/stage.ts';
import {until} from '../support/until.ts';
import {FAST, startService} from './service.ts';

const run = (output: string) => ['run', 'list.csv', '-o', output, ...FAST, '--concurrency', '8'];

/** Kills the first of two commands over one list at the service's n-th call. Returns the number of calls. */
async function killedAt(call: number): Promise<number> {
  await using service = await startService({latencyMs: 150});
  using sandbox = createSandbox({'list.csv': ips(40)});
  const {env} = service;
  const killed = sandbox.start(run('a.csv'), {env});
  await until(() => service.ledger.calls >= 8);
  const other = sandbox.start(run('b.csv'), {env});
  await until(() => service.ledger.calls >= call);
  killed.kill('SIGKILL');
  expect(await other.outcome).toMatchObject({code: 0});
  return service.ledger.calls;
}

test('the other command buys what a killed one had in flight, and nothing that was answered: 40 values, at most 48 calls', async () => {
  const calls: number[] = [];
  for (let round = 0; round < 20; round += 4)
    calls.push(...(await Promise.all([9, 10, 11, 12].map(call => killedAt(call + round)))));
  expect(Math.max(...calls), String(calls)).toBeLessThanOrEqual(48);
}, 300_000);
