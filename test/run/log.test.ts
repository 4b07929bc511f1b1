import {afterEach, beforeEach, expect, test} from 'vitest';
import {logEvents} from '../../src/job/log-events.ts';
import {FAST, KEY, type Service, startService} from '../e2e/service.ts';
import {reply} from '../support/api-server-reply.ts';
import {createSandbox, type Sandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';

let service: Service;
let sandbox: Sandbox;
beforeEach(async () => {
  service = await startService();
  sandbox = createSandbox();
  const rows = '192.0.2.1,jo@example.com\n192.0.2.2,al@example.com\n192.0.2.3\n192.0.2.4,x\n';
  sandbox.write('list.csv', `ip,email\n${rows}`);
});
afterEach(async () => {
  sandbox[Symbol.dispose]();
  await service.close();
});

const args = (...more: string[]) => ['run', 'list.csv', ...more, ...FAST];
const parse = (line: string) => JSON.parse(line) as Record<string, unknown>;
const eventsOf = (stderr: string) => stderr.trimEnd().split('\n').map(parse);

test('--log json: all of stderr is events, from the first to the last', async () => {
  const json = ['--log', 'json'];
  const done = await runHere(sandbox, args(...json), {env: service.env});
  expect(done.code).toBe(3);
  const log = eventsOf(done.stderr);
  const known = Object.keys(logEvents);
  expect(log.filter(({event}) => !known.includes(String(event)))).toEqual([]);
  const events = log.map(({event}) => event).filter(event => event !== 'message');
  expect(events).toEqual(['run_started', 'run_ended']);
  expect(log.at(-1)).toMatchObject({event: 'run_ended', exit_code: 3, reason: 'rows_rejected', credits: 5});

  const limited = args(...json, '-o', 'b.csv', '--no-store', '--max-credits', '2');
  const stopped = await runHere(sandbox, limited, {env: service.env});
  expect(eventsOf(stopped.stderr).at(-1)).toMatchObject({
    ...{event: 'run_stopped', level: 50, reason: 'budget', exit_code: 7},
    to_continue: expect.stringMatching(/^bulk-enrich/),
  });
  sandbox.write('job.yaml', 'input: list.csv\nendpoint: live\nlog: json\nemail: nothing\n');
  for (const wrong of [
    args(...json, '--email', 'nothing'),
    ['run', '--job', 'job.yaml'],
    ['lookup', 'ip', 'x', ...json],
    args(...json, '--bogus'),
    args('--max-credit', '5', ...json),
    ['run', '--job', 'job.yaml', '--bogus'],
    ['lookup', 'ip', ...json],
    ['rnu', ...json],
  ]) {
    const {code, stderr} = await runHere(sandbox, wrong, {env: service.env});
    const error = expect.objectContaining({event: 'error', exit_code: 2});
    expect([code, eventsOf(stderr).at(-1)]).toEqual([2, error]);
  }
});

test('--log text: log lines are text', async () => {
  const {stderr} = await runHere(sandbox, args('--log', 'text,info'), {env: service.env});
  expect(stderr).toMatch(
    /^\d{4}-\d\d-\d\dT[\d:.]+Z INFO run_started run starts run_id="[\w-]+" inputs=\["list.csv"\] /m,
  );
  expect(stderr).toMatch(/ INFO run_ended run ended .* exit_code=3 /);
  expect(stderr).not.toContain('{"level"');
});

/** The log of a run at this level, as objects; everything else on stderr is for people. */
async function logOf(level: string): Promise<Record<string, unknown>[]> {
  const args = ['run', 'list.csv', '--log', level, ...FAST];
  const {code, stderr} = await runHere(sandbox, args, {env: service.env});
  expect(code, stderr).toBe(3);
  expect(stderr).not.toContain(KEY);
  const lines = stderr.split('\n').filter(line => line.startsWith('{"level"'));
  for (const value of ['192.0.2', 'example.com']) expect(lines.join()).not.toContain(value);
  return lines.map(parse);
}

test('info: start, waiting and end', async () => {
  let calls = 0;
  service.setScript(() => (++calls === 2 ? reply.throttle(1) : undefined));
  const log = await logOf('info');
  expect(log.map(({msg}) => msg)).toEqual(['run starts', 'run waits', 'run resumes', 'run ended']);
  const started = {inputs: ['list.csv'], endpoint: 'live', base_url: service.url, is_resumed: false};
  expect(log[0]).toMatchObject(started);
  expect(log[0]?.columns).toEqual(['ip', 'email'].map(name => ({operation: name, column: name})));
  expect(log[1]).toMatchObject({reason: 'throttled', detail: 'http_429'});
  expect(log[3]).toMatchObject({exit_code: 3, calls: service.ledger.calls, credits: service.ledger.credits});
});

test('debug: rows by their numbers, each attempt with what it cost, never a value', async () => {
  const odd = ['192.0.2.2', 'jo@example.com'];
  service.setScript(call => (odd.includes(call.value) ? reply.error(422, 'odd_value') : undefined));
  const log = await logOf('debug');
  const [call, code] = [{operation: 'ip', outcome: 'rejected', status: 422}, 'odd_value'];
  for (const event of [
    {msg: 'call', ...call, code, row: 2, booked: 'maybe', credits: 1, ms: expect.any(Number)},
    {msg: 'lookup without an answer', row: 2, column: 'ip', code},
    {msg: 'lookup without an answer', row: 1, column: 'email', code},
    {msg: 'row rejected', row: 3, line: 4, reason: 'column_count'},
  ])
    expect(log).toContainEqual(expect.objectContaining(event));
});

test('trace: every call', async () => {
  const log = await logOf('trace');
  expect(log.filter(({msg}) => msg === 'call')).toHaveLength(service.ledger.calls);
});

test('debug: the attempts add up to the credits of the summary', async () => {
  const script = [
    reply.throttle(0),
    reply.ok({headers: {'X-Request-Id': 'req-000017'}}),
    reply.unavailable(),
    reply.ok({headers: {'X-Request-Id': 'r-12025550101'}}),
  ];
  sandbox.write('list.csv', 'phone\n+12025550101\n+12025550102\n+12025550101\n');
  service.setScript(({call}) => script[call - 1]);
  const args = ['run', 'list.csv', '--log', 'json,debug', '--cost', '0.7', '--concurrency', '1', ...FAST];
  const {code, stderr} = await runHere(sandbox, args, {env: service.env});
  expect(code, stderr).toBe(0);
  const calls = eventsOf(stderr).filter(({event}) => event === 'call');
  const answered = {operation: 'phone', outcome: 'answered', status: 200, booked: 'spent', credits: 0.7};
  expect(calls).toMatchObject([
    {row: 1, outcome: 'throttled', status: 429, code: 'http_429', booked: 'free', credits: 0},
    {row: 2, ...answered, request_id: 'req-000017'},
    {row: 1, outcome: 'ambiguous', status: 503, code: 'http_503', booked: 'maybe', credits: 0.7},
    {row: 1, ...answered},
  ]);
  expect(calls.at(-1)).not.toHaveProperty('request_id');
  expect(sandbox.summary('list.enriched.summary.json').credits).toMatchObject({spent: 1.4, maybe_spent: 0.7});
});
