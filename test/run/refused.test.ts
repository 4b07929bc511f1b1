import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {reply} from '../support/api-server-reply.ts';
import {ips, openStage} from '../support/stage.ts';

const nightly = {ip: 'ip', force: true, concurrency: 4};

test.each([
  ['400', () => reply.error(400, 'no_plan'), 2, 1, ['no_plan', '--max-errors 100%']],
  [
    '400, as its credits are used up,',
    () => reply.error(400, 'insufficient_credits'),
    7,
    0,
    ['credits are used up'],
  ],
  ['403', () => reply.forbidden(), 6, 0, ['BULK_ENRICH_API_KEY']],
] as const)(
  'an account that is refused with status %s is told once by what ends the run, with the next step',
  async (_, refuse, code, warnings, parts) => {
    await using stage = await openStage({list: ips(1)});
    await stage.run(nightly);
    stage.write('list.csv', ips(120));
    stage.api.setScript(refuse);
    const stopped = await stage.run(nightly);
    expect(stopped).toMatchObject({code, summary: {status: code === 7 ? 'interrupted' : 'failed'}});
    expect(stopped.warnings).toHaveLength(warnings);
    for (const part of parts) expect(stopped.message).toContain(part);
  },
);

test('refusals of the moment in a row, and then answers, are no word about the account', async () => {
  await using stage = await openStage({list: ips(1)});
  await stage.run(nightly);
  stage.write('list.csv', ips(16));
  stage.api.setScript(({attempt}) => (attempt === 1 ? reply.error(200, 'rate_limit') : undefined));
  const {code, summary, warnings} = await stage.run(nightly);
  expect([code, warnings, summary?.lookups.ip?.refused_in_a_row]).toEqual([0, [], 0]);
});

test('codes that repeat the values are in no summary, and in no history', async () => {
  await using stage = await openStage({list: ips(5)});
  await stage.run(nightly);
  stage.write('list.csv', ips(30));
  stage.api.setScript(({value}) => reply.error(400, `bad_${value}`));
  const {code, summary, warnings} = await stage.run(nightly);
  expect([code, summary?.errors]).toEqual([
    3,
    [expect.objectContaining({code: 'ip.service_error', count: 25})],
  ]);
  const runs = join(stage.env.XDG_STATE_HOME ?? '', 'bulk-enrich', 'runs');
  const history = readdirSync(runs).map(name => readFileSync(join(runs, name), 'utf8'));
  for (const told of [JSON.stringify(summary), warnings.join(), ...history])
    expect(told).not.toMatch(/203.0.113/);
});

describe('a service that answers nothing', () => {
  const failing = {ip: 'ip', concurrency: 4, resends: 0};

  test('the same command replaces its output, also after a session that was stopped meanwhile', async () => {
    await using stage = await openStage({list: ips(6)});
    stage.api.setScript(() => reply.error(500, 'broken'));
    const published = await stage.run(failing);
    expect(published).toMatchObject({code: 5, summary: {status: 'partial'}});
    const {output} = published.summary ?? {};
    const {calls} = stage.api.ledger;
    expect((await stage.run(failing)).code).toBe(5);
    expect(stage.api.ledger.calls).toBe(calls);
    expect((await stage.stopAt(1, {...failing, restart: true})).code).toBe(130);
    expect(JSON.parse(stage.read('out.summary.json'))).toMatchObject({status: 'interrupted', output});
    expect(await stage.run(failing)).toMatchObject({code: 0, summary: {lookups: {ip: {answered: 6}}}});
    expect(await stage.run(failing)).toMatchObject({code: 0, found: 'complete'});
  });

  test.each([
    ['of another list', 'list.csv', ips(4)],
    ['that another program changed', 'out.csv', 'precious\n'],
  ])('its output %s is not replaced without force', async (_, file, text) => {
    await using stage = await openStage({list: ips(3)});
    stage.api.setScript(() => reply.error(500, 'broken'));
    expect((await stage.run(failing)).code).toBe(5);
    stage.write(file, text);
    const {calls} = stage.api.ledger;
    expect(await stage.run(failing)).toMatchObject({code: 2, errorCode: 'output_exists'});
    expect(stage.api.ledger.calls).toBe(calls);
  });
});
