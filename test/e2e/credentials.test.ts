import {expect, test} from 'vitest';
import {type Reply, reply} from '../support/api-server-reply.ts';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {ips} from '../support/stage.ts';
import {expectAccounts} from '../support/summary.ts';
import {expectNoKey, FAST, KEY, startService} from './service.ts';

test('a 401 on the first call: exit 6, one sentence, at most the calls in flight sent', async () => {
  await using service = await startService();
  using sandbox = createSandbox();
  service.setKey('another-key-entirely');
  sandbox.write('list.csv', ips(200));
  const outcome = await runHere(sandbox, ['run', 'list.csv', ...FAST], {env: service.env});
  expect(outcome).toMatchObject({code: 6, stdout: ''});
  const sentences = outcome.stderr.split('\n').filter(line => line.startsWith('Stopped: '));
  expect(sentences).toEqual([expect.stringMatching(/\(invalid_token\).*BULK_ENRICH_API_KEY/)]);
  expect(outcome.stderr).not.toContain('    at ');
  expect(service.ledger.calls).toBeLessThanOrEqual(16);
  const summaryFile = 'list.enriched.summary.json';
  expect(sandbox.files().filter(name => !name.includes('.run/'))).toEqual(['list.csv', summaryFile]);
  const summary = sandbox.summary(summaryFile);
  expect(summary).toMatchObject({status: 'failed', exit_code: 6, reason: 'credentials'});
  expect(summary.calls.total).toBe(service.ledger.calls);
  expectAccounts(summary);

  service.setKey(KEY);
  const again = await runHere(sandbox, ['run', 'list.csv', ...FAST], {env: service.env});
  expect(again, again.stderr).toMatchObject({code: 0});
  expect(sandbox.summary(summaryFile).resumed.times).toBe(1);
});

const NEXT = 'canary-key-of-tomorrow-9b8c7d';

test.each(['FILE', 'COMMAND'])(
  'a key that is replaced in its %s ends the run with exit 6, and the same command resumes with the new one',
  async kind => {
    await using service = await startService();
    using sandbox = createSandbox();
    const path = sandbox.write('../key', KEY);
    service.setScript(call => {
      if (call.call === 20) {
        service.setKey(NEXT);
        sandbox.write('../key', NEXT);
      }
      return undefined;
    });
    const {BULK_ENRICH_API_KEY: _, ...env} = service.env;
    sandbox.write('list.csv', ips(200));
    const command = `cat '${path}'; printf '\\033[2J\\n::error::soon\\n' >&2`;
    const source = {[`BULK_ENRICH_API_KEY_${kind}`]: kind === 'FILE' ? path : command};
    const run = () => runHere(sandbox, ['run', 'list.csv', ...FAST], {env: {...env, ...source}});
    const stopped = await run();
    expect(stopped, stopped.stderr).toMatchObject({code: 6});
    expect(stopped.stderr).toContain(`: check BULK_ENRICH_API_KEY_${kind}.`);
    const warning = 'Warning: The command in BULK_ENRICH_API_KEY_COMMAND says: ::error::soon\n';
    expect(stopped.stderr.includes(warning)).toBe(kind === 'COMMAND');
    expect(stopped.stderr).not.toMatch(/^::/m);
    const {wrongKey} = service.ledger;
    expect(wrongKey).toBeGreaterThan(0);
    expect(wrongKey).toBeLessThanOrEqual(64);
    const resumed = await run();
    expect(resumed, resumed.stderr).toMatchObject({code: 0});
    const summary = sandbox.summary('list.enriched.summary.json');
    expectAccounts(summary);
    expect(summary.calls).toMatchObject({total: service.ledger.calls});
    expect(summary.credits).toMatchObject({spent: 200, maybe_spent: 0});
    for (const key of [KEY, NEXT]) expectNoKey(sandbox, stopped.stderr + resumed.stderr, key);
  },
);

/** The key in answers, whole, broken and as an error. seams/wire.test.ts has all else that a service may do wrong. */
const echoes: readonly (() => Reply)[] = [
  () => reply.text(`{"success":true,"data":{"city":"${KEY}"`),
  () => reply.json({success: true, data: {city: 'x', request: {api_key: KEY}}}),
  () => reply.error(400, KEY),
  () => reply.error(422, `bad ${KEY}`),
  () => reply.error(500, KEY),
];

test('the key is nowhere but in the requests, whatever goes wrong', async () => {
  await using service = await startService();
  using sandbox = createSandbox();
  // Good values in between, so that it is the values that fail and not the service.
  service.setScript(({value, attempt}) => {
    const n = Number(value.split('.')[3]);
    return n % 2 === 0 && attempt === 1 ? echoes[n / 2]?.() : undefined;
  });
  sandbox.write('list.csv', ips(2 * echoes.length));
  const more = ['--log', 'trace', '--report', 'report.html', '--output-format', 'ndjson'];
  const outcome = await runHere(sandbox, ['run', 'list.csv', ...more, ...FAST], {env: service.env});
  expect(outcome.code, outcome.stderr).toBe(3);
  expect(service.ledger).toMatchObject({keyElsewhere: [], keySeen: service.ledger.calls});
  expectNoKey(sandbox, outcome.stdout + outcome.stderr);
  const summary = sandbox.summary('list.enriched.summary.json');
  expectAccounts(summary);
  expect(summary.calls.total).toBe(service.ledger.calls);
});

test('the key is nowhere after a redirect that has it in its address', async () => {
  await using service = await startService({script: () => reply.redirect(`http://127.0.0.1:9/?key=${KEY}`)});
  using sandbox = createSandbox();
  sandbox.write('list.csv', ips(3));
  const args = ['run', 'list.csv', '--log', 'trace', ...FAST];
  const outcome = await runHere(sandbox, args, {env: service.env});
  expect(outcome.code, outcome.stderr).toBe(2);
  expectNoKey(sandbox, outcome.stdout + outcome.stderr);
});

test.each([
  ['only the job file names it', 2, 0, () => ({})],
  ['the environment names another host', 2, 0, () => ({BULK_ENRICH_BASE_URL: 'https://api.example.com'})],
  ['the environment names its origin', 0, 1, (url: string) => ({BULK_ENRICH_BASE_URL: `${url}/v2`})],
  ['an account file of this user names it', 0, 1, () => ({}), 'endpoint: URL/v1\n'],
  ['a flag names it', 0, 1, () => ({}), undefined, (url: string) => ['--endpoint', url]],
  ['no call is made', 3, 0, () => ({}), undefined, () => ['--offline']],
])('a job file’s host gets the key: %s', async (_, code, calls, env, account?, flags?) => {
  await using service = await startService();
  using sandbox = createSandbox({'list.csv': 'ip\n8.8.8.8\n'});
  sandbox.write('job.yaml', `input: list.csv\nip: ip\nscore: none\nendpoint: ${service.url}\n`);
  if (account !== undefined)
    sandbox.write('../home/config/bulk-enrich/accounts/a.yaml', account.replace('URL', service.url));
  const given = {env: {BULK_ENRICH_API_KEY: KEY, ...env(service.url)}};
  const ended = await runHere(sandbox, ['run', '--job', 'job.yaml', ...(flags?.(service.url) ?? [])], given);
  expect([ended.code, service.ledger.requests], ended.stderr).toEqual([code, calls]);
  if (code !== 2) return;
  expect(ended.stderr).toMatch(/^Error: job.yaml:4: .*\n?.*export BULK_ENRICH_BASE_URL=http:/);
  const checked = await runHere(sandbox, ['doctor', '--job', 'job.yaml', '--call'], given);
  expect([checked.code, service.ledger.keySeen], checked.stdout).toEqual([2, 0]);
});
