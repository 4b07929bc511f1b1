import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {expect, it} from 'vitest';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';

/** Starts `serve` and waits for its first lines. */
async function serve(
  sandbox: ReturnType<typeof createSandbox>,
  args: readonly string[],
  env: Record<string, string> = {},
) {
  const running = sandbox.start(['serve', '--port', '0', ...args], {env});
  const printed = await new Promise<string>(resolve => {
    let text = '';
    running.child.stdout?.on('data', data => {
      text += String(data);
      if (/^In another terminal: .*\n/m.test(text)) resolve(text);
    });
  });
  const url = /http:\/\/[\d.:]+/.exec(printed)?.[0] ?? '';
  return {running, printed, url, key: /^API key .*: (\S+)$/m.exec(printed)?.[1] ?? ''};
}

it('serve says where it listens, which key it takes and all that a lookup needs elsewhere, answers, and ends with 0 on SIGTERM', async () => {
  using sandbox = createSandbox();
  const {running, url, key, printed} = await serve(sandbox, []);
  const body = JSON.stringify({api_key: key, email: 'somebody@example.com'});
  const headers = {'content-type': 'application/json'};
  const answer = await fetch(`${url}/intelligence/email`, {method: 'POST', headers, body});
  expect(await answer.json()).toMatchObject({success: true, data: {is_valid: true}});
  const [, exported = ''] = /^In another terminal: export (.*)$/m.exec(printed) ?? [];
  const env = Object.fromEntries(exported.split(' ').map(pair => pair.split('=') as [string, string]));
  expect(await runHere(sandbox, ['lookup', 'ip', '192.0.2.1'], {env})).toMatchObject({code: 0});
  running.kill('SIGTERM');
  expect((await running.outcome).code).toBe(0);
});

it('serve on all addresses says one that a program can connect to, takes the key from the environment, and never prints it', async () => {
  using sandbox = createSandbox();
  const {running, printed} = await serve(sandbox, ['--host', '0.0.0.0'], {
    BULK_ENRICH_API_KEY: 'serve-key-canary',
  });
  expect(printed).toMatch(/^Listening on http:\/\/0\.0\.0\.0:\d+$/m);
  const [, url = ''] = /BULK_ENRICH_BASE_URL=(http:\/\/127\.0\.0\.1:\d+) /.exec(printed) ?? [];
  const env = {BULK_ENRICH_BASE_URL: url, BULK_ENRICH_API_KEY: 'serve-key-canary'};
  expect((await runHere(sandbox, ['lookup', 'ip', '192.0.2.1'], {env})).code).toBe(0);
  running.kill('SIGINT');
  const {stdout, stderr} = await running.outcome;
  expect(printed + stdout + stderr).not.toContain('serve-key-canary');
});

it.each([
  [['--sessions', 'none.ndjson'], /none\.ndjson/],
  [['--rules', 'broken.yaml'], /broken\.yaml/],
  [['--error-rate', '120%'], /--error-rate/],
])('serve %j is one sentence and exit 2', async (args, sentence) => {
  using sandbox = createSandbox();
  sandbox.write('broken.yaml', 'rules: [{when: nonsense(}]');
  const {code, stderr} = await runHere(sandbox, ['serve', '--port', '0', ...args]);
  expect({code, lines: stderr.trim().split('\n').length}).toEqual({code: 2, lines: 1});
  expect(stderr).toMatch(sentence);
});

it('serve on a port that is taken says so', async () => {
  using sandbox = createSandbox();
  const taken = createServer().listen(0, '127.0.0.1');
  await new Promise(resolve => taken.once('listening', resolve));
  const {port} = taken.address() as AddressInfo;
  const refused = await runHere(sandbox, ['serve', '--port', String(port)]);
  taken.close();
  expect(refused).toMatchObject({code: 2, errorCode: 'port', message: expect.stringContaining('EADDRINUSE')});
});
