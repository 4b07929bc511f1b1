import {afterEach, beforeEach, expect, test} from 'vitest';
import {FAST, KEY, type Service, startService} from '../e2e/service.ts';
import {reply} from '../support/api-server-reply.ts';
import {createSandbox, type Sandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';

let service: Service;
let sandbox: Sandbox;
beforeEach(async () => {
  service = await startService();
  sandbox = createSandbox();
  sandbox.write(
    'list.csv',
    `ip,email\n192.0.2.1,jo@example.com\n192.0.2.2,al@example.com\n192.0.2.3\n192.0.2.4,x\n`,
  );
});
afterEach(async () => {
  sandbox[Symbol.dispose]();
  await service.close();
});

/** The log of a run at this level, as objects; everything else on stderr is for people. */
async function logOf(level: string): Promise<Record<string, unknown>[]> {
  const args = ['run', 'list.csv', '--log-level', level, ...FAST];
  const {code, stderr} = await runHere(sandbox, args, {env: service.env});
  expect(code, stderr).toBe(3);
  expect(stderr).not.toContain(KEY);
  const lines = stderr.split('\n').filter(line => line.startsWith('{"level"'));
  for (const value of ['192.0.2', 'example.com']) expect(lines.join()).not.toContain(value);
  return lines.map(line => JSON.parse(line) as Record<string, unknown>);
}

test('info: start, waiting and end', async () => {
  let calls = 0;
  service.setScript(() => (++calls === 2 ? reply.throttle(1) : undefined));
  const log = await logOf('info');
  expect(log.map(({msg}) => msg)).toEqual(['run starts', 'run waits', 'run goes on', 'run ended']);
  expect(log[0]).toMatchObject({inputs: ['list.csv'], endpoint: 'live', base_url: service.url, from_row: 1});
  expect(log[0]?.columns).toEqual([
    {operation: 'ip', column: 'ip'},
    {operation: 'email', column: 'email'},
  ]);
  expect(log[1]).toMatchObject({reason: 'throttled', detail: 'http_429'});
  expect(log[3]).toMatchObject({exit_code: 3, calls: service.ledger.calls, credits: service.ledger.credits});
});

test('debug: rows by their numbers, calls that failed, never a value', async () => {
  service.setScript(call => (call.value === '192.0.2.2' ? reply.error(422, 'odd_value') : undefined));
  const log = await logOf('debug');
  expect(log).toContainEqual(
    expect.objectContaining({
      msg: 'call',
      operation: 'ip',
      outcome: 'rejected',
      status: 422,
      code: 'odd_value',
    }),
  );
  expect(log).toContainEqual(
    expect.objectContaining({msg: 'lookup without an answer', row: 2, column: 'ip', code: 'odd_value'}),
  );
  expect(log).toContainEqual(
    expect.objectContaining({msg: 'row rejected', row: 3, line: 4, reason: 'column_count'}),
  );
});

test('trace: every call', async () => {
  const log = await logOf('trace');
  expect(log.filter(({msg}) => msg === 'call')).toHaveLength(service.ledger.calls);
});
