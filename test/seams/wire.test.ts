import {expect, test} from 'vitest';
import {type Extra, type Reply, reply} from '../support/api-server-reply.ts';
import {openProgram, rowsOf} from './program.ts';

/**
 * Each end of a call, over the wire: the first call for a value gets it, all others are answered. A line has the calls
 * for the value, its row, the credits (spent, perhaps spent) of the value and of a second one that is answered, and
 * the exit code.
 */

const after = (seconds: number): Extra => ({headers: {'Retry-After': String(seconds)}});
const bare = (status: number, extra?: Extra) => reply.json({}, status, extra);

/** By the line that a call comes to: the replies that come to it. */
const lines: Readonly<Record<string, Readonly<Record<string, Reply>>>> = {
  '1 ok 2 0': {
    'an answer': reply.ok(),
    'an answer with Retry-After': reply.ok(after(3)),
    'an answer, and the connection reset': reply.ok({after: 'reset', delayMs: 5}),
    'status 201': reply.json({success: true, data: {country: 'DE'}}, 201),
  },
  '2 ok 2 0': {
    'status 429': bare(429),
    'status 429 with Retry-After': bare(429, after(0)),
    'status 503 with Retry-After': bare(503, after(0)),
  },
  '2 ok 2+1 0': {
    ...Object.fromEntries(
      [408, 425, 500, 501, 502, 503, 504, 507, 520, 599].map(status => [`status ${status}`, bare(status)]),
    ),
    'status 500 with Retry-After': bare(500, after(0)),
    'status 408 with Retry-After': bare(408, after(0)),
    'a reset': reply.drop('reset'),
    'a closed connection': reply.drop('close'),
    'no answer in time': reply.stall(),
    'an answer that is cut off by a reset': reply.cut(20, 'reset'),
    'an answer that is cut off by an end': reply.cut(20, 'close'),
  },
  '1 failed http_N 1+1 3': Object.fromEntries(
    [400, 404, 405, 406, 409, 410, 411, 412, 413, 414, 415, 416, 418, 422, 423, 426, 428, 431, 451, 499].map(
      status => [`status ${status}`, bare(status)],
    ),
  ),
  // The second value was sent later and answered: so the first is to blame, and its rejection is an answer.
  '1 failed CODE 1+1 0': {
    'status 400 with a code': reply.error(400, 'code'),
    'status 422 with a code and Retry-After': reply.error(422, 'code', after(3)),
  },
  '1 failed CODE 2 0': {'status 200 with a code': reply.error(200, 'code')},
  '1 failed bad_response 2 3': {
    'a text': reply.text('hello', 200, 'text/plain'),
    'no body': reply.empty(),
    'a list': reply.list(),
    'a text as JSON': reply.json('hello'),
    'part of an answer, told as whole': reply.truncated(),
    'an answer without data': reply.json({success: true}),
  },
  '1 none 0 6': {
    'status 401': bare(401),
    invalid_token: reply.unauthorized(),
    'invalid_token with status 400': reply.error(400, 'invalid_token'),
  },
  '1 none 0 7': {'status 402': bare(402)},
  '1 none 0+1 2': Object.fromEntries(
    [301, 302, 303, 307, 308].map(status => [
      `status ${status}`,
      bare(status, {headers: {Location: '/elsewhere'}}),
    ]),
  ),
};

const cases = Object.entries(lines).flatMap(([line, replies]) =>
  Object.entries(replies).map(([name, scripted]) => [name, line, scripted] as const),
);

test.concurrent.each(cases)('%s: %s', async (_, line, scripted) => {
  await using program = await openProgram({
    script: ({value, attempt}) => (value === '8.8.8.8' && attempt === 1 ? scripted : undefined),
  });
  program.write('list.csv', 'ip\n8.8.8.8\n9.9.9.9\n');
  const {code, summary} = await program.run({ip: 'ip', concurrency: 1, timeout: '1s'});
  const calls = program.api.ledger.values.ip.get('8.8.8.8');
  const {spent = 0, maybe_spent: maybe = 0} = summary?.credits ?? {};
  const credits = maybe === 0 ? spent : `${spent}+${maybe}`;
  expect(`${calls} ${rowOf(program.read)} ${credits} ${code}`).toBe(line);
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
