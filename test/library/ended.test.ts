import {execFile} from 'node:child_process';
import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {type Duplex, Readable, Writable} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import {promisify} from 'node:util';
import {expect, it} from 'vitest';
import {enrich, enrichStream, runJob} from '../../src/index.ts';
import type {Call} from '../support/api-server.ts';
import {reply} from '../support/api-server-reply.ts';
import {held} from '../support/main.ts';
import {address, bySpeed, type Program, startProgram} from './program.ts';

const ANSWERED = 8;
const IN_FLIGHT = 4;
const rows = Array.from({length: 40}, (_, n) => ({ip: address(n)}));

/** Answers to the calls in flight when the rows are ended, which would be sent again; the last call has a good one. */
const lastReplies = [reply.drop('reset', {charge: true}), reply.error(500, 'broken'), reply.throttle(0)];

const first = new Set(rows.slice(0, ANSWERED).map(({ip}) => ip));

/** A service that answers calls about the first rows and holds the others; `isHolding` once those in flight are. */
async function startHolding() {
  const holding = held();
  const answers = held();
  let waiting = 0;
  const script = async ({value}: Call) => {
    if (first.has(value)) return undefined;
    const reply = lastReplies[waiting++];
    if (waiting === IN_FLIGHT) holding.letGo();
    await answers.gate;
    return reply;
  };
  return {program: await startProgram({script}), isHolding: holding.gate, letGo: answers.letGo};
}

type Settings = ReturnType<typeof settingsFor>;

/** Begins to take rows. What it returns ends that, and resolves once the run has ended. */
type Begin = (settings: Settings, options: Program['options']) => End | Promise<End>;
type End = () => Promise<unknown>;

function settingsFor({temporary}: Program) {
  const summary = join(temporary, 'summary.json');
  return {...bySpeed, ip: 'ip', score: 'none', concurrency: IN_FLIGHT, summary} as const;
}

const own = new Error('the table is locked');
const quiet = (ended: Promise<unknown>) => ended.catch(() => {});
const closed = (stream: Duplex) => new Promise(resolve => stream.once('close', resolve));
const reader = () => new Writable({objectMode: true, write: (_row, _encoding, done) => done()});

/** Streams all rows to a reader until `end`. */
function streaming(end: (stream: Duplex, last: Writable, pipe: AbortController) => unknown): Begin {
  return (settings, options) => {
    const [stream, last, pipe] = [enrichStream(settings, options), reader(), new AbortController()];
    const piped = quiet(pipeline(Readable.from(rows), stream, last, {signal: pipe.signal}));
    return async () => {
      end(stream, last, pipe);
      await Promise.all([piped, closed(stream)]);
    };
  };
}

/** Takes the rows that are answered, then waits for the next one until `end`. */
function awaitingNext(end: (enriched: AsyncGenerator<unknown>) => Promise<unknown>): Begin {
  return async (settings, options) => {
    const enriched = enrich(rows, settings, options);
    for (let taken = 0; taken < ANSWERED; taken += 1) await enriched.next();
    const next = enriched.next();
    return async () => {
      const ended = quiet(end(enriched));
      expect(await next).toEqual({done: true, value: undefined});
      await ended;
    };
  };
}

/** Takes the rows that are answered in a loop that breaks at its end. */
async function looping(enriched: AsyncIterable<unknown>): Promise<End> {
  const [atLast, left] = [held(), held()];
  const take = async () => {
    let taken = 0;
    for await (const _ of enriched) {
      taken += 1;
      if (taken < ANSWERED) continue;
      atLast.letGo();
      await left.gate;
      break;
    }
  };
  const taking = take();
  await atLast.gate;
  return () => {
    left.letGo();
    return taking;
  };
}

const ways: Readonly<Record<string, Begin>> = {
  'destroy() of a stream': streaming(stream => stream.destroy()),
  'destroy(error) of a stream': streaming(stream => stream.destroy(own)),
  'an error of the stream behind it': streaming((_, last) => last.destroy(own)),
  'the signal of a pipeline': streaming((_, _last, pipe) => pipe.abort()),
  'a break of the loop over a stream': async (settings, options) => {
    const stream = enrichStream(settings, options);
    void quiet(pipeline(Readable.from(rows), stream));
    const [end, ended] = [await looping(stream), closed(stream)];
    return () => Promise.all([end(), ended]);
  },
  'the signal of a stream that is not read': (settings, options) => {
    const controller = new AbortController();
    const stream = enrichStream(settings, {...options, signal: controller.signal});
    void quiet(pipeline(Readable.from(rows), stream));
    stream.read(0);
    const ended = [new Promise(resolve => stream.once('error', resolve)), closed(stream)];
    return async () => {
      controller.abort(own);
      expect((await Promise.all(ended))[0]).toMatchObject({name: 'AbortError', cause: own});
    };
  },
  'a break of the loop': (settings, options) => looping(enrich(rows, settings, options)),
  'return() while a row is waited for': awaitingNext(enriched => enriched.return(undefined)),
  'throw() while a row is waited for': awaitingNext(enriched => enriched.throw(own)),
  'the signal of a job': ({summary, ...settings}, options) => {
    const controller = new AbortController();
    const {signal} = controller;
    const [input, output] = [`${summary}.csv`, `${summary}.out.csv`];
    writeFileSync(input, ['ip', ...rows.map(({ip}) => ip), ''].join('\n'));
    const ended = runJob({...settings, input, output, summary}, {...options, signal});
    return () => {
      controller.abort();
      return ended;
    };
  },
};

it.each(Object.entries(ways))(
  'nothing leaves after %s, and what is in flight is booked',
  async (_, begin) => {
    const {program, isHolding, letGo} = await startHolding();
    await using _server = program;
    const settings = settingsFor(program);
    const end = await begin(settings, program.options);
    await isHolding;
    const ended = end();
    letGo();
    await ended;
    expect(program.api.ledger.calls).toBe(ANSWERED + IN_FLIGHT);
    const {credits} = JSON.parse(readFileSync(settings.summary, 'utf8'));
    expect(credits).toMatchObject({spent: ANSWERED + 1, maybe_spent: 2});
    expect(program.api.ledger.credits).toBe(credits.spent + credits.maybe_spent);
  },
);

it('rows that are left while the first ones are waited for cost nothing', async () => {
  await using program = await startProgram();
  const read = held();
  async function* live() {
    yield {ip: address(0)};
    read.letGo();
    await new Promise(() => {});
  }
  const enriched = enrich(live(), bySpeed, program.options);
  const next = enriched.next();
  await read.gate;
  expect(await enriched.return()).toEqual({done: true, value: undefined});
  expect(await next).toEqual({done: true, value: undefined});
  expect(program.api.ledger.requests).toBe(0);
});

const library = new URL('../../dist/index.js', import.meta.url).href;

/** Leaves the rows of a loop while the service is paused, then those of a stream while calls fail. */
const leaving = `
  import {Readable, Writable} from 'node:stream';
  import {pipeline} from 'node:stream/promises';
  import {enrich, enrichStream} from ${JSON.stringify(library)};
  const rows = network => Array.from({length: 150}, (_, n) => ({ip: network + n}));
  const settings = {ip: 'ip', score: 'none', store: false, rate: 'unlimited', concurrency: 4};
  for await (const {ip} of enrich(rows('198.51.100.'), settings)) {
    console.log(ip);
    break;
  }
  const last = new Writable({objectMode: true, write: (_row, _encoding, done) => done(new Error('locked'))});
  await pipeline(Readable.from(rows('203.0.113.')), enrichStream(settings), last).catch(({message}) => console.log(message));
`;

it('a process that leaves its rows sends nothing again, and ends', async () => {
  await using program = await startProgram({
    script: ({value}) => {
      if (value.endsWith('.0')) return undefined;
      return value.startsWith('198.') ? reply.throttle(600) : reply.drop('reset', {delayMs: 50});
    },
  });
  const args = ['--input-type=module', '--eval', leaving];
  const {stdout} = await promisify(execFile)(process.execPath, args, program.options);
  expect(stdout).toBe('198.51.100.0\nlocked\n');
  expect(program.api.ledger.repeated()).toEqual([]);
});
