import {expect, test, vi} from 'vitest';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {ips} from '../support/stage.ts';
import {until} from '../support/until.ts';
import {KEY} from './service.ts';

const HINT = "Warning: The service can't be used (econnrefused). The run tries again by itself, until ";

/** All that the command wrote so far: a mock is in the place of stderr. */
function said(): string {
  const {write} = process.stderr;
  return vi.isMockFunction(write) ? write.mock.calls.flat().join('') : '';
}

test('a service that was never reached: the run says at once that it waits, and that the address may be wrong', async () => {
  using sandbox = createSandbox();
  sandbox.write('list.csv', ips(9));
  // No service listens on the discard port.
  const env = {BULK_ENRICH_BASE_URL: 'http://127.0.0.1:9', BULK_ENRICH_API_KEY: KEY};
  const run = runHere(sandbox, 'run list.csv --ip ip --rate unlimited', {env});
  await until(() => said().includes(HINT));
  process.emit('SIGTERM', 'SIGTERM');
  const {code, stderr} = await run;
  expect(code).toBe(143);
  expect(stderr.split(HINT)).toHaveLength(2);
  expect(stderr).toMatch(
    /\(--max-outage\)\. If the address may be wrong, stop it and run bulk-enrich doctor\.$/m,
  );
});
