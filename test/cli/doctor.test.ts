import {once} from 'node:events';
import {chmodSync, chownSync, mkdirSync} from 'node:fs';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {expect, test} from 'vitest';
import type {Check} from '../../src/cli/commands/doctor-checks.ts';
import {startApiServer} from '../support/api-server.ts';
import {reply} from '../support/api-server-reply.ts';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {opened} from '../support/opened.ts';
import {ips} from '../support/stage.ts';
import {until} from '../support/until.ts';

const KEY = 'canary-key-5c91d07e33';

const sandbox = opened(createSandbox);

async function doctor(flags: string, env: Record<string, string> = {}) {
  const args = `doctor --json ${flags}`.trim();
  // Node reads which certificates to trust as it starts.
  const starts = env.NODE_EXTRA_CA_CERTS !== undefined;
  const ended = starts ? sandbox.run(args.split(' '), {env}) : runHere(sandbox, args, {env});
  const {code, stdout, stderr} = await ended;
  expect(stdout + stderr).not.toContain('canary-key');
  const {checks} = JSON.parse(stdout) as {checks: Check[]};
  const of = (name: string) => checks.find(check => check.name === name);
  return {code, stderr, of, told: (name: string) => `${of(name)?.state}: ${of(name)?.detail}`};
}

const account = (name: string, text: string) =>
  sandbox.write(`../home/config/bulk-enrich/accounts/${name}.yaml`, text);
const live = (url: string, key = KEY) => ({BULK_ENRICH_BASE_URL: url, BULK_ENRICH_API_KEY: key});

test('a service that answers: nothing is charged, the key is not shown, nothing is left behind', async () => {
  await using server = await startApiServer({key: KEY});
  const found = await doctor('', live(server.url));
  expect(found.code).toBe(0);
  expect(found.of('configuration')?.detail).toContain(`a key of ${KEY.length} characters (******)`);
  for (const name of ['connection', 'clock', 'proxy', 'output', 'state', 'store'])
    expect([name, found.of(name)?.state]).toEqual([name, 'ok']);
  // It is plain HTTP, on the machine itself, and no call was asked for.
  expect([found.of('tls')?.state, found.of('call')?.state]).toEqual(['skipped', 'skipped']);
  expect(found.of('call')?.detail).toBe('the key was not tested; --call tests it (1 credit)');
  expect([server.ledger.calls, server.ledger.keySeen, server.ledger.keyElsewhere]).toEqual([0, 0, []]);
  expect(sandbox.files()).toEqual([]);
});

test('a key file that others can read is a warning, with advice', async () => {
  const file = sandbox.write('../key', KEY);
  const env = {BULK_ENRICH_BASE_URL: 'http://127.0.0.1:9', BULK_ENRICH_API_KEY_FILE: file};
  for (const mode of [0o644, 0o640]) {
    chmodSync(file, mode);
    const {told} = await doctor('', env);
    expect(told('key file')).toMatch(new RegExp(`^warning: .*chmod 600 ${file}`));
  }
  chmodSync(file, 0o600);
  expect((await doctor('', env)).of('key file')).toBeUndefined();
  if (process.getuid?.() !== 0) return;
  // A Secret in a container: root's, for the group of the process.
  chownSync(file, 1_234, 1_234);
  chmodSync(file, 0o440);
  expect((await doctor('', env)).of('key file')).toBeUndefined();
  chmodSync(file, 0o444);
  expect((await doctor('', env)).of('key file')).toMatchObject({state: 'warning'});
});

test('--call says its price first, and makes one lookup', async () => {
  const one = reply.json({success: true, data: {city: 'Oslo'}});
  await using server = await startApiServer({key: KEY, script: () => one});
  const found = await doctor('--call --cost ip=3', live(server.url));
  expect([found.code, server.ledger.calls]).toEqual([0, 1]);
  expect(found.told('call')).toBe('ok: ip 192.0.2.1 was answered with 1 field');
  expect(found.stderr).toContain('which costs 3 credits');
});

test.each([
  ['a wrong key', reply.unauthorized(), 6],
  ['no credits', reply.noCredits(), 7],
  ['a redirect', reply.redirect('https://elsewhere.example.com/'), 2],
  ['HTML', reply.html(), 3],
  ['no known field', reply.json({success: true, data: {isVpn: true}}), 3],
])('--call that meets %s ends like a run', async (_, answer, code) => {
  await using server = await startApiServer({key: KEY, script: () => answer});
  const found = await doctor('--call', live(server.url));
  expect([found.code, found.of('call')?.state]).toEqual([code, 'failed']);
});

const NAMES = 'configuration dns connection tls clock call output store'.split(' ');
const NO_URL = 'failed - skipped - - skipped ok ok';

test.each<[flags: string, Record<string, string>, states: string, code: number]>([
  ['', {}, NO_URL, 2],
  ['', {BULK_ENRICH_API_KEY: KEY}, NO_URL, 2],
  ['', live('http://api.example.com'), 'ok - failed - - skipped ok ok', 2],
  ['--call', live('https://api.invalid'), 'ok failed skipped - - skipped ok ok', 5],
  ['--no-store -o -', live('http://127.0.0.1:9'), `ok skipped failed${' skipped'.repeat(5)}`, 5],
  ['--endpoint embedded --no-store', {}, 'ok - - - - - ok skipped', 0],
])(
  'checks after a failed one are skipped, and so are unwanted ones: %s, %j',
  async (flags, env, states, code) => {
    const {of, code: ended} = await doctor(flags, env);
    expect([NAMES.map(name => of(name)?.state ?? '-').join(' '), ended]).toEqual([states, code]);
  },
);

test('certificates: an untrusted one is a usage error, a trusted one is described', async () => {
  await using server = await startApiServer({key: KEY, tls: true});
  const distrusted = await doctor('', live(server.url));
  expect([distrusted.code, distrusted.of('tls')?.state]).toEqual([2, 'failed']);
  const ca = sandbox.write('ca.pem', server.ca ?? '');
  const trusted = await doctor('', {...live(server.url), NODE_EXTRA_CA_CERTS: ca});
  const valid = expect.stringMatching(/^TLSv1\.3, certificate valid to /);
  expect([trusted.code, trusted.of('tls')?.detail]).toEqual([0, valid]);
});

test('a proxy is named, without its password', async () => {
  await using server = await startApiServer({key: KEY, tls: true});
  const env = {...live(server.url), HTTPS_PROXY: 'http://user:canary-key-2@127.0.0.1:9'};
  const found = await doctor('', env);
  expect(found.of('proxy')?.detail).toBe('127.0.0.1:9 (HTTPS_PROXY)');
  expect([found.code, found.of('connection')?.state]).toEqual([5, 'failed']);
});

test('places that can’t be written', async () => {
  mkdirSync(sandbox.path('closed'));
  chmodSync(sandbox.path('closed'), 0o500);
  const below = sandbox.write('file', '');
  // Root may write everywhere, so it meets the second one: a file is not a folder.
  const output = process.getuid?.() === 0 ? `${below}/out.csv` : sandbox.path('closed/out.csv');
  const found = await doctor(`--endpoint embedded -o ${output} --store ${output}`);
  expect([found.code, found.of('output')?.state, found.of('store')?.state]).toEqual([9, 'failed', 'warning']);
});

test('no home directory is a warning that names what to set', async () => {
  const env = {HOME: '/nonexistent', XDG_CACHE_HOME: ''};
  const found = await doctor('--endpoint embedded', env);
  expect(found.code).toBe(0);
  expect(found.told('store')).toMatch(
    /^warning: the home directory \/nonexistent does not exist; .*XDG_CACHE_HOME/,
  );
});

test.each([
  [-3_600_000, 'ahead of'],
  [3_600_000, 'behind'],
])('a clock that is wrong by %i ms', async (offMs, said) => {
  const server = createServer((_, response) => {
    response.setHeader('Date', new Date(Date.now() + offMs).toUTCString()).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const found = await doctor('', live(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  server.close();
  expect([found.code, found.told('clock')]).toEqual([0, expect.stringMatching(`^warning: .*${said}`)]);
});

test('the embedded service needs no key, and says what data it lacks', async () => {
  const found = await doctor('--endpoint embedded --call');
  expect([found.code, found.of('call')?.state, found.of('data')?.state]).toEqual([0, 'ok', 'warning']);
  expect(found.stderr).toContain('the embedded service is free');
});

test('the state is checked where a run would keep it: with --state there, else beside the output', async () => {
  const env = live('http://127.0.0.1:9');
  expect((await doctor('', env)).of('state')?.detail).toContain('./out.csv.run can be written');
  const {of} = await doctor('--state elsewhere', env);
  expect(of('state')?.detail).toMatch(/^elsewhere can be written/);
});

test("a job's file gives the settings, and its account's limits are told", async () => {
  const job =
    'input: list.csv\noutput: night/out.csv\nendpoint: embedded\nip: ip\naccount: nightly\nverdict: {token: t, action: signup}\n';
  sandbox.write('job.yaml', job);
  const found = await doctor('--job job.yaml');
  expect([found.code, found.of('configuration')?.detail]).toEqual([0, 'the embedded service; an action id']);
  expect(found.of('output')?.detail).toMatch(/^night\/out\.csv can be written/);
  expect(found.of('account')?.detail).toBe('"nightly" has no account file, so no limits of its own');

  const limits = 'rate: 120/m\nmax_credits_per_day: 3\nmax_credits_per_month: 40\n';
  account('n', `endpoint: embedded\naccount: nightly\n${limits}`);
  const limited = await doctor('--job job.yaml');
  expect(limited.told('account')).toMatch(
    /^ok: .*n\.yaml: at most 2 calls a second, 3 of 3 credits left today, 40 of 40 credits left this month/,
  );
  // A flag overrides the job file, as it does for a run.
  const other = await doctor('--job job.yaml --account a');
  expect(other.told('account')).toMatch(/^failed: .*"a" at embedded has no account file/);
});

test('a used-up account is a failure with the exit code of a run', async () => {
  account('a', 'endpoint: embedded\naccount: a\nmax_credits_per_day: 0\n');
  const found = await doctor('--endpoint embedded --account a');
  expect([found.code, found.of('account')?.state]).toEqual([7, 'failed']);
});

test('doctor and plan tell what a limit leaves that was lowered after the spending', async () => {
  const limit = (credits: number) => account('a', `endpoint: embedded\nmax_credits_per_day: ${credits}\n`);
  limit(100);
  sandbox.write('list.csv', ips(9));
  sandbox.write('next.csv', ips(4, 20));
  expect((await runHere(sandbox, 'run list.csv --ip ip --endpoint embedded')).code).toBe(0);
  limit(5);
  const {detail} = (await doctor('--endpoint embedded')).of('account') ?? {};
  expect(detail).toContain(': 0 (4 over) of 5 credits left today');
  const plan = async (more = '') =>
    (await runHere(sandbox, `plan next.csv --ip ip --endpoint embedded ${more}`)).stdout;
  expect(await plan()).toContain('The account has 0 credits left, which stops the run before its end.');
  limit(12);
  expect(await plan()).toContain('The account has 3 credits left, which stops the run before its end.');
  expect(JSON.parse(await plan('--json')).account_left).toBe(3);
});

test('a run that holds the lock, even one whose process is stopped, is named: a run would end with exit 11', async () => {
  await using server = await startApiServer({key: KEY});
  sandbox.write('list.csv', 'ip\n203.0.113.7\n');
  const env = live(server.url);
  server.setScript(() => reply.ok({delayMs: 60_000}));
  const running = sandbox.start('run list.csv --ip ip -o out.csv --yes --quiet'.split(' '), {env});
  await until(() => server.ledger.calls === 1 || server.ledger.keySeen > 0);
  process.kill(running.pid, 'SIGSTOP');
  const locked = await doctor('-o out.csv', env);
  const holder = expect.stringMatching(`^failed: .*process ${running.pid} on `);
  expect([locked.code, locked.told('state')]).toEqual([11, holder]);
  process.kill(running.pid, 'SIGKILL');
  await running.outcome;
  expect(await doctor('-o out.csv', env)).toMatchObject({code: 0});
});
