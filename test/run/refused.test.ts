import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {Stopper} from '../../src/run/stop.ts';
import {reply} from '../support/api-server-reply.ts';
import {interrupt, ips, openStage} from '../support/stage.ts';

const DAY_MS = 86_400_000;
const nightly = {ip: 'ip', force: true, concurrency: 4, maxAge: '30d'};
const inDays = (days: number) => ({now: () => Date.now() + days * DAY_MS});

describe.each([
  ['400', () => reply.error(400, 'insufficient_credits')],
  ['200', () => reply.error(200, 'insufficient_credits')],
])('an account that is refused with status %s', (_, refuse) => {
  test('stops the run, which starts over with all that it paid for, and asks for those values again', async () => {
    await using stage = await openStage();
    stage.write('list.csv', ips(20));
    await stage.run(nightly);
    stage.write('list.csv', ips(250));
    stage.api.setScript(call => (call.call > 50 ? refuse() : undefined));
    const stopped = await stage.run(nightly);
    expect(stopped).toMatchObject({code: 2, summary: {reason: 'refused', status: 'failed'}});
    expect(stopped.message).toContain('insufficient_credits');
    expect(stopped.message).toContain('--max-errors 100%');
    const {calls} = stage.api.ledger;
    expect(calls).toBeLessThan(50 + 100 + 4);
    stage.api.setScript(undefined);
    expect(await stage.run(nightly)).toMatchObject({code: 0, summary: {lookups: {ip: {answered: 250}}}});
    // Answers from before are not paid for again.
    expect(stage.api.ledger.calls).toBe(calls + 200);
  });

  test('says nothing of its values that other runs would know: the next night asks for them', async () => {
    await using stage = await openStage();
    stage.write('list.csv', ips(20));
    await stage.run(nightly);
    stage.write('list.csv', ips(60));
    stage.api.setScript(refuse);
    const ended = await stage.run(nightly);
    expect(ended).toMatchObject({code: 3, summary: {lookups: {ip: {answered: 20, failed: 40}}}});
    expect(ended.warnings).toHaveLength(1);
    stage.api.setScript(undefined);
    const next = await stage.run(nightly);
    expect(next).toMatchObject({
      code: 0,
      summary: {lookups: {ip: {answered: 60, calls: 40, from_store: 20}}},
    });
  });
});

describe('many values that really are rejected', () => {
  const refuse = () => reply.error(422, 'odd_value');

  test('are no reason to stop where all may fail', async () => {
    await using stage = await openStage();
    stage.write('list.csv', ips(1, 500));
    await stage.run(nightly);
    stage.write('list.csv', ips(150));
    stage.api.setScript(refuse);
    expect(await stage.run({...nightly, maxErrors: '100%'})).toMatchObject({
      code: 3,
      summary: {lookups: {ip: {failed: 150, calls: 150}}},
    });
  });

  test('are known from then on where others are answered in between', async () => {
    await using stage = await openStage();
    stage.write('list.csv', ips(60));
    stage.api.setScript(({value}) => (Number(value.split('.').at(-1)) % 10 === 9 ? undefined : refuse()));
    const alone = {...nightly, concurrency: 1};
    expect(await stage.run(alone)).toMatchObject({summary: {lookups: {ip: {answered: 6, rejected: 54}}}});
    stage.write('list.csv', `${ips(60)}203.0.113.69\n`);
    const night = (calls: number) => ({code: 0, summary: {lookups: {ip: {calls, rejected: 54}}}});
    expect(await stage.run(alone)).toMatchObject(night(1));
    expect(await stage.run(alone)).toMatchObject(night(0));
    // A rejection that is past its age is no news if its code is the same.
    expect(await stage.run(alone, inDays(7.1))).toMatchObject(night(54));
  });
});

test('codes that repeat the values are in no summary, and in no history', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(5));
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

describe('403 for everything', () => {
  test.each([
    [1, {}],
    [9, {}],
    [9, {maxErrors: 3}],
    [10, {}],
    [150, {maxErrors: '5%'}],
    [1_000, {}],
  ])('for %i rows with %j: exit 6, no output, and the same command resumes', async (rows, more) => {
    await using stage = await openStage();
    stage.write('list.csv', ips(rows));
    stage.api.setScript(() => reply.forbidden());
    const raw = {ip: 'ip', concurrency: 4, ...more};
    expect(await stage.run(raw)).toMatchObject({
      code: 6,
      message: expect.stringContaining('BULK_ENRICH_API_KEY'),
      summary: {reason: 'credentials', status: 'failed', output: {bytes: null}},
    });
    stage.api.setScript(undefined);
    expect(await stage.run(raw)).toMatchObject({code: 0, summary: {lookups: {ip: {answered: rows}}}});
  });

  test.each([
    [10, {}],
    [150, {}],
    [150, {maxErrors: '5%'}],
  ])('for %i new rows of a night with %j is exit 6 too', async (rows, more) => {
    await using stage = await openStage();
    stage.write('list.csv', ips(20));
    await stage.run(nightly);
    stage.write('list.csv', ips(20 + rows));
    stage.api.setScript(() => reply.forbidden());
    const ended = await stage.run({...nightly, ...more});
    expect(ended).toMatchObject({code: 6, summary: {reason: 'credentials'}});
  });
});

describe('a service that answers nothing', () => {
  const failing = {ip: 'ip', concurrency: 4, resends: 0};

  test.each([1, 6])(
    'is exit 5 for %i rows whose values may not be sent again, with an output',
    async rows => {
      await using stage = await openStage();
      stage.write('list.csv', ips(rows));
      stage.api.setScript(() => reply.error(500, 'broken'));
      expect(await stage.run(failing)).toMatchObject({
        code: 5,
        message: expect.stringContaining('No row has an answer'),
        summary: {reason: 'lookups_failed', status: 'partial', credits: {maybe_spent: rows}},
      });
      stage.api.setScript(undefined);
      const again = await stage.run(failing);
      expect(again).toMatchObject({code: 0, summary: {lookups: {ip: {answered: rows}}}});
      expect(stage.api.ledger.calls).toBe(2 * rows);
    },
  );

  test('the same command replaces its output, also after a session that was stopped meanwhile', async () => {
    await using stage = await openStage();
    stage.write('list.csv', ips(6));
    stage.api.setScript(() => reply.error(500, 'broken'));
    const published = await stage.run(failing);
    expect(published).toMatchObject({code: 5, summary: {status: 'partial'}});
    const {output} = published.summary ?? {};
    for (let retry = 1; retry <= 2; retry++) {
      const stopper = new Stopper();
      stage.api.setScript(() => {
        interrupt(stopper);
        return undefined;
      });
      expect((await stage.run(failing, {stopper})).code).toBe(130);
      expect(JSON.parse(stage.read('out.summary.json'))).toMatchObject({status: 'interrupted', output});
    }
    stage.api.setScript(undefined);
    expect(await stage.run(failing)).toMatchObject({code: 0, summary: {lookups: {ip: {answered: 6}}}});
    expect(await stage.run(failing)).toMatchObject({code: 0, found: 'complete'});
  });

  test.each([
    ['of another list', 'list.csv', ips(4)],
    ['that another program changed', 'out.csv', 'precious\n'],
  ])('its output %s is not replaced without force', async (_, file, text) => {
    await using stage = await openStage();
    stage.write('list.csv', ips(3));
    stage.api.setScript(() => reply.error(500, 'broken'));
    expect((await stage.run(failing)).code).toBe(5);
    stage.write(file, text);
    const {calls} = stage.api.ledger;
    expect(await stage.run(failing)).toMatchObject({code: 2, errorCode: 'output_exists'});
    expect(stage.api.ledger.calls).toBe(calls);
  });
});

test('a rejection of a value that the list has no more is no failure of the run', async () => {
  await using stage = await openStage({
    script: ({call}) => (call === 2 ? reply.error(422, 'odd_value') : undefined),
  });
  const settings = {ip: 'ip', concurrency: 1};
  stage.write('list.csv', ips(3));
  expect(await stage.run({...settings, maxCredits: 2})).toMatchObject({code: 7});
  expect(stage.api.ledger.calls).toBe(2);
  stage.write('list.csv', `${ips(1)}1.2.3.4,one too many\n`);
  expect(await stage.run(settings)).toMatchObject({code: 3, summary: {reason: 'rows_rejected'}});
});
