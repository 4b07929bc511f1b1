import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {Readable} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import {afterAll, afterEach, beforeEach, expect, it} from 'vitest';
import {BulkEnrichError, type Enriched, type EnrichSettings, enrich, enrichStream} from '../../src/index.ts';
import {type ApiServer, startApiServer} from '../support/api-server.ts';

const home = mkdtempSync(`${tmpdir()}/bulk-enrich-test-`);
afterAll(() => rmSync(home, {recursive: true, force: true}));
let server: ApiServer;
beforeEach(async () => {
  server = await startApiServer({key: 'library-key'});
});
afterEach(() => server.close());
const options = () => ({
  env: {
    HOME: home,
    XDG_CACHE_HOME: home,
    BULK_ENRICH_BASE_URL: server.url,
    BULK_ENRICH_API_KEY: 'library-key',
  },
});
const settings = {ip: 'ip', rate: 'unlimited', cache: false} as const;

async function* rows(count: number, seen: {read: number} = {read: 0}, text = '') {
  for (let id = 0; id < count; id++) {
    seen.read = id + 1;
    yield {id, ip: `192.0.2.${id % 50}`, nested: {big: 'ä'}, text};
  }
}

it('rows come back in order with their answers, each value asked for once', async () => {
  const enriched: Enriched<{id: number; ip: string}>[] = [];
  for await (const row of enrich(rows(3_000), settings, options())) enriched.push(row);
  expect(enriched.map(row => row.id)).toEqual(Array.from({length: 3_000}, (_, id) => id));
  expect(enriched[7]).toMatchObject({
    ip: '192.0.2.7',
    nested: {big: 'ä'},
    enrichment: {ip: {status: 'ok', error: null}},
  });
  expect(server.ledger.calls).toBe(50);
});

it('no rows are no error', async () => {
  for await (const row of enrich([], settings, options())) expect(row).toBe('none');
  expect(server.ledger.requests).toBe(0);
});

it('who stops taking rows stops the reading and the calls', async () => {
  const seen = {read: 0};
  for await (const row of enrich(rows(100_000, seen, 'x'.repeat(2_000)), settings, options()))
    if (row.id === 3) break;
  expect(seen.read).toBeLessThan(60_000);
});

it('a run that stops throws, with the code and the exit code of the command', async () => {
  server.setKey('another');
  const all = (async () => {
    for await (const _ of enrich(rows(10), settings, options()));
  })();
  await expect(all).rejects.toMatchObject({constructor: BulkEnrichError, code: 'credentials', exitCode: 6});
});

it('an error of the rows themselves reaches the caller', async () => {
  async function* broken() {
    yield {ip: '192.0.2.1'};
    throw new Error('the database went away');
  }
  const all = (async () => {
    for await (const _ of enrich(broken(), settings, options()));
  })();
  await expect(all).rejects.toThrow();
});

it('a row that is too large ends the run instead of getting lost', async () => {
  const all = (async () => {
    for await (const _ of enrich(
      [{ip: '192.0.2.1', text: 'x'.repeat(3_000)}],
      {...settings, maxRecordSize: 1_024},
      options(),
    ));
  })();
  await expect(all).rejects.toMatchObject({code: 'max_rejects'});
});

it('enrichStream takes and gives rows in object mode', async () => {
  const ids: number[] = [];
  await pipeline(Readable.from(rows(120)), enrichStream(settings, options()), async stream => {
    for await (const row of stream) ids.push((row as {id: number}).id);
  });
  expect(ids).toHaveLength(120);
});

it.each([
  [{emial: 'x'}, 'emial: there is no such setting. Did you mean "email"?'],
  [{max_credits: 5}, 'max_credits: there is no such setting. Did you mean "maxCredits"?'],
  [{ip: 'ip', maxCredits: -1}, /^maxCredits: expected /],
])('a mistake in the settings %j is spoken of as they are written', async (given, message) => {
  const all = (async () => {
    for await (const _ of enrich(rows(1), given as EnrichSettings<{ip: string}>, options()));
  })();
  await expect(all).rejects.toThrow(message);
});
