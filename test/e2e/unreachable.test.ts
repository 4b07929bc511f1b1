import {expect, test, vi} from 'vitest';
import {reply} from '../support/api-server-reply.ts';
import {createSandbox} from '../support/command.ts';
import {openArena} from '../support/crash.ts';
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

test('one operation of the service is down: the run warns, continues with the others, and resumes for a handful of calls', async () => {
  await using arena = await openArena();
  const {sandbox, api, env} = arena;
  const rows = Array.from({length: 200}, (_, n) => `u${n}@example.com,+49302312${5000 + n}`);
  sandbox.write('list.csv', `email,phone\n${rows.join('\n')}\n`);
  const run = (flags: string) =>
    runHere(sandbox, `run list.csv -o out.csv --email email --phone phone --rate unlimited ${flags}`, {env});
  const calls = {ip: 0, phone: 0, email: 0, verify: 0};
  let isDown = true;
  api.setScript(({operation}) => {
    calls[operation] += 1;
    return operation === 'phone' && isDown ? reply.unavailable() : undefined;
  });
  const stopped = await run('--max-outage 2s');
  expect(stopped.code).toBe(5);
  expect(stopped.stderr).toMatch(
    /Warning: The service answers no phone call \(http_503\), though it answers others\..* tries phone again/,
  );
  expect(stopped.stderr).toMatch(
    /has not answered phone calls since .* or with --publish-on outage to write/,
  );
  expect((await run('--max-outage 2s --publish-on outage')).code).toBe(3);
  const {phone, email} = sandbox.summary('out.summary.json').lookups;
  expect([email?.answered, phone?.answered, (phone?.skipped ?? 0) > 190]).toEqual([200, 0, true]);
  expect([calls.email, calls.phone < 80]).toEqual([200, true]);
  isDown = false;
  expect((await run('--force')).code).toBe(0);
  expect([calls.email, calls.phone < 280]).toEqual([200, true]);
});
