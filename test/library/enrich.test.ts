import {getEventListeners} from 'node:events';
import {mkdirSync, readdirSync, readFileSync, rmSync} from 'node:fs';
import {join} from 'node:path';
import {PassThrough} from 'node:stream';
import {setTimeout} from 'node:timers/promises';
import {pino} from 'pino';
import {expect, onTestFinished, test, vi} from 'vitest';
import {
  AbortError,
  BulkEnrichError,
  type EnrichSettings,
  enrich,
  enrichStream,
  runJob,
} from '../../src/index.ts';
import {reply} from '../support/api-server-reply.ts';
import {accelerated} from '../support/fast-clock.ts';
import {held} from '../support/main.ts';
import {until} from '../support/until.ts';
import {address, bySpeed, startProgram} from './program.ts';

const it = test.extend('program', async () => {
  const program = await startProgram();
  onTestFinished(() => program[Symbol.asyncDispose]());
  return program;
});
const settings = {...bySpeed, ip: 'ip'} as const;

async function* rows(count: number) {
  for (let id = 0; id < count; id++) yield {id, ip: `192.0.2.${id % 50}`};
}

async function all<T>(enriched: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const row of enriched) found.push(row);
  return found;
}

/** The rows that come, and the error after them. */
async function allUntilError<T>(enriched: AsyncIterable<T>): Promise<{rows: T[]; error: unknown}> {
  const rows: T[] = [];
  try {
    for await (const row of enriched) rows.push(row);
  } catch (error) {
    return {rows, error};
  }
  return {rows, error: undefined};
}

it('rows come back in order with their answers, each value asked for once', async ({program}) => {
  const enriched = await all(enrich(rows(600), settings, program.options));
  expect(enriched.map(row => row.id)).toEqual(Array.from({length: 600}, (_, id) => id));
  expect(enriched[7]).toMatchObject({ip: '192.0.2.7', enrichment: {ip: {status: 'ok', error: null}}});
  expect(program.api.ledger.calls).toBe(50);
});

it.for([
  [{[Symbol.iterator]: () => ({next: () => 5})}, 'number'],
  [{[Symbol.asyncIterator]: () => ({next: async () => null})}, 'null'],
])('rows whose iterator gives no results are refused: %#', async ([broken, what], {program}) => {
  const reading = all(Reflect.apply(enrich, undefined, [broken, settings, program.options]));
  const message = `rows: their iterator's next() gave ${what}, not an object {done, value}.`;
  await expect(reading).rejects.toMatchObject({code: 'settings', message});
});

it('an iterator ends as in a loop: by any value of `done` that is true', async ({program}) => {
  const given = [{ip: '192.0.2.1'}];
  const next = () => (given.length === 0 ? {done: 1} : {value: given.pop()});
  const loose = {[Symbol.iterator]: () => ({next})} as unknown as Iterable<{ip: string}>;
  expect(await all(enrich(loose, settings, program.options))).toHaveLength(1);
});

it("the caller's own objects come back, whatever is in them", async ({program}) => {
  class Signup {
    readonly when = new Date(0);
    readonly tags = new Map([['a', new Set([1])]]);
    readonly score = Number.NaN;
    readonly none = undefined;
    readonly big = 12345678901234567890n;
    readonly self = this;
    readonly #ip: string;
    constructor(ip: string) {
      this.#ip = ip;
    }
    get ip(): string {
      return this.#ip;
    }
  }
  const given = [new Signup('192.0.2.1'), new Signup('192.0.2.2')];
  const before = given.map(row => Object.entries(row));
  const enriched = await all(enrich(given, settings, program.options));
  for (const [index, row] of enriched.entries()) {
    expect(row).toBe(given[index]);
    expect(row).toBeInstanceOf(Signup);
    expect(Object.entries(row).slice(0, -1)).toEqual(before[index]);
    expect(row.enrichment.ip.status).toBe('ok');
  }
});

it('a row that takes no more properties comes as a copy', async ({program}) => {
  class Signup {
    readonly ip = '192.0.2.1';
    get host(): string {
      return `host of ${this.ip}`;
    }
  }
  const frozen = Object.freeze(new Signup());
  const [copy] = await all(enrich([frozen], settings, program.options));
  expect(copy).toBeInstanceOf(Signup);
  expect([copy === frozen, copy?.host]).toEqual([false, 'host of 192.0.2.1']);
  expect(copy).toMatchObject({ip: '192.0.2.1', enrichment: {ip: {status: 'ok'}}});
  const refusing = new Proxy({ip: '192.0.2.1'}, {defineProperty: () => false});
  expect((await all(enrich([refusing], settings, program.options)))[0]?.enrichment.ip.status).toBe('ok');
});

it("an earlier run's result is replaced, whether columns are named or found", async ({program}) => {
  const again = {ip: '192.0.2.1'};
  const stored = {...bySpeed, store: program.temporary};
  for (const columns of [{ip: 'ip'}, {}, {}] as const)
    expect((await all(enrich([again], {...stored, ...columns}, program.options)))[0]).toBe(again);
  const own = {ip: '192.0.2.1', enrichment: 'mine'};
  const reading = all(enrich([own], stored, program.options));
  await expect(reading).rejects.toThrow('The row at index 0 has a property "enrichment" of its own');
});

it('each row of a live source is asked for as it comes; an idle one ends at once on abort', async ({
  program,
}) => {
  const reason = new Error('the request was closed');
  const controller = new AbortController();
  const next = held();
  async function* live() {
    yield {ip: '192.0.2.1'};
    await next.gate;
  }
  const out: string[] = [];
  const reading = async () => {
    for await (const row of enrich(live(), settings, {...program.options, signal: controller.signal})) {
      out.push(row.ip);
      // The source has nothing more for now, and never will.
      setImmediate(() => controller.abort(reason));
    }
  };
  const error = await reading().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(AbortError);
  expect(error).toMatchObject({name: 'AbortError', code: 'aborted', cause: reason});
  expect(out).toEqual(['192.0.2.1']);
  next.letGo();
});

it('a stream whose rows are left is destroyed, also while it has none', async ({program}) => {
  const live = new PassThrough({objectMode: true});
  live.write({ip: '192.0.2.1'});
  const source: AsyncIterable<{ip: string}> = live;
  for await (const _ of enrich(source, settings, program.options)) break;
  expect(live.destroyed).toBe(true);
});

it('graceMs says how long calls in flight get on abort and on break; then they are maybe spent', async () => {
  const sent = held();
  const answers = held();
  await using program = await startProgram({
    script: async ({value}) => {
      if (value === '192.0.2.1') return undefined;
      sent.letGo();
      return answers.gate;
    },
  });
  const summary = `${program.temporary}/summary.json`;
  const options = {...program.options, graceMs: 0};
  for await (const row of enrich([{ip: '192.0.2.1'}, {ip: '192.0.2.2'}], {...settings, summary}, options)) {
    expect(row.ip).toBe('192.0.2.1');
    await sent.gate;
    break;
  }
  const credits = {spent: 1, maybe_spent: 1};
  expect(JSON.parse(readFileSync(summary, 'utf8'))).toMatchObject({status: 'interrupted', credits});
  answers.letGo();
});

it('no rows are no error, and the summary claims no bytes and no digest of an input that was not read', async ({
  program,
}) => {
  const summary = join(program.temporary, 'summary.json');
  expect(await all(enrich([], {...settings, summary}, program.options))).toEqual([]);
  expect(program.api.ledger.requests).toBe(0);
  const {input} = JSON.parse(readFileSync(summary, 'utf8'));
  expect(input).toMatchObject({bytes: null, sha256: null});
});

it.for([
  ['async', settings],
  ['without named columns', bySpeed],
] as const)(
  'rows that were read before their source failed come out, then its own error: %s',
  async ([_, given], {program}) => {
    const own = new Error('the database went away');
    async function* broken() {
      yield {ip: '192.0.2.1'};
      yield {ip: '192.0.2.2'};
      throw own;
    }
    const {rows: out, error} = await allUntilError(enrich(broken(), given, program.options));
    expect(error).toBe(own);
    expect(out.map(({ip}) => ip)).toEqual(['192.0.2.1', '192.0.2.2']);
  },
);

it.each([
  ['in which no value may be sent again', {resends: 1, maxOutage: '10m'}],
  ['that lasts for too long', {maxOutage: '10s'}],
] as const)('an outage %s ends the rows, and none comes without its answer', async (_, more) => {
  await using program = await startProgram({script: () => reply.drop('reset', {charge: true})});
  const warnings: string[] = [];
  const options = {...program.options, onWarning: (sentence: string) => void warnings.push(sentence)};
  const reading = () => allUntilError(enrich(rows(6), {...settings, ...more}, options));
  const {rows: out, error} = await accelerated(200, reading);
  expect([out, error]).toEqual([[], expect.objectContaining({code: 'outage', exitCode: 5})]);
  const told = warnings.filter(text => text.includes('tries again by itself'));
  expect(told).toEqual([expect.stringMatching(/until \S+Z at most \(maxOutage\)/)]);
});

it.each([
  ['onWarning', (fail: (told: unknown) => void) => ({onWarning: fail})],
  ['log', (fail: (told: unknown) => void) => ({log: {...console, info: fail}})],
  [
    'an async onWarning',
    (fail: (told: unknown) => void) => ({onWarning: async (told: string) => fail(told)}),
  ],
])('an error of %s ends the run out of a timer, too, and comes unchanged', async (_, more) => {
  await using program = await startProgram({script: () => reply.drop('reset', {charge: true})});
  const own = new Error('the chat is away');
  const fail = (told: unknown) => {
    if (/tries again by itself|run_waiting/.test(JSON.stringify(told))) throw own;
  };
  const options = {...program.options, onWarning: () => {}, ...more(fail)};
  const reading = () => allUntilError(enrich(rows(6), {...settings, maxOutage: '10m'}, options));
  expect(await accelerated(200, reading)).toEqual({rows: [], error: own});
});

it('a signal that many runs share has one listener, and none once they have ended', async () => {
  const answers = held();
  await using program = await startProgram({script: () => answers.gate});
  const {signal} = new AbortController();
  const options = {...program.options, signal};
  const reading = Array.from({length: 12}, () => all(enrich(rows(2), settings, options)));
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  answers.letGo();
  await Promise.all(reading);
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});

it('runs at once over one store pay for each value once: the other run books a stored answer', async () => {
  await using program = await startProgram({latencyMs: 20});
  const list = Array.from({length: 200}, (_, n) => ({ip: address(n)}));
  const shared = {ip: 'ip', rate: 'unlimited', store: program.temporary} as const;
  const summaries = ['one', 'two'].map(name => join(program.temporary, `${name}.json`));
  const own = () => list.map(row => ({...row}));
  const runs = summaries.map(summary => all(enrich(own(), {...shared, summary}, program.options)));
  for (const rows of await Promise.all(runs))
    expect(rows.map(({enrichment}) => enrichment.ip.status)).toEqual(list.map(() => 'ok'));
  expect(program.api.ledger.calls).toBe(200);
  const spent = summaries.map(path => JSON.parse(readFileSync(path, 'utf8')).credits.spent as number);
  expect(spent.reduce((sum, one) => sum + one, 0)).toBe(200);
});

it('a value that another run gave up is sent by the run that waits for it', async () => {
  const [sent, answers] = [held(), held()];
  await using program = await startProgram({
    script: async ({attempt}) => {
      if (attempt > 1) return undefined;
      sent.letGo();
      return answers.gate;
    },
  });
  const given = {ip: 'ip', rate: 'unlimited', store: program.temporary} as const;
  const leaving = new AbortController();
  const options = {...program.options, graceMs: 0, signal: leaving.signal};
  const first = all(enrich([{ip: '192.0.2.1'}], given, options)).catch((error: unknown) => error);
  await sent.gate;
  const second = all(enrich([{ip: '192.0.2.1'}], given, program.options));
  expect(await Promise.race([second, setTimeout(300, 'waits')])).toBe('waits');
  leaving.abort();
  expect(await first).toBeInstanceOf(AbortError);
  expect((await second)[0]?.enrichment.ip.status).toBe('ok');
  expect(program.api.ledger.calls).toBe(2);
  answers.letGo();
});

it('a dozen runs at once leave no listener of their own on the process', async () => {
  const answers = held();
  await using program = await startProgram({script: () => answers.gate});
  const before = process.listenerCount('exit');
  const reading = Array.from({length: 12}, () => all(enrich(rows(2), settings, program.options)));
  await until(() => program.api.ledger.calls >= 12);
  expect(process.listenerCount('exit') - before).toBeLessThanOrEqual(1);
  answers.letGo();
  await Promise.all(reading);
  expect(process.listenerCount('exit')).toBe(before);
});

it.each<[rows: unknown, settings: unknown, options: object, said: string]>([
  [Promise.resolve([]), settings, {}, 'found a promise: await it first'],
  [{rows: []}, settings, {}, 'found an object: pass its list'],
  [null, settings, {}, 'found null'],
  ['192.0.2.1', settings, {}, 'found string'],
  [undefined, settings, {}, 'found undefined'],
  [[], undefined, {}, 'Expected an object with settings'],
  [[], null, {}, 'Expected an object with settings'],
  [[], settings, {onWarning: 5}, 'onWarning: expected a function'],
  [[], settings, {signal: new AbortController()}, 'signal: expected an AbortSignal'],
])(
  '%o as rows, %j as settings with %j as options are refused with a code',
  async (given, set, more, said) => {
    const refusal = {code: 'settings', message: expect.stringContaining(said)};
    const options = {env: {}, ...more};
    const enriched = () => all(Reflect.apply(enrich, undefined, [given, set, options]));
    await expect(enriched()).rejects.toMatchObject(refusal);
    if (set === settings && Object.keys(more).length === 0) return;
    await expect(Reflect.apply(runJob, undefined, [set, options])).rejects.toMatchObject(refusal);
    const streamed = () => Reflect.apply(enrichStream, undefined, [set, options]);
    expect(streamed).toThrow(expect.objectContaining(refusal));
  },
);

it('a list in a cell is what a cell with several values is', async ({program}) => {
  const ip = [['8.8.8.8'], ['8.8.8.8', '1.1.1.1'], [], [8]];
  const given = ip.map(addresses => ({ip: addresses}));
  const seen = await all(enrich(given, settings, program.options));
  const found = seen.map(({enrichment}) => enrichment.ip.error ?? enrichment.ip.status);
  expect(found).toEqual(['ok', 'ip_list', 'empty', 'ip_malformed']);
  const several = [{ip: ['1.1.1.1', '8.8.4.4']}];
  const [first] = await all(enrich(several, {...settings, ipFromList: 'first'}, program.options));
  expect(first?.enrichment.ip.status).toBe('ok');
});

it('a date in a row is a timestamp in rules', async ({program}) => {
  const when = 'timestamp(row.created) > timestamp("2020-01-01T00:00:00Z")';
  const score = {rules: [{when, add: 50, reason: 'new'}]};
  const given = ['2026-01-01', '2010-01-01'].map(day => ({ip: '8.8.8.8', created: new Date(day)}));
  const seen = await all(enrich(given, {...settings, score}, program.options));
  expect(seen.map(({enrichment}) => enrichment.risk?.level)).toEqual(['medium', 'low']);
});

it('an error that a row throws when it is read comes after the rows before it', async ({program}) => {
  const own = new Error('lazy column');
  const bad = {
    get ip(): string {
      throw own;
    },
  };
  const trap = (): never => {
    throw own;
  };
  const proxy = new Proxy(bad, {getPrototypeOf: trap, ownKeys: trap, has: trap, get: trap});
  for (const row of [bad, Object.create(bad) as {ip: string}, proxy]) {
    const given = [{ip: address(2)}, row, {ip: address(3)}];
    const {rows: out, error} = await allUntilError(enrich(given, settings, program.options));
    expect(error).toBe(own);
    expect(out.map(({ip}) => ip)).toEqual([address(2)]);
  }
  // The rows behind them cost nothing.
  expect(program.api.ledger.calls).toBe(3);
});

it('a row that is too large, or no object, is a result with its index', async ({program}) => {
  const given = [{ip: '192.0.2.1'}, {ip: '192.0.2.2', text: 'x'.repeat(1_048_577)}, null, 'text', [1]];
  const enriched = await all(enrich(given as {ip: string}[], settings, program.options));
  expect(enriched.map(({enrichment}) => [enrichment.rejected?.index, enrichment.rejected?.reason])).toEqual([
    [undefined, undefined],
    [1, 'too_large'],
    [2, 'not_an_object'],
    [3, 'not_an_object'],
    [4, 'not_an_object'],
  ]);
  expect(enriched[1]).toBe(given[1]);
  const ip = {status: 'skipped', error: 'rejected', data: null};
  expect(enriched[2]?.enrichment).toMatchObject({ip, risk: {level: 'unknown'}});
  const unscored = {...settings, score: 'none'} as const;
  const nothing: Iterable<{ip: string}> = JSON.parse('[null]');
  const [row] = await all(enrich(nothing, unscored, program.options));
  expect(Object.keys(row?.enrichment ?? {})).toEqual(['ip', 'rejected']);
  expect(program.api.ledger.calls).toBe(1);
});

it.each([
  ['a refused key at the first call', {}, [], {code: 'credentials', exitCode: 6}],
  [
    'failIf once all rows are out',
    {failIf: ['rows.written > 1']},
    [{id: 0}, {id: 1}, {id: 2}],
    {code: 'fail_if', exitCode: 4},
  ],
  ['maxErrors, even at the last row', {maxErrors: 0}, [{id: 0}], {code: 'max_errors', exitCode: 4}],
] as const)(
  'a run is ended by %s, with the code and the exit code of the command',
  async (_, more, out, error) => {
    const script = () => (error.code === 'max_errors' ? reply.error(404, 'not_found') : undefined);
    await using program = await startProgram({script});
    if (error.code === 'credentials') program.api.setKey('another');
    const ended = await allUntilError(enrich(rows(out.length || 1), {...settings, ...more}, program.options));
    expect(ended).toMatchObject({rows: out, error: {...error, constructor: BulkEnrichError}});
  },
);

it('limit holds for rows that come in groups', async ({program}) => {
  const given = Array.from({length: 600}, (_, id) => ({id, ip: `192.0.2.${id < 300 ? 1 : 2}`}));
  const enriched = await all(enrich(given, {...settings, limit: 300}, program.options));
  expect(enriched.map(({id}) => id)).toEqual(given.slice(0, 300).map(({id}) => id));
  expect(program.api.ledger.calls).toBe(1);
});

it('each column has its own repairs, and only the fields that are chosen', async ({program}) => {
  const given = {ip: '192.0.2.1', email: "'jo@example.com"};
  const named = {...settings, email: 'email', fields: ['ip.country', 'email.domain']} as const;
  const [row] = await all(enrich([given], named, program.options));
  expect(Object.keys(row?.enrichment.ip ?? {})).toEqual(['status', 'error', 'data']);
  expect(Object.keys(row?.enrichment.ip.data ?? {})).toEqual(['country']);
  const data = {domain: 'example.com'};
  expect(row?.enrichment.email).toMatchObject({repairs: ['leading_apostrophe'], data});
});

it.for([
  [{emial: 'x'}, 'emial: this setting does not exist. Did you mean "email"?'],
  [{max_credits: 5}, 'max_credits: this setting does not exist. Did you mean "maxCredits"?'],
  [{ip: 'ip', maxCredits: -1}, /^maxCredits: expected /],
  [{ip: []}, 'ip: expected a column such as signup_ip or'],
  [{ip: 'ip', output: 'out.csv'}, 'output: this setting does not apply to rows that a program gives.'],
  [{ip: 'ip', rejects: 'x'}, 'rejects: this setting does not apply to rows that a program gives.'],
  [{ip: 'ip', fields: 'ip.contry'}, /^fields: no answer has .* Did you mean "ip.country"\?$/],
  [{ip: 'ip', requireStore: true}, /^requireStore: true needs .*store: false/],
] as const)(
  'a mistake in the settings %j is spoken of as they are written',
  async ([given, message], {program}) => {
    const wrong = {store: false, ...given} as EnrichSettings<{ip: string}>;
    await expect(all(enrich(rows(1), wrong, program.options))).rejects.toThrow(message);
  },
);

it('nothing is left in the temporary directory, however the process ends', async ({program}) => {
  vi.stubEnv('TMPDIR', program.temporary);
  onTestFinished(() => void vi.unstubAllEnvs());
  for await (const _ of enrich(rows(2), {...settings, maxCredits: 5}, program.options))
    expect(readdirSync(program.temporary).filter(name => name.startsWith('bulk-enrich-'))).toEqual([]);
});

it('an error follows the last row if the run could not write its summary', async ({program}) => {
  const folder = join(program.temporary, 'summaries');
  const summary = join(folder, 's.json');
  mkdirSync(folder);
  const taken: number[] = [];
  const reading = async () => {
    for await (const {id} of enrich(rows(3), {...settings, summary}, program.options)) {
      taken.push(id);
      rmSync(folder, {recursive: true, force: true});
    }
  };
  await expect(reading()).rejects.toMatchObject({code: 'publish_failed', exitCode: 9});
  expect(taken).toEqual([0, 1, 2]);
});

it('the log of a loop that took all rows ends with the end of the run', async ({program}) => {
  const events: string[] = [];
  const write = (line: string) => events.push(JSON.parse(line).event);
  const log = pino({level: 'info'}, {write});
  await all(enrich(rows(3), settings, {...program.options, log}));
  expect(events).not.toContain('run_stopping');
  expect(events.at(-1)).toBe('run_ended');
});
