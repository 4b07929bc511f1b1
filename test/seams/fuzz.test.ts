import {parse} from 'csv-parse/sync';
import fc from 'fast-check';
import {expect, test} from 'vitest';
import type {Reply} from '../support/api-server-reply.ts';
import {accelerated} from '../support/fast-clock.ts';
import {openProgram} from './program.ts';

/** Statuses that stop a run for good, as they should, have cases of their own. */
const STOPPING = new Set([401, 402, 407]);

const status = fc.oneof(
  {weight: 3, arbitrary: fc.constant(200)},
  fc.integer({min: 200, max: 299}),
  fc.integer({min: 400, max: 599}).filter(each => !STOPPING.has(each)),
);

const known = fc.constantFrom('is_vpn', 'city', 'latitude', 'asn_number', '__proto__', 'constructor');
const fields = fc.dictionary(fc.oneof(known, fc.string()), fc.anything({maxDepth: 2}));
const json = fc
  .oneof(
    fields.map(data => ({success: true, data})),
    fc.record({success: fc.anything(), data: fc.anything(), message: fc.string()}, {requiredKeys: []}),
    fc.anything(),
  )
  .map(stringify);

const half = json.map(text => text.slice(0, text.length / 2));
const body = fc
  .oneof(json, half, fc.string(), fc.uint8Array({maxLength: 300}))
  .filter(each => !String(each).includes('invalid_token'));

const word = fc.constantFrom('0', '1', '-1', 'soon');
const headerText = fc
  .oneof(fc.string(), fc.integer().map(String), fc.double().map(String), word)
  .filter(text => /^[\t\x20-\x7e\x80-\xff]*$/.test(text));
const headers = fc.dictionary(
  fc.constantFrom(
    ...['Retry-After', 'RateLimit', 'RateLimit-Remaining', 'RateLimit-Reset', 'Date', 'Content-Type'],
    ...['X-RateLimit-Remaining', 'X-RateLimit-Reset', 'X-Whatever'],
  ),
  headerText,
);
const packing = fc.constantFrom('gzip', 'br', 'deflate', 'identity', 'zstd', 'gzip, br');
const packed = packing.map(each => ({'Content-Encoding': each}));
const encoding = fc.oneof({weight: 5, arbitrary: fc.constant({})}, packed);

const answer = fc.tuple(status, body, headers, encoding).map(([code, data, more, encoded]) => ({
  ...{kind: 'answer' as const, status: code, body: {as: 'bytes' as const, data, type: 'application/json'}},
  // A wait that is asked for is honoured, and has cases of its own; here it would only take time.
  headers: {...more, ...encoded, ...(Number(more['Retry-After']) > 1 ? {'Retry-After': '1'} : {})},
}));
const ending = fc.constantFrom('close' as const, 'reset' as const);
const raw = fc.tuple(ending, fc.string()).map(([ending, text]) => ({kind: 'raw' as const, text, ending}));
const reply: fc.Arbitrary<Reply> = fc.oneof({weight: 12, arbitrary: answer}, raw);

/**
 * One run against a server whose answers are generated, all of them by the seed: a row for each. Its rows must all
 * come back, and its books balance.
 */
async function fuzzRun(seed: number, rows: number): Promise<void> {
  const replies = fc.sample(reply, {seed, numRuns: 2 * rows});
  const values = Array.from({length: rows}, (_, index) => `198.18.${index >> 8}.${index & 255}`);
  await using program = await openProgram({
    // Every twentieth is answered, the first of all among them: a hundred refusals in a row would end the run.
    script: ({call, attempt}) =>
      call % 20 === 1 || attempt > 2 ? undefined : replies[call % replies.length],
  });
  program.write('list.csv', `ip\n${values.join('\n')}\n`);
  const settings = {ip: 'ip', rate: '200/s', timeout: '5s', maxOutage: '4h'};
  const {code, reason, summary} = await accelerated(40, () => program.run(settings));
  if (code !== 0 && code !== 3) throw new Error(`seed ${seed}: exit ${code}: ${reason}`);
  const written = parse<{ip: string}>(program.read('out.csv'), {columns: true});
  expect(written.map(({ip}) => ip)).toEqual(values);
  program.expectSound(summary);
}

/** The first seed, how many follow, and the rows of each: 10,000 answers in the soak. */
const [FIRST, ROUNDS, ROWS] =
  process.env.SOAK === undefined ? [1, 1, 200] : [2, Number(process.env.SOAK_ROUNDS ?? 20), 500];

test(`${ROUNDS * ROWS} generated answers: no crash, no hang, no row missing`, async () => {
  for (let seed = FIRST; seed < FIRST + ROUNDS; seed++) await fuzzRun(seed, ROWS);
});

function stringify(value: unknown): string {
  try {
    return JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? String(each) : each)) ?? '';
  } catch {
    return '';
  }
}
