import {expect, it} from 'vitest';
import {createClient} from '../../src/index.ts';
import {startService} from '../e2e/service.ts';
import {createSandbox} from '../support/command.ts';
import {freePort} from '../support/free-port.ts';
import {runHere} from '../support/main.ts';
import {opened} from '../support/opened.ts';
import {until} from '../support/until.ts';

const sandbox = opened(createSandbox);

it('serve says where it listens, which key it takes and all that a lookup needs elsewhere, answers, and ends with 0 on SIGTERM', async () => {
  const running = sandbox.start(['serve', '--port', '0']);
  let printed = '';
  running.child.stdout?.on('data', data => (printed += String(data)));
  await until(() => /^In another terminal: .*\n/m.test(printed));
  const [url = ''] = /http:\/\/[\d.:]+/.exec(printed) ?? [];
  const [, api_key = ''] = /^API key .*: (\S+)$/m.exec(printed) ?? [];
  const body = JSON.stringify({api_key, email: 'somebody@example.com'});
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
  const port = await freePort();
  const env = {BULK_ENRICH_API_KEY: 'serve-key-canary'};
  const serving = runHere(sandbox, `serve --host 0.0.0.0 --port ${port}`, {env});
  const url = `http://127.0.0.1:${port}`;
  await expect.poll(() => fetch(`${url}/readyz`).then(({status}) => status)).toBe(200);
  const client = createClient({baseUrl: url, apiKey: env.BULK_ENRICH_API_KEY});
  expect(await client.ip('192.0.2.1')).toMatchObject({is_bogon: true});
  client.close();
  process.emit('SIGINT', 'SIGINT');
  const {log} = await serving;
  expect(log).toMatch(new RegExp(`^Listening on http://0\\.0\\.0\\.0:${port}$`, 'm'));
  expect(log).toContain(`BULK_ENRICH_BASE_URL=${url} `);
  expect(log).not.toContain(env.BULK_ENRICH_API_KEY);
});

it.each([
  [['--sessions', 'none.ndjson'], /none\.ndjson/],
  [['--rules', 'broken.yaml'], /broken\.yaml/],
  [['--error-rate', '120%'], /--error-rate/],
])('serve %j is one sentence and exit 2', async (args, sentence) => {
  sandbox.write('broken.yaml', 'rules: [{when: nonsense(}]');
  const {code, stderr} = await runHere(sandbox, ['serve', '--port', '0', ...args]);
  expect({code, lines: stderr.trim().split('\n').length}).toEqual({code: 2, lines: 1});
  expect(stderr).toMatch(sentence);
});

it('serve on a port that is taken says so', async () => {
  await using taken = await startService();
  const refused = await runHere(sandbox, `serve --port ${taken.port}`);
  expect(refused).toMatchObject({code: 2, errorCode: 'port', message: expect.stringContaining('EADDRINUSE')});
});
