import {afterEach, beforeEach, expect, it, vi} from 'vitest';
import {createEnricher, type Enricher, enrich} from '../../src/index.ts';
import {policyNumbers} from '../../src/lookup/policy.ts';
import {type Reply, reply} from '../support/api-server-reply.ts';
import {until} from '../support/until.ts';
import {address, bySpeed, type Program, startProgram} from './program.ts';

const settings = {...bySpeed, ip: 'ip', score: 'none', concurrency: 2} as const;
const {urgentProbeMs} = policyNumbers;

/** Time stands still, but for what a test lets pass. */
let passedMs = 0;
beforeEach(() => {
  const start = performance.now();
  passedMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => start + passedMs);
});
afterEach(() => vi.restoreAllMocks());

const rows = (from: number, count: number) =>
  Array.from({length: count}, (_, n) => ({ip: address(from + n)}));
const OUTAGE = ['skipped', 'outage'];

/** A service that breaks every call off until it is `up`. */
async function startDown(): Promise<Program & {up(): void}> {
  let isUp = false;
  const script = (): Reply | undefined => (isUp ? undefined : reply.drop());
  const program = await startProgram({script});
  return {
    ...program,
    up() {
      isUp = true;
    },
  };
}

/** The results of requests for this many addresses at once. */
async function ask(enricher: Enricher<{ip: 'ip'}>, from: number, count: number) {
  const all = await Promise.all(rows(from, count).map(row => enricher.one(row)));
  return all.map(({enrichment}) => [enrichment.ip.status, enrichment.ip.error]);
}

it('in an outage a request is told at once, and one a second finds out when it is over', async () => {
  await using program = await startDown();
  await using enricher = await createEnricher(settings, program.options);
  expect(await ask(enricher, 0, 20)).toEqual(Array(20).fill(OUTAGE));
  expect(await ask(enricher, 20, 50)).toEqual(Array(50).fill(OUTAGE));
  passedMs += urgentProbeMs;
  expect(await ask(enricher, 70, 3)).toEqual(Array(3).fill(OUTAGE));
  const asked = rows(20, 60).filter(({ip}) => program.api.ledger.values.ip.has(ip));
  expect(asked).toEqual(rows(70, 1));
  program.up();
  passedMs += urgentProbeMs;
  expect(await ask(enricher, 80, 1)).toEqual([['ok', null]]);
  expect(await ask(enricher, 0, 20)).toEqual(Array(20).fill(['ok', null]));
});

it('rows of a list wait for the end of an outage, and leave a request the slot that it needs', async () => {
  await using program = await startDown();
  await using enricher = await createEnricher(settings, program.options);
  const list = (async () => {
    const found: unknown[] = [];
    for await (const {enrichment} of enricher.many(rows(0, 12))) found.push(enrichment.ip.status);
    return found;
  })();
  expect(await ask(enricher, 20, 5)).toEqual(Array(5).fill(OUTAGE));
  program.up();
  passedMs += urgentProbeMs;
  expect(await ask(enricher, 30, 1)).toEqual([['ok', null]]);
  expect(await list).toEqual(Array(12).fill('ok'));
});

it('an outage of any length ends no enricher: rows of a list are told after maxOutage', async () => {
  await using program = await startDown();
  await using enricher = await createEnricher({...settings, maxOutage: '10s'}, program.options);
  const list = (async () => {
    const found: unknown[] = [];
    for await (const {enrichment} of enricher.many(rows(0, 12))) found.push(enrichment.ip.error);
    return found;
  })();
  expect(await ask(enricher, 20, 5)).toEqual(Array(5).fill(OUTAGE));
  passedMs += 10_000;
  expect(await ask(enricher, 30, 1)).toEqual([OUTAGE]);
  expect(await list).toEqual(Array(12).fill('outage'));
  program.up();
  passedMs += urgentProbeMs;
  expect(await ask(enricher, 40, 1)).toEqual([['ok', null]]);
});

it('rows of enrich wait for maxOutage, and then end with the outage: none comes without its answer', async () => {
  await using program = await startDown();
  const out: unknown[] = [];
  const reading = async () => {
    const asked = {...settings, maxOutage: '10s'} as const;
    for await (const row of enrich(rows(0, 12), asked, program.options)) out.push(row);
  };
  const ended = expect(reading()).rejects.toMatchObject({code: 'outage', exitCode: 5});
  await until(() => program.api.ledger.calls >= policyNumbers.outageValues);
  // The run may take another moment to hear of the last of them: time passes until it has.
  const passing = setInterval(() => {
    passedMs += 10_000;
  }, 20);
  await ended;
  clearInterval(passing);
  expect(out).toEqual([]);
});

it('publishOn without outage ends it after maxOutage, as it ends a run', async () => {
  await using program = await startDown();
  const asked = {...settings, maxOutage: '10s', publishOn: []} as const;
  const enricher = await createEnricher(asked, program.options);
  await ask(enricher, 0, 20);
  passedMs += 10_000;
  await ask(enricher, 20, 1);
  await expect(enricher.one({ip: address(30)})).rejects.toMatchObject({code: 'outage', exitCode: 5});
  expect((await enricher.close()).exitCode).toBe(5);
});

it('with stale, a request has the last answer in an outage, and says so', async () => {
  await using program = await startProgram();
  const stored = {...settings, store: program.temporary};
  const before = await createEnricher(stored, program.options);
  await ask(before, 0, 1);
  await before.close();
  program.api.setScript(() => reply.drop());
  await using enricher = await createEnricher({...stored, maxAge: '0s', stale: '30d'}, program.options);
  await ask(enricher, 1, 20);
  expect((await enricher.one({ip: address(0)})).enrichment.ip).toMatchObject({status: 'ok', stale: true});
  const unknown = {status: 'skipped', error: 'outage', stale: null, data: null};
  expect((await enricher.one({ip: address(50)})).enrichment.ip).toEqual(unknown);
});

it('while calls can not be sent, a request is told without having a budget', async () => {
  await using program = await startProgram();
  await program.api.close();
  await using enricher = await createEnricher(settings, program.options);
  expect(await ask(enricher, 0, 8)).toEqual(Array(8).fill(OUTAGE));
});
