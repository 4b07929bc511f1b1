import {getEventListeners} from 'node:events';
import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, it} from 'vitest';
import {AbortError, createEnricher} from '../../src/index.ts';
import {reply} from '../support/api-server-reply.ts';
import {until} from '../support/until.ts';
import {address, bySpeed, gate, startProgram} from './program.ts';

const settings = {...bySpeed, ip: 'ip', score: 'none'} as const;

const rows = (count: number) => Array.from({length: count}, (_, n) => ({ip: address(n)}));

async function count(enriched: AsyncIterable<unknown>): Promise<number> {
  let found = 0;
  for await (const _ of enriched) found += 1;
  return found;
}

it('callers share calls in flight, answers, books and budget: equal values are paid for once', async () => {
  await using program = await startProgram({latencyMs: 20});
  await using enricher = await createEnricher(settings, program.options);
  const [one, other] = [rows(200), rows(200)];
  expect(await Promise.all([count(enricher.many(one)), count(enricher.many(other))])).toEqual([200, 200]);
  expect(await enricher.one({ip: address(7)})).toMatchObject({enrichment: {ip: {status: 'ok'}}});
  expect(program.api.ledger.calls).toBe(200);
  expect(enricher.summary()).toMatchObject({
    status: 'completed',
    rows: {written: 401},
    credits: {spent: 200},
    lookups: {ip: {distinct: 200, deduplicated: 201}},
  });
});

it('a budget is that of all callers; who comes after its end is told why', async () => {
  await using program = await startProgram();
  const enricher = await createEnricher({...settings, maxCredits: 3}, program.options);
  const all = await Promise.allSettled([count(enricher.many(rows(5))), count(enricher.many(rows(8)))]);
  expect(all).toMatchObject(Array(2).fill({status: 'rejected', reason: {code: 'budget', exitCode: 7}}));
  await expect(enricher.one({ip: address(9)})).rejects.toMatchObject({
    code: 'budget',
    message: expect.stringContaining('maxCredits'),
  });
  expect(await enricher.close()).toMatchObject({
    exitCode: 7,
    message: expect.stringContaining('maxCredits'),
    stop: {message: expect.stringContaining('maxCredits')},
    summary: {credits: {spent: 3}},
  });
  expect(program.api.ledger.calls).toBe(3);
});

it("a row that could not be sent gives its credit back to the account's day", async () => {
  await using program = await startProgram();
  const {env} = program.options;
  const accounts = join(program.temporary, '.config', 'bulk-enrich', 'accounts');
  mkdirSync(accounts, {recursive: true});
  writeFileSync(join(accounts, 'a.yaml'), `endpoint: ${program.api.url}\nmax_credits_per_day: 1\n`);
  await program.api.close();
  for (let again = 0; again < 2; again++) {
    await using enricher = await createEnricher(settings, {env});
    expect(await enricher.one({ip: address(0)}, {budgetMs: 200})).toMatchObject({
      enrichment: {ip: {status: 'unknown', error: 'out_of_time'}},
    });
    const {summary} = await enricher.close();
    expect(summary?.calls.by_error).toMatchObject({econnrefused: expect.any(Number)});
    expect(summary?.credits.account.per_day).toEqual({limit: 1, used: 0});
  }
});

it('a value without an answer within budgetMs is unknown; its call is not sent later, and a sent one is kept', async () => {
  const held = gate();
  const sent = gate();
  await using program = await startProgram({
    script: async () => {
      sent.open();
      await held.opened;
      return undefined;
    },
  });
  const enricher = await createEnricher({...settings, concurrency: 1}, program.options);
  // Both have the time that the first one's call takes to leave.
  const first = enricher.one({ip: address(0)}, {budgetMs: 300});
  await sent.opened;
  const late = [first, enricher.one({ip: address(1)}, {budgetMs: 1})];
  for (const {enrichment} of await Promise.all(late))
    expect(enrichment).toEqual({ip: {status: 'unknown', error: 'out_of_time', data: null}});
  held.open();
  expect((await enricher.one({ip: address(0)})).enrichment.ip.status).toBe('ok');
  expect((await enricher.close()).summary).toMatchObject({credits: {spent: 1, maybe_spent: 0}});
  expect(program.api.ledger.calls).toBe(1);
});

it('calls that were given up count for the next one() on their value: all are within resends', async () => {
  let gates = {sent: gate(), held: gate()};
  await using program = await startProgram({
    script: async () => {
      gates.sent.open();
      await gates.held.opened;
      return reply.drop();
    },
  });
  await using enricher = await createEnricher({...settings, resends: 1}, program.options);
  const row = {ip: address(0)};
  for (const booked of [1, 2]) {
    gates = {sent: gate(), held: gate()};
    const controller = new AbortController();
    const given = enricher.one(row, {signal: controller.signal});
    await gates.sent.opened;
    controller.abort();
    await expect(given).rejects.toBeInstanceOf(AbortError);
    gates.held.open();
    await until(() => enricher.summary().credits.maybe_spent === booked);
  }
  expect((await enricher.one(row)).enrichment.ip).toMatchObject({status: 'failed', error: 'econnreset'});
  expect(program.api.ledger.calls).toBe(2);
});

it('a row given up by its signal before it was sent costs nothing, and other callers don’t notice', async () => {
  const held = gate();
  await using program = await startProgram({script: () => held.opened.then(() => undefined)});
  const enricher = await createEnricher({...settings, concurrency: 1}, program.options);
  const controller = new AbortController();
  const other = enricher.one({ip: address(0)});
  const given = enricher.one({ip: address(1)}, {signal: controller.signal});
  const equal = enricher.one({ip: address(1)}, {signal: new AbortController().signal});
  const alone = enricher.one({ip: address(2)}, {signal: controller.signal});
  controller.abort('gone');
  await expect(given).rejects.toMatchObject({constructor: AbortError, cause: 'gone'});
  await expect(alone).rejects.toBeInstanceOf(AbortError);
  held.open();
  expect((await Promise.all([other, equal])).map(({enrichment}) => enrichment.ip.status)).toEqual([
    'ok',
    'ok',
  ]);
  await enricher.close();
  expect(program.api.ledger.calls).toBe(2);
});

it('a signal that many calls and runs share has one listener, and none once they have ended', async () => {
  const held = gate();
  await using program = await startProgram({script: () => held.opened.then(() => undefined)});
  const {signal} = new AbortController();
  const options = {...program.options, signal};
  const enrichers = [await createEnricher(settings, options), await createEnricher(settings, options)];
  const pending = enrichers.flatMap(enricher => rows(12).map(row => enricher.one(row, {signal})));
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  held.open();
  await Promise.all(pending);
  for (const enricher of enrichers) await enricher.close();
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});

it('who stops taking rows leaves the others alone, and pays for nothing that has not left', async () => {
  const held = gate();
  await using program = await startProgram({
    script: ({value}) => (value === address(0) ? undefined : held.opened.then(() => undefined)),
  });
  await using enricher = await createEnricher({...settings, concurrency: 2}, program.options);
  for await (const {ip} of enricher.many(rows(60))) {
    expect(ip).toBe(address(0));
    break;
  }
  held.open();
  expect((await enricher.one({ip: address(0)})).enrichment.ip.status).toBe('ok');
  expect(await count(enricher.many(rows(3)))).toBe(3);
  expect(program.api.ledger.calls).toBeLessThan(6);
});

it('close ends rows under way with the code closed, and no calls follow', async () => {
  const held = gate();
  const sent = gate();
  await using program = await startProgram({
    script: async () => {
      sent.open();
      await held.opened;
      return undefined;
    },
  });
  const enricher = await createEnricher({...settings, concurrency: 1}, {...program.options, graceMs: 0});
  const pending = enricher.one({ip: address(0)});
  const many = count(enricher.many(rows(3)));
  await sent.opened;
  const closing = enricher.close();
  await expect(pending).rejects.toMatchObject({code: 'closed'});
  await expect(many).rejects.toMatchObject({code: 'closed'});
  const {summary} = await closing;
  expect(summary?.credits).toMatchObject({spent: 0, maybe_spent: 1});
  expect(enricher.summary()).toBe(summary);
  await expect(enricher.one({ip: address(5)})).rejects.toMatchObject({code: 'closed'});
  held.open();
});

it('a rejected key, or an aborted enricher, is told to every caller', async () => {
  await using program = await startProgram();
  program.api.setKey('another-key');
  const refused = await createEnricher(settings, program.options);
  const each = await Promise.allSettled(rows(5).map(row => refused.one(row)));
  expect(each).toMatchObject(Array(5).fill({status: 'rejected', reason: {code: 'credentials'}}));
  expect((await refused.close()).exitCode).toBe(6);
  const controller = new AbortController();
  const aborted = await createEnricher(settings, {...program.options, signal: controller.signal});
  controller.abort();
  await expect(aborted.one({ip: address(0)})).rejects.toBeInstanceOf(AbortError);
  expect((await aborted.close()).exitCode).toBe(130);
});

it('while the service is down, a row is told within its budget', async () => {
  await using program = await startProgram();
  await program.api.close();
  const enricher = await createEnricher(settings, program.options);
  const each = await Promise.all(rows(20).map(row => enricher.one(row, {budgetMs: 50})));
  // Rows are told at once as soon as enough calls have failed for an outage.
  for (const {enrichment} of each) expect(['out_of_time', 'outage']).toContain(enrichment.ip.error);
  expect((await enricher.close()).summary?.credits.spent).toBe(0);
});

it('a row that throws when it is read is its own caller’s trouble', async () => {
  await using program = await startProgram();
  await using enricher = await createEnricher(settings, program.options);
  const own = new Error('lazy column');
  const bad = {
    get ip(): string {
      throw own;
    },
  };
  await expect(enricher.one(bad)).rejects.toBe(own);
  const hidden = Object.create(bad) as {ip: string};
  for (const row of [bad, hidden]) {
    const out: string[] = [];
    const reading = async () => {
      for await (const {ip} of enricher.many([{ip: address(2)}, row, {ip: address(3)}])) out.push(ip);
    };
    await expect(reading()).rejects.toBe(own);
    expect(out).toEqual([address(2)]);
  }
  expect((await enricher.one({ip: address(1)})).enrichment.ip.status).toBe('ok');
});

it('columns are named, and it has no limit of rows', async () => {
  await using program = await startProgram();
  await expect(createEnricher({endpoint: 'live'}, program.options)).rejects.toMatchObject({
    code: 'no_columns',
  });
  await expect(createEnricher({ip: 'ip', maxCredits: 1.5}, program.options)).rejects.toThrow(/^maxCredits: /);
  await expect(createEnricher(settings, {...program.options, graceMs: -1})).rejects.toThrow(/^graceMs: /);
});
