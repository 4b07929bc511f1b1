import {afterAll, beforeAll, expect, test} from 'vitest';
import {type ApiServer, startApiServer} from '../support/api-server.ts';
import {type EarlyFault, type Extra, type Reply, reply} from '../support/api-server-reply.ts';
import {freePort} from '../support/free-port.ts';
import {openProgram, rowsOf} from './program.ts';

/**
 * Each end of a call, over the wire: the first call for a value gets it, all others are answered. A line has the calls
 * for the value that the service read, its row, the credits (spent, perhaps spent) of the value and of a second one
 * that is answered, and the exit code.
 */

const after = (seconds: number): Extra => ({headers: {'Retry-After': String(seconds)}});
const bare = (status: number, extra?: Extra) => reply.json({}, status, extra);

/** No run follows a redirect, so nobody asks here. */
let elsewhere: ApiServer;
beforeAll(async () => {
  elsewhere = await startApiServer({key: 'key-of-the-seams'});
});
afterAll(async () => {
  expect([elsewhere.ledger.connections, elsewhere.ledger.requests]).toEqual([0, 0]);
  await elsewhere.close();
});

const FOUR_MIB = 2 ** 22;
const TWO_DAYS = 172_800;
const quota = (left: number): Extra => ({headers: {RateLimit: `"day";r=${left};t=${TWO_DAYS}`}});
/** Two days from now, as a date and in seconds since 1970. */
const inTwoDays = new Date(Date.now() + TWO_DAYS * 1_000);
const epoch = Math.round(inTwoDays.getTime() / 1_000);
const untilThen = {'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': String(epoch)};
const nonsense = {
  'Retry-After': '1e99',
  RateLimit: '"x";r=NaN;t=-1',
  'X-RateLimit-Remaining': '0',
  'X-RateLimit-Reset': '9'.repeat(60),
};

/** By the line that a call comes to: the replies that come to it. */
const lines: Readonly<Record<string, Readonly<Record<string, Reply | EarlyFault | (() => Reply)>>>> = {
  '1 ok 2 0': {
    'an answer': reply.ok(),
    'an answer with Retry-After': reply.ok(after(3)),
    'an answer, and the connection reset': reply.ok({after: 'reset', delayMs: 5}),
    'an answer with headers full of nonsense': reply.ok({headers: nonsense}),
    'an answer with fields of other types': reply.wrongTypes(),
    'status 201': reply.json({success: true, data: {country: 'DE'}}, 201),
  },
  // The service did not read it, but it may have.
  '0 ok 2+1 0': {
    'a reset before the request': {when: 'head', ending: 'reset'},
    'a reset in the request': {when: 'body', ending: 'reset'},
  },
  '2 ok 2 0': {
    'status 429': bare(429),
    'status 429 with Retry-After': bare(429, after(0)),
    'status 503 with Retry-After': bare(503, after(0)),
    'two days until a window in which calls are left begins anew': reply.throttle(undefined, quota(2)),
    'two days until a window begins anew, and Retry-After': reply.throttle(0, quota(0)),
  },
  '2 ok 2+1 0': {
    ...Object.fromEntries([408, 425, 500, 503, 599].map(status => [`status ${status}`, bare(status)])),
    'status 500 with Retry-After': bare(500, after(0)),
    'status 408 with Retry-After': bare(408, after(0)),
    'a reset': reply.drop('reset'),
    'a closed connection': reply.drop('close'),
    'no answer in time': reply.stall(),
    'an answer that never ends': reply.drip(20),
    'an answer that is cut off by a reset': reply.cut(20, 'reset'),
    'an answer that is cut off by an end': reply.cut(20, 'close'),
  },
  '1 failed http_N 1+1 3': {
    ...Object.fromEntries([400, 404, 413, 499].map(status => [`status ${status}`, bare(status)])),
    'status 404 with a page': reply.html(404),
  },
  // Believed once a second run gets the same.
  '1 failed CODE 1+1 3': {
    'status 400 with a code': reply.error(400, 'code'),
    'status 422 with a code and Retry-After': reply.error(422, 'code', after(3)),
  },
  // Only a status of its own, and no code beside it, may be a gateway's.
  '1 failed http_404_page 1+1 3': {'a code that begins as one': reply.error(404, 'http_404_page')},
  '1 failed no_http_404 1+1 3': {'a code that ends as one': reply.error(404, 'no_http_404')},
  '1 failed service_error 1+1 3': {'status 404 that names no code': reply.json({success: false}, 404)},
  '1 failed CODE 2 3': {'status 200 with a code': reply.error(200, 'code')},
  '1 failed bad_response 1+1 3': {
    'bytes that are not HTTP': reply.raw('nonsense\r\n\r\n', {ending: 'close'}),
  },
  '1 failed bad_response 2 3': {
    'a text': reply.text('hello', 200, 'text/plain'),
    'a page': reply.html(),
    'status 204': reply.empty(204),
    'Latin-1 that says UTF-8': reply.wrongCharset(),
    'UTF-16 that says UTF-8': reply.wrongCharset('utf16le'),
    '4 MiB': reply.huge(FOUR_MIB),
    '4 MiB, as declared': reply.huge(FOUR_MIB, 'declared'),
    '4 MiB, packed': reply.gzipBomb(FOUR_MIB),
    'no body': reply.empty(),
    'a list': reply.list(),
    'a text as JSON': reply.json('hello'),
    'part of an answer, told as whole': reply.truncated(),
    'an answer without data': reply.json({success: true}),
    'an answer with no field': reply.json({success: true, data: {}}),
  },
  '1 none 0 6': {
    'status 401': bare(401),
    invalid_token: reply.unauthorized(),
    'invalid_token with status 400': reply.error(400, 'invalid_token', {charge: false}),
  },
  '1 none 0+1 6': {
    'invalid_token with status 200': reply.error(200, 'invalid_token'),
    'invalid_token with status 500': reply.error(500, 'invalid_token'),
  },
  '1 none 0 5': {
    'two days, in seconds': reply.throttle(TWO_DAYS),
    'two days, as a date': reply.throttle(inTwoDays),
    'two days, with status 503': reply.unavailable(TWO_DAYS),
    'two days, in RateLimit': reply.throttle(undefined, quota(0)),
    'two days, in X-RateLimit-Reset': reply.throttle(undefined, {headers: untilThen}),
  },
  '1 none 0 7': {'status 402': bare(402)},
  '1 none 0+1 2': {
    'status 301': () => reply.redirect(`${elsewhere.url}/intelligence/ip`, 301),
    'status 307': () => reply.redirect(`${elsewhere.url}/intelligence/ip`, 307),
  },
};

const cases = Object.entries(lines).flatMap(([line, replies]) =>
  Object.entries(replies).map(([name, scripted]) => [name, line, scripted] as const),
);

test.concurrent.each(cases)('%s: %s', async (name, line, end) => {
  const scripted = typeof end === 'function' ? end() : end;
  await using program = await openProgram({
    ...('when' in scripted
      ? {early: ({request}) => (request === 1 ? scripted : undefined)}
      : {script: ({value, attempt}) => (value === '8.8.8.8' && attempt === 1 ? scripted : undefined)}),
  });
  program.write('list.csv', 'ip\n8.8.8.8\n9.9.9.9\n');
  // A busy machine takes seconds for a body of 4 MiB.
  const timeout = /in time|never ends/.test(name) ? '3s' : '1m';
  const {code, summary} = await program.run({ip: 'ip', concurrency: 1, timeout});
  const calls = program.api.ledger.values.ip.get('8.8.8.8') ?? 0;
  const {spent = 0, maybe_spent: maybe = 0} = summary?.credits ?? {};
  const credits = maybe === 0 ? spent : `${spent}+${maybe}`;
  // A call that broke off was not read by the service: the one after it was.
  expect(`${'when' in scripted ? calls - 1 : calls} ${rowOf(program.read)} ${credits} ${code}`).toBe(line);
  program.expectSound(summary);
});

test('Retry-After as a date is measured against the clock of the response', async () => {
  const fiveHoursAgo = new Date(Date.now() - 5 * 3_600_000);
  const inTwoSeconds = new Date(fiveHoursAgo.getTime() + 2_000);
  const throttled = reply.throttle(inTwoSeconds, {headers: {Date: fiveHoursAgo.toUTCString()}});
  await using program = await openProgram({script: ({call}) => (call === 1 ? throttled : undefined)});
  program.write('list.csv', 'ip\n8.8.8.8\n');
  const {summary} = await program.run({ip: 'ip'});
  program.expectSound(summary);
  expect(summary?.pace.paused_ms).toBeGreaterThan(900);
  expect(summary?.pace.paused_ms).toBeLessThan(10_000);
});

test.each([
  ['a host without an address', async () => 'https://api.invalid'],
  ['a port that is closed', async () => `http://127.0.0.1:${await freePort()}`],
])('%s: exit 5 with the time to come back, and nothing was sent', async (_, urlOf) => {
  await using program = await openProgram();
  program.write('list.csv', 'ip\n8.8.8.8\n');
  const {code, summary} = await program.run({ip: 'ip', maxOutage: '1s'}, await urlOf());
  expect([code, summary?.calls.total, summary?.credits.spent]).toEqual([5, 0, 0]);
  expect(Date.parse(summary?.come_back_at ?? '')).toBeGreaterThan(Date.parse(summary?.finished_at ?? ''));
  program.expectSound(summary);
});

test('a certificate that is not trusted: exit 2, and nothing was sent', async () => {
  await using program = await openProgram({tls: true});
  program.write('list.csv', 'ip\n8.8.8.8\n');
  const {code, reason, summary} = await program.run({ip: 'ip'});
  expect([code, reason, program.api.ledger.requests]).toEqual([2, 'certificate', 0]);
  expect(summary?.credits).toMatchObject({spent: 0, maybe_spent: 0});
});

function rowOf(read: (name: string) => string): string {
  let text: string;
  try {
    text = read('out.csv');
  } catch {
    return 'none';
  }
  const [{ip_status: status, ip_error: error = ''} = {}] = rowsOf(text);
  return `${status} ${error.replace(/^http_\d+$/, 'http_N').replace(/^code$/, 'CODE')}`.trim();
}
