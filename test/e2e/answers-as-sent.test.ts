import {expect, test} from 'vitest';
import {reply} from '../support/api-server-reply.ts';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {expectNoKey, FAST, startService} from './service.ts';

const ip = '{"city":"X","latitude":37.10,"id":12345678901234567890,"far":{"x":[1e400, -0]}}';
const verdict = '"verdict":{"can_pass":true},"rules":[{"id":"a","weight":1.10}],"n":1.0';

test('answers keep their numbers’ spelling on every way to the output, from the store too', async () => {
  await using service = await startService({
    script: ({operation}) =>
      reply.text(operation === 'ip' ? `{"success":true,"data":${ip}}` : `{"success":true,${verdict}}`),
  });
  using sandbox = createSandbox();
  sandbox.write('in.ndjson', '{"ip":"192.0.2.1","t":"token-1"}\n');
  const run = async (output: string, ...flags: string[]) => {
    const columns = ['--ip', 'ip', '--verdict', 'token=t,action=a', ...FAST];
    const args = ['run', 'in.ndjson', '-o', output, ...columns, ...flags];
    expect((await runHere(sandbox, args, service)).code).toBe(0);
    return sandbox.read(output);
  };
  for (const name of ['asked.ndjson', 'stored.ndjson']) {
    const text = await run(name);
    expect(text).toContain(`"data":${ip.replace(' ', '')}`);
    expect(text).toContain('"rules":[{"id":"a","weight":1.10}],"n":1.0');
  }
  const flat = await run('flat.ndjson', '--flatten');
  expect(flat).toContain('"ip_latitude":37.10');
  expect(flat).toContain('"verdict_rules":[{"id":"a","weight":1.10}]');
  const csv = await run('out.csv');
  expect(csv).toContain(',37.10,');
  expect(csv).toContain('"[{""id"":""a"",""weight"":1.10}]"');
  expect(await run('some.ndjson', '--fields', 'verify.rules,ip.latitude')).toContain('{"latitude":37.10}');
  expect(service.ledger.calls).toBe(6);
});

test('the key in an answer, as JSON escapes it, is in no file', async () => {
  const key = 'canary/key/5e6f7a8b';
  await using service = await startService({
    key,
    script: () =>
      reply.text(
        '{"success":true,"data":{"city":"canary\\/key\\/5e6f7a8b","can\\u0061ry\\/key\\/5e6f7a8b":{"a":"\\u0063anary/key/5e6f7a8b"}}}',
      ),
  });
  using sandbox = createSandbox();
  sandbox.write('in.ndjson', '{"ip":"192.0.2.1"}\n');
  const args = ['run', 'in.ndjson', '-o', 'out.ndjson', '--ip', 'ip', '--report', 'r.html', ...FAST];
  const env = {...service.env, BULK_ENRICH_API_KEY: key};
  const {code, stdout, stderr} = await runHere(sandbox, args, {env});
  expect(code).toBe(0);
  expect(sandbox.read('out.ndjson')).toContain('"city":"[key]"');
  for (const part of ['5e6f7a8b', 'canary']) expectNoKey(sandbox, stdout + stderr, part);
});
