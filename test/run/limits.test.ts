import {mkdirSync, symlinkSync} from 'node:fs';
import {expect, test} from 'vitest';
import {reply} from '../support/api-server-reply.ts';
import {ips, openStage} from '../support/stage.ts';

test("an account's credits of one day (UTC) are shared by all runs, whatever their output is called, and renewed at midnight", async () => {
  await using stage = await openStage();
  stage.account('a.yaml', 'endpoint: URL\nmax_credits_per_day: 100\n');
  let now = Date.parse('2031-05-06T22:00:00Z');
  const night = (list: string, output = 'out.csv') => {
    stage.write('list.csv', list);
    return stage.run({ip: 'ip', force: true, concurrency: 8, output}, {now: () => now});
  };
  const used = (credits: number) => ({account: {per_day: {limit: 100, used: credits}}});
  const come_back_at = '2031-05-07T00:00:00.000Z';
  expect(await night(ips(60))).toMatchObject({code: 0, summary: {credits: used(60)}});
  mkdirSync(stage.path('elsewhere'));
  symlinkSync(stage.path('elsewhere'), stage.path('link'));
  const stopped = await night(ips(90, 100), 'elsewhere/out.csv');
  expect(stopped).toMatchObject({code: 7, summary: {credits: {spent: 40, ...used(100)}, come_back_at}});
  expect(stopped.message).toContain('max_credits_per_day');
  for (const output of ['other.csv', 'link/new.csv', './out.csv'])
    expect(await night(ips(90, 100), output)).toMatchObject({code: 7, summary: {come_back_at}});
  expect(stage.api.ledger.credits).toBe(100);
  now += 2 * 3_600_000;
  const renewed = await night(ips(90, 100), 'elsewhere/out.csv');
  expect(renewed).toMatchObject({code: 0, summary: {credits: used(50)}});
  expect(stage.api.ledger.credits).toBe(150);
});

test('calls that turn out free give their credits back to the day', async () => {
  await using stage = await openStage();
  stage.account('a.yaml', 'endpoint: URL\nmax_credits_per_day: 30\n');
  const now = Date.parse('2031-05-06T22:00:00Z');
  stage.write('list.csv', ips(30));
  stage.api.setScript(call => (call.attempt === 1 && call.call % 10 === 0 ? reply.throttle(0) : undefined));
  expect(await stage.run({ip: 'ip', concurrency: 4}, {now: () => now})).toMatchObject({code: 0});
  expect(stage.api.ledger.credits).toBe(30);
});

test("where the day's credits can't be counted, nothing is sent", async () => {
  await using stage = await openStage();
  stage.account('a.yaml', 'endpoint: URL\nmax_credits_per_day: 30\n');
  stage.write('list.csv', ips(3));
  const missing = await stage.run({ip: 'ip'}, {env: {XDG_STATE_HOME: '/dev/null/state'}});
  expect(missing).toMatchObject({code: 9, summary: {reason: 'daily_budget'}});
  expect(missing.message).toContain('max_credits_per_day');
  expect(stage.api.ledger.requests).toBe(0);
});

test('rejects of all attempts count against --max-rejects: the same again stops, and a higher limit that is passed too', async () => {
  await using stage = await openStage({list: `${ips(60)}${'192.0.2.1,x\n'.repeat(12)}`});
  const of = (limit: object) => stage.run({ip: 'ip', ...limit});
  const rejects = {code: 8, summary: {reason: 'max_rejects', rows: {written: 60, rejected: 12}}};
  for (const maxRejects of [3, 3, 6]) expect(await of({maxRejects})).toMatchObject(rejects);
  expect(await of({maxRejects: 12})).toMatchObject({code: 3});
  expect(stage.api.ledger.calls).toBe(60);
});

test('a share of --max-rejects is of all rows, those that can not be read included', async () => {
  await using stage = await openStage({list: `${ips(180)}${'192.0.2.1,x\n'.repeat(20)}`});
  expect(await stage.run({ip: 'ip', maxRejects: '10%'})).toMatchObject({
    code: 3,
    summary: {rows: {written: 180, rejected: 20}},
  });
  expect(await stage.run({ip: 'ip', maxRejects: '9%', force: true})).toMatchObject({code: 8});
});

test('a share of --max-errors is of all lookups, not of the rows', async () => {
  await using stage = await openStage();
  const rows = Array.from({length: 100}, (_, n) => `192.0.2.${n},p${n}@example.com\n`);
  stage.write('list.csv', `ip,email\n${rows.join('')}`);
  stage.api.setScript(({operation, value}) =>
    operation === 'ip' && Number(value.split('.').at(-1)) >= 85 ? reply.error(422, 'odd_value') : undefined,
  );
  const run = (maxErrors: string) => stage.run({ip: 'ip', email: 'email', store: false, maxErrors});
  expect(await run('10%')).toMatchObject({code: 3, summary: {lookups: {ip: {failed: 15}}}});
  expect(await run('5%')).toMatchObject({code: 2});
});

test('a service that asks for a second again and again is away; only a longer wait than max_outage is a time that it asks for', async () => {
  await using stage = await openStage({list: ips(3)});
  const night = () => stage.run({ip: 'ip', maxOutage: '2s'});
  stage.api.setScript(() => reply.throttle(1));
  const away = await night();
  expect(away).toMatchObject({code: 5, message: expect.stringContaining('has not answered since')});
  expect(Date.parse(away.summary?.come_back_at ?? '')).toBeGreaterThan(Date.now() + 20_000);
  stage.api.setScript(() => reply.throttle(600));
  expect(await night()).toMatchObject({code: 5, message: expect.stringContaining('asks to come back at')});
});
