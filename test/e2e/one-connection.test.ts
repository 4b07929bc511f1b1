import {expect, test} from 'vitest';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {startService} from './service.ts';

test('operations at rates of their own share one connection, and no call waits for it on its own time', async () => {
  await using service = await startService({latencyMs: 700});
  using sandbox = createSandbox();
  const rows = Array.from({length: 2}, (_, n) => `192.0.2.${n + 1},+1202555010${n},user${n}@example.com\n`);
  sandbox.write('in.csv', `ip,phone,email\n${rows.join('')}`);
  // One that waits for two others would be late, had it but its time.
  const rates = ['--rate', 'ip=50/s,phone=50/s,email=50/s', '--concurrency', '1', '--timeout', '1500ms'];
  const columns = ['--ip', 'ip', '--phone', 'phone', '--email', 'email', '--score', 'none'];
  const {code} = await runHere(sandbox, ['run', 'in.csv', ...rates, ...columns, '-o', 'out.csv'], service);
  expect(code).toBe(0);
  expect(service.ledger).toMatchObject({calls: 6, peakInFlight: 1});
  expect(sandbox.summary('out.summary.json').credits).toMatchObject({spent: 6, maybe_spent: 0});
});
