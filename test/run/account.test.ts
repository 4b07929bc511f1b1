import {cpSync, renameSync, rmSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {checkSettings} from '../../src/job/parse.ts';
import {callWithinAccount, type SingleCallRequest, undercountSentence} from '../../src/run/open/account.ts';
import {startService} from '../e2e/service.ts';
import {fullSummary} from '../report/summaries.ts';
import {reply} from '../support/api-server-reply.ts';
import {createSandbox, type Sandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {ips, openStage, type Stage} from '../support/stage.ts';
import {whole} from '../support/whole.ts';

const DAY_MS = 86_400_000;
const ACCOUNT = '../home/config/bulk-enrich/accounts/a.yaml';

test.each([
  ['another name of the host', (url: string) => url.replace('127.0.0.1', 'localhost'), true],
  ['a path more', (url: string) => `${url}/v1`, true],
  ['the same URL with a slash', (url: string) => `${url}/`, false],
])(
  'account files of %s: a run whose endpoint has none says that no limit holds',
  async (_, urlOf, isTold) => {
    await using stage = await openStage({list: ips(3)});
    stage.account('a.yaml', `endpoint: ${urlOf(stage.api.url)}\nmax_credits_per_day: 50\n`);
    const {code, warnings} = await stage.run({ip: 'ip'});
    const told = expect.stringContaining(`No account file is for ${stage.api.url}`);
    expect([code, warnings]).toEqual([0, isTold ? [told] : []]);
    const own = await stage.run({ip: 'ip', output: 'own.csv', endpoint: 'embedded'});
    expect(own.warnings).toEqual([]);
  },
);

test("an account's credits are for all its jobs, by day and by month, and a run warns when they run short", async () => {
  await using stage = await openStage();
  let now = Date.parse('2031-05-30T22:00:00Z');
  const limits = 'max_credits_per_day: 50\nmax_credits_per_month: 80\nwarn_at: 90%\n';
  const path = stage.account('production.yaml', `endpoint: URL/\n${limits}`);
  const job = (name: string, from: number, count: number, more = {}) => {
    stage.write('list.csv', ips(count, from));
    const raw = {ip: 'ip', output: `${name}.csv`, concurrency: 4, force: true, ...more};
    return stage.run(raw, {fromFile: true, name, now: () => now});
  };
  const first = await job('signups', 0, 30);
  expect(first).toMatchObject({code: 0, warnings: []});
  const used = {per_day: {limit: 50, used: 30}, per_month: {limit: 80, used: 30}};
  expect(first.summary?.credits.account).toEqual({label: 'default', ...used});
  const second = await job('logins', 100, 30);
  const tomorrow = {credits: {spent: 20}, come_back_at: '2031-05-31T00:00:00.000Z'};
  expect(second).toMatchObject({code: 7, summary: tomorrow});
  expect(second.message).toContain(`max_credits_per_day in ${path}`);
  expect(second.warnings).toEqual([expect.stringContaining(`max_credits_per_day in ${path}`)]);
  now += 86_400_000;
  stage.account('other.yaml', 'endpoint: URL\naccount: 429\n');
  expect(await job('another', 200, 10, {account: 429})).toMatchObject({code: 0, warnings: []});
  const third = await job('logins', 100, 60);
  const nextMonth = {come_back_at: '2031-06-01T00:00:00.000Z', credits: {account: {per_month: {used: 80}}}};
  expect(third).toMatchObject({code: 7, summary: nextMonth});
  expect(stage.api.ledger.credits).toBe(90);
});

test('a single lookup takes its credit like a run', async () => {
  await using service = await startService();
  using sandbox = createSandbox();
  sandbox.write(ACCOUNT, `endpoint: ${service.url}\nrate: 2/s\nmax_credits_per_month: 2\n`);
  const lookup = (...flags: string[]) => runHere(sandbox, ['lookup', 'ip', '203.0.113.7', ...flags], service);
  expect((await lookup('--cost', 'ip=3')).code).toBe(7);
  expect([(await lookup()).code, (await lookup()).code]).toEqual([0, 0]);
  const stderr = expect.stringContaining('max_credits_per_month');
  expect(await lookup()).toMatchObject({code: 7, errorCode: 'budget', stderr});
  expect(service.ledger.calls).toBe(2);
});

test('an account without a file is refused where its endpoint has files of others: nothing is sent without limits', async () => {
  await using service = await startService();
  using sandbox = createSandbox();
  sandbox.write(ACCOUNT, `endpoint: ${service.url}\naccount: a\nmax_credits_per_day: 10\n`);
  sandbox.write('list.csv', ips(20));
  const commands = [
    ['run', 'list.csv', '--ip', 'ip', '--quiet'],
    ['plan', 'list.csv', '--ip', 'ip'],
    ['lookup', 'ip', '203.0.113.7'],
    ['verify', '--token', 't', '--action', 'signup'],
  ];
  for (const command of commands)
    for (const flags of [[], ['--account', 'x']]) {
      const {code, stderr} = await runHere(sandbox, [...command, ...flags], service);
      const told = [stderr.includes('accounts/a.yaml'), stderr.includes('--account a')];
      expect([code, ...told]).toEqual([2, true, true]);
    }
  expect((await runHere(sandbox, ['doctor', '--call'], service)).code).toBe(2);
  expect(service.ledger.calls).toBe(0);
  sandbox.write('../home/config/bulk-enrich/accounts/x.yaml', `endpoint: ${service.url}\naccount: x\n`);
  const named = ['run', 'list.csv', '--ip', 'ip', '--account', 'x'];
  expect(await runHere(sandbox, named, service)).toMatchObject({code: 0});
});

test('plan and the first line of a run tell the rate that the account allows to all operations together', async () => {
  await using service = await startService();
  using sandbox = createSandbox();
  sandbox.write(ACCOUNT, `endpoint: ${service.url}\nrate: 10/s\n`);
  const rows = Array.from({length: 5}, (_, n) => `203.0.113.${n},p${n}@example.com\n`);
  sandbox.write('list.csv', `ip,email\n${rows.join('')}`);
  const flags = ['list.csv', '--ip', 'ip', '--email', 'email', '--rate', 'ip=10/s,email=10/s'];
  const plan = JSON.parse((await runHere(sandbox, ['plan', ...flags, '--json'], service)).stdout);
  expect(plan).toMatchObject({rate_per_second: 10, time_ms: 1_000});
  const {stderr} = await runHere(sandbox, ['run', ...flags, '--max-credits', '100'], service);
  expect(stderr).toContain('at most 10 calls a second');
});

describe('a call that was made beside runs', () => {
  const account = (sandbox: Sandbox, url: string, perDay: number) =>
    sandbox.write(ACCOUNT, `endpoint: ${url}\nmax_credits_per_day: ${perDay}\n`);
  const lookup = ['lookup', 'ip', '203.0.113.7'];
  const verify = ['verify', '--token', 't', '--action', 'signup'];
  const doctor = ['doctor', '--call'];

  test.each([
    ['a lookup whose key is not accepted', lookup, reply.unauthorized(), 6],
    ['a lookup that is throttled', lookup, reply.throttle(0), 5],
    ['a lookup of an account without credits', lookup, reply.noCredits(), 7],
    ['a verdict that is throttled', verify, reply.throttle(0), 5],
    ["doctor's call", doctor, reply.unauthorized(), 6],
    ['a verdict without an action', verify.slice(0, 3), undefined, 2],
  ])('gives its credit back where it cost nothing: %s', async (_, args, answer, code) => {
    await using service = await startService();
    using sandbox = createSandbox();
    account(sandbox, service.url, 1);
    service.setScript(() => answer);
    for (let again = 1; again <= 2; again++)
      expect(await runHere(sandbox, args, service)).toMatchObject({code});
    service.setScript(undefined);
    expect(await runHere(sandbox, lookup, service)).toMatchObject({code: 0});
    expect(await runHere(sandbox, lookup, service)).toMatchObject({code: 7});
  });

  test('gives it back where it was never sent', async () => {
    const service = await startService();
    await service.close();
    using sandbox = createSandbox();
    account(sandbox, service.url, 1);
    for (let again = 1; again <= 2; again++)
      expect(await runHere(sandbox, lookup, service)).toMatchObject({code: 5, errorCode: 'econnrefused'});
  });

  test.each([
    ['a lookup that broke off', lookup, reply.error(500, 'broken'), 3],
    ['a lookup that was rejected', lookup, reply.error(422, 'odd_value'), 3],
    ["doctor's call", doctor, undefined, 0],
  ])('keeps it where it may have been charged: %s', async (_, args, answer, code) => {
    await using service = await startService();
    using sandbox = createSandbox();
    account(sandbox, service.url, 1);
    service.setScript(() => answer);
    expect(await runHere(sandbox, args, service)).toMatchObject({code});
    expect(await runHere(sandbox, lookup, service)).toMatchObject({code: 7});
  });
});

test('a single call keeps its credit if the program fails while it is under way', async () => {
  await using stage = await openStage();
  stage.account('a.yaml', 'endpoint: URL\nmax_credits_per_day: 1\n');
  const single = whole<SingleCallRequest>({
    endpoint: {kind: 'live', baseUrl: stage.api.url, apiKey: 'key'},
    settings: checkSettings(undefined, {}),
    operation: 'ip',
  });
  const io = {env: stage.env, now: Date.now, warn: () => {}};
  const call = () => Promise.reject(new Error('broken'));
  await expect(callWithinAccount(single, io, call)).rejects.toThrow('broken');
  await expect(callWithinAccount(single, io, call)).rejects.toMatchObject({code: 'budget', exitCode: 7});
});

test('an invalid account file is refused, and nothing is sent, whatever account it is for', async () => {
  await using stage = await openStage({list: ips(3)});
  for (const [text, refusal] of [
    ['endpoint: ftp://api.example.com', 'account_settings a.yaml:1: endpoint:'],
    ['endpoint: URL\nrate: fast', 'account_settings a.yaml:2: rate:'],
    ['endpoint: URL\nrate: 20/s\nwarnat: 1', 'account_settings a.yaml:3: warnat:'],
    ['endpoint: URL\nmax_credits_per_day: -1', 'account_settings a.yaml:2: max_credits_per_day:'],
    ['20/s', 'account_settings a.yaml:1:'],
    ['endpoint: URL\nendpoint: URL', 'account_syntax a.yaml:2:'],
  ] as const) {
    const path = stage.account('a.yaml', `${text}\n`);
    const {code, errorCode, message} = await stage.run({ip: 'ip', account: 'other'});
    const [, at] = /^(.*:\d+:(?: \w+:)?) /.exec(message.replaceAll(path, 'a.yaml')) ?? [];
    expect([code, `${errorCode} ${at}`]).toEqual([2, refusal]);
  }
  const one = stage.account('a.yaml', 'endpoint: URL\naccount: other\n');
  const two = stage.account('b.yml', 'endpoint: URL/\naccount: other\n');
  const {errorCode, message} = await stage.run({ip: 'ip', account: 'other'});
  expect([errorCode, message.includes(one), message.includes(two)]).toEqual(['account_twice', true, true]);
  expect(stage.api.ledger.requests).toBe(0);
});

describe("an account's count that is lost or older in the middle of a day", () => {
  const count = (stage: Stage) => join(stage.env.XDG_STATE_HOME ?? '', 'bulk-enrich', 'daily-credits.db');
  const open = async () => {
    const stage = await openStage();
    stage.account('a.yaml', 'endpoint: URL\nmax_credits_per_day: 50\n');
    let from = 0;
    return {
      stage,
      now: () => Date.parse('2031-05-06T09:00:00Z'),
      async night(rows: number) {
        stage.write('list.csv', ips(rows, from));
        from += 100;
        return stage.run({ip: 'ip', output: `${from}.csv`}, {now: this.now});
      },
    };
  };

  test('a single credit that lacked is told, too, and none is not', () => {
    const summary = fullSummary();
    const {credits} = summary;
    const lacking = (lacked: number) => {
      const account = {label: 'a', per_day: {limit: 9, used: 2, lacked}};
      return undercountSentence({...summary, credits: {...credits, account}});
    };
    expect([lacking(1), lacking(0)]).toEqual([expect.stringContaining('lacked 1 credit that'), '']);
  });

  test.each([
    ['lost', undefined, 30],
    ['restored from a backup', 'a backup', 20],
  ])('%s: what runs spent is added, told, and the limit holds', async (_, backup, lacked) => {
    const day = await open();
    await using stage = day.stage;
    await day.night(10);
    if (backup !== undefined) cpSync(count(stage), `${count(stage)}.backup`);
    await day.night(20);
    if (backup === undefined) rmSync(count(stage));
    else renameSync(`${count(stage)}.backup`, count(stage));
    const told = await day.night(5);
    const per_day = {limit: 50, used: 35, lacked};
    expect(told).toMatchObject({code: 0, summary: {credits: {account: {per_day}}}});
    expect(told.message).toContain(`lacked ${lacked} credits`);
    const after = await day.night(30);
    expect(after).toMatchObject({code: 7, summary: {credits: {spent: 15}}});
    expect(after.message).not.toContain('lacked');
    expect(stage.api.ledger.credits).toBe(50);
  });

  test('with the history too: the answer store shows it; yesterday is not counted', async () => {
    const day = await open();
    await using stage = day.stage;
    const {now} = day;
    day.now = () => now() - DAY_MS;
    await day.night(40);
    day.now = now;
    await day.night(30);
    rmSync(join(stage.env.XDG_STATE_HOME ?? '', 'bulk-enrich'), {recursive: true});
    const message = expect.stringContaining('lacked 30 credits');
    expect(await day.night(30)).toMatchObject({code: 7, message, summary: {credits: {spent: 20}}});
  });

  test('counts no run of a later day, which a clock that is set back shows', async () => {
    const day = await open();
    await using _ = day.stage;
    const {now} = day;
    await day.night(10);
    day.now = () => now() - 2 * DAY_MS;
    const back = await day.night(10);
    expect(back).toMatchObject({code: 0, summary: {credits: {account: {per_day: {limit: 50, used: 10}}}}});
    expect(back.message).not.toContain('lacked');
  });

  test('is said in spite of --quiet, with the next step', async () => {
    await using service = await startService();
    using sandbox = createSandbox();
    const account = `endpoint: ${service.url}\nmax_credits_per_month: 100\n`;
    sandbox.write(ACCOUNT, account);
    const run = (rows: number, from: number) => {
      sandbox.write('list.csv', ips(rows, from));
      return runHere(sandbox, ['run', 'list.csv', '--ip', 'ip', '--quiet', '--force'], service);
    };
    expect(await run(10, 0)).toMatchObject({code: 0, stderr: ''});
    rmSync(join(sandbox.home, 'state/bulk-enrich/daily-credits.db'));
    const {code, stderr} = await run(10, 50);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/lacked 10 credits.*XDG_STATE_HOME/s)]);
    expect(await run(10, 90)).toMatchObject({code: 0, stderr: ''});
  });
});
