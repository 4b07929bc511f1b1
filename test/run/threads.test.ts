import {describe, expect, test} from 'vitest';
import {startApiServer} from '../support/api-server.ts';
import {createSandbox} from '../support/command.ts';
import {busiestSecond} from '../support/departures.ts';
import {startRawServer} from '../support/raw-server.ts';
import {ips} from '../support/stage.ts';

const KEY = 'threads-key-5d02';
const args = ['run', 'list.csv', '-o', 'out.csv', '--ip', 'ip', '--threads', '2', '--concurrency', '32'];

// They wait for processes.
describe.concurrent('calls made by threads', () => {
  test('keep to the rate, the limit and the order, and the books balance', async () => {
    using sandbox = createSandbox();
    await using api = await startApiServer({key: KEY, latencyMs: 5});
    const env = {BULK_ENRICH_BASE_URL: api.url, BULK_ENRICH_API_KEY: KEY};
    sandbox.write('list.csv', ips(600));
    const paced = [...args, '--rate', '300/s', '--log-level', 'trace'];
    const limited = await sandbox.run([...paced, '--max-credits', '450'], {env});
    expect(limited.code).toBe(7);
    expect(limited.stderr).toContain('--threads 2 is of no use here');
    expect(api.ledger.calls).toBe(450);
    expect(sandbox.summary('out.summary.json').credits).toMatchObject({spent: 450, maybe_spent: 0});
    const whole = await sandbox.run(paced, {env});
    expect(whole.code).toBe(0);
    // Each run keeps a pace of its own.
    for (const {stderr} of [limited, whole]) expect(busiestSecond([stderr])).toBeLessThanOrEqual(1.25 * 300);
    expect(api.ledger).toMatchObject({calls: 600, credits: 600, wrongKey: 0, keyElsewhere: []});
    expect(api.ledger.repeated()).toEqual([]);
    const given = sandbox.read('list.csv').trimEnd().split('\n');
    const rows = sandbox.read('out.csv').trimEnd().split('\n');
    expect(rows).toHaveLength(given.length);
    expect(rows.every((row, n) => n === 0 || row.startsWith(`${given[n]},ok,`))).toBe(true);
  });

  test('a thread that dies loses nothing: its calls are maybe spent, and asked again', async () => {
    using sandbox = createSandbox();
    await using api = await startApiServer({key: KEY, latencyMs: 40});
    // Every thread ends as it is told of calls for the fourth time.
    sandbox.write(
      'dying.mjs',
      `import {isMainThread, parentPort} from 'node:worker_threads';
       let told = 0;
       if (!isMainThread) parentPort.on('message', () => ++told === 4 && process.exit(1));`,
    );
    const env = {
      BULK_ENRICH_BASE_URL: api.url,
      BULK_ENRICH_API_KEY: KEY,
      NODE_OPTIONS: `--import=${sandbox.path('dying.mjs')}`,
    };
    sandbox.write('list.csv', ips(1_200));
    const {code} = await sandbox.run([...args, '--rate', 'unlimited'], {env});
    expect(code).toBe(0);
    const {credits, calls, rows} = sandbox.summary('out.summary.json');
    expect(rows).toMatchObject({written: 1_200, with_errors: 0});
    expect(calls.by_error).toHaveProperty('thread_lost');
    expect(credits.maybe_spent).toBeGreaterThan(0);
    expect(credits.spent).toBeLessThanOrEqual(api.ledger.credits);
    expect(credits.spent + credits.maybe_spent).toBeGreaterThanOrEqual(api.ledger.credits);
  });

  test('a key that is replaced meanwhile is read again for them', async () => {
    using sandbox = createSandbox();
    await using api = await startApiServer({key: KEY, latencyMs: 5});
    const file = sandbox.write('../key', KEY);
    const next = `${KEY}-next`;
    api.setScript(({call}) => {
      if (call !== 60) return undefined;
      api.setKey(next);
      sandbox.write('../key', next);
      return undefined;
    });
    sandbox.write('list.csv', ips(200));
    const env = {BULK_ENRICH_BASE_URL: api.url, BULK_ENRICH_API_KEY_FILE: file};
    const {code, stderr} = await sandbox.run([...args, '--rate', 'unlimited'], {env});
    expect(code, stderr).toBe(0);
    expect(api.ledger.wrongKey).toBeGreaterThan(0);
    expect(sandbox.summary('out.summary.json')).toMatchObject({
      credits: {spent: 200, maybe_spent: 0},
      calls: {total: 200 + api.ledger.wrongKey},
    });
  });

  test('a second answer that one of them hears ends the reuse of connections by all of them', async () => {
    using sandbox = createSandbox();
    let calls = 0;
    let heardAt = Number.POSITIVE_INFINITY;
    let reused = 0;
    const body = JSON.stringify({success: true, data: {city: 'Testville'}});
    const answer = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    await using server = await startRawServer((socket, _, nth) => {
      calls += 1;
      if (nth > 1 && heardAt < performance.now()) reused += 1;
      if (calls !== 200) {
        setTimeout(() => socket.write(answer), 10);
        return;
      }
      // While nothing is sent, this connection is idle.
      socket.write('HTTP/1.1 429 Too Many Requests\r\nRetry-After: 2\r\nContent-Length: 0\r\n\r\n');
      setTimeout(() => socket.write(answer), 500);
      setTimeout(() => {
        heardAt = performance.now();
      }, 1_500);
    });
    sandbox.write('list.csv', ips(2_000));
    const env = {BULK_ENRICH_BASE_URL: server.url, BULK_ENRICH_API_KEY: KEY};
    const {code, stderr} = await sandbox.run([...args, '--rate', 'unlimited'], {env});
    expect(code, stderr).toBe(0);
    expect(calls).toBeGreaterThan(1_900);
    expect(reused).toBe(0);
    expect(stderr.match(/no connection is used twice/g)).toHaveLength(1);
  });

  test('a system that gives no more threads costs none of it', async () => {
    using sandbox = createSandbox();
    await using api = await startApiServer({key: KEY});
    sandbox.write(
      'no-threads.mjs',
      `import threads from 'node:worker_threads';
       import {syncBuiltinESMExports} from 'node:module';
       threads.Worker = class { constructor() { throw new Error('EAGAIN'); } };
       syncBuiltinESMExports();`,
    );
    const env = {
      BULK_ENRICH_BASE_URL: api.url,
      BULK_ENRICH_API_KEY: KEY,
      NODE_OPTIONS: `--import=${sandbox.path('no-threads.mjs')}`,
    };
    sandbox.write('list.csv', ips(100));
    const {code, stderr} = await sandbox.run([...args, '--rate', 'unlimited'], {env});
    expect(code, stderr).toBe(0);
    expect(api.ledger.calls).toBe(100);
  });
});
