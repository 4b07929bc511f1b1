import {afterEach, beforeEach, expect, test} from 'vitest';
import {createClient, type EnrichSettings, enrich} from '../../src/index.ts';
import {createSandbox, type Sandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {FAST, type Service, startService} from './service.ts';

let service: Service;
let sandbox: Sandbox;
let wire: Record<string, unknown>[];
beforeEach(async () => {
  service = await startService();
  sandbox = createSandbox();
  wire = [];
  service.setScript(({body: {api_key: _, ...body}}) => {
    wire.push(body);
    return undefined;
  });
});
afterEach(async () => {
  sandbox[Symbol.dispose]();
  await service.close();
});

const action = 'a/1';
const doors = {
  ip: {given: {ip: ' ::ffff:192.0.2.1'}, sent: {ip: '192.0.2.1'}},
  phone: {given: {phone: '+44 (0)20 7946 0958 '}, sent: {phone: '+442079460958'}},
  email: {given: {email: '<Jo@EXAMPLE.com>'}, sent: {email: 'Jo@example.com'}},
} as const;

test.each(['ip', 'phone', 'email'] as const)(
  '%s: command, run, library and client send the same',
  async name => {
    const {given, sent} = doors[name];
    const [value = ''] = Object.values<string>(given);
    expect((await runHere(sandbox, ['lookup', name, value], {env: service.env})).code).toBe(0);
    sandbox.write('list.csv', `v\n"${value}"\n`);
    expect(
      (
        await runHere(sandbox, ['run', 'list.csv', `--${name}`, 'v', '--no-store', ...FAST], {
          env: service.env,
        })
      ).code,
    ).toBe(0);
    for await (const _ of enrich([given], {[name]: name, store: false} as EnrichSettings<object>, {
      env: service.env,
    }));
    const client = createClient({baseUrl: service.url, apiKey: service.env['BULK_ENRICH_API_KEY'] ?? ''});
    await client[name](value);
    client.close();
    expect(wire).toEqual([sent, sent, sent, sent]);
  },
);

test('verify: command, run, library and client send the same, with every value beside the token', async () => {
  const token = ' tok-1 ';
  const beside = {id: ' u1', email: 'Jo@EXAMPLE.com', phone: '+44 20 7946 0958'};
  const sent = {
    action_id: action,
    token: 'tok-1',
    id: 'u1',
    email: 'Jo@example.com',
    phone_number: '+442079460958',
  };
  const {env} = service;
  const flags = Object.entries({token, ...beside}).flatMap(([name, text]) => [`--${name}`, text]);
  const national = flags.map(text => (text === beside.phone ? '020 7946 0958' : text));
  for (const all of [flags, [...national, '--default-country', 'GB']])
    expect((await runHere(sandbox, ['verify', ...all, '--action', action], {env})).code).toBe(0);
  sandbox.write('list.csv', `token,id,email,phone\n${token},${beside.id},${beside.email},${beside.phone}\n`);
  const verdict = `token=token,action=${action},id=id,email=email,phone=phone`;
  expect((await runHere(sandbox, ['run', 'list.csv', '--verdict', verdict, ...FAST], {env})).code).toBe(0);
  for await (const _ of enrich([{token, ...beside}], {verdict} as EnrichSettings<object>, {env}));
  const client = createClient({baseUrl: service.url, apiKey: service.env['BULK_ENRICH_API_KEY'] ?? ''});
  await client.verify({
    token,
    actionId: action,
    id: beside.id,
    email: beside.email,
    phoneNumber: beside.phone,
  });
  client.close();
  expect(wire).toEqual([sent, sent, sent, sent, sent]);
});

test('verify: a value that is none is refused by its flag before the call', async () => {
  const args = ['verify', '--token', 't1', '--action', action, '--phone', '020 7946 0958'];
  expect(await runHere(sandbox, args, {env: service.env})).toMatchObject({
    code: 2,
    errorCode: 'not_a_value',
    stderr: expect.stringContaining('--phone'),
  });
  expect(wire).toEqual([]);
});
