import {beforeEach, expect, test} from 'vitest';
import {type Client, createClient, type EnrichSettings, enrich, type RequestParams} from '../../src/index.ts';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {opened} from '../support/opened.ts';
import {FAST, KEY, startService} from './service.ts';

const service = opened(startService);
const sandbox = opened(createSandbox);
let client: Client;
let wire: Record<string, unknown>[];
beforeEach(() => {
  client = createClient({baseUrl: service.url, apiKey: KEY});
  wire = [];
  service.setScript(({body: {api_key: _, ...body}}) => void wire.push(body));
  return () => client.close();
});

const action = 'a/1';
type Name = 'ip' | 'phone' | 'email';

/** Asks at each door that reads values for lists: the command's lookup and run, and the library's run. */
async function askOfLists(name: Name, text: string, country?: string): Promise<void> {
  const {env} = service;
  const flags = country === undefined ? [] : ['--default-country', country];
  await runHere(sandbox, ['lookup', name, ...flags, text], {env});
  sandbox.write('list.csv', `v\n"${text.replaceAll('"', '""')}"\n`);
  await runHere(sandbox, ['run', 'list.csv', `--${name}`, 'v', '--no-store', ...flags, ...FAST], {env});
  const settings = {[name]: 'v', store: false, ...(country !== undefined && {defaultCountry: country})};
  for await (const _ of enrich([{v: text}], settings as EnrichSettings<object>, {env}));
}

async function askOfClient(name: Name, text: string): Promise<void> {
  await client[name](text);
  const params = {[name]: text} as RequestParams<Name>;
  await client.answer(name, params);
  await client.send(name, params);
}

test.each([
  ['ip', ' ::ffff:192.0.2.1', '192.0.2.1'],
  ['ip', '[::FFFF:C000:201]:443', '192.0.2.1'],
  ['ip', '"192.0.2.1/32"', '192.0.2.1'],
  ['phone', '+44 (0)20 7946 0958 ', '+442079460958'],
  ['phone', 'tel:0044-20-7946-0958', '+442079460958'],
  ['phone', '+1 (202) 555-0100 ext. 5', '+12025550100'],
  ['email', '<Jo@EXAMPLE.com>', 'Jo@example.com'],
  ['email', 'Jo Doe <jo @ münchen.example>;', 'jo@xn--mnchen-3ya.example'],
] as const)('%s: command, run, library and client send %j as %s', async (name, text, sent) => {
  await askOfLists(name, text);
  await askOfClient(name, text);
  expect(wire).toEqual(Array.from({length: 6}, () => ({[name]: sent})));
});

test.each([
  ['020 7946 0958', 'GB', '+442079460958'],
  ['(202) 555-0100', 'United States', '+12025550100'],
  ['442079460958', '+', '+442079460958'],
  // Read again, the canonical form of this malformed number would be another one.
  ['+860118606446864', 'CN', '+86118606446864'],
])('phone: with a country, command, run and library send %j (%s) as %s', async (text, country, sent) => {
  await askOfLists('phone', text, country);
  expect(wire).toEqual([{phone: sent}, {phone: sent}, {phone: sent}]);
});

test.each([
  ['ip', '10.0.0.1'],
  ['phone', '+1'],
  ['phone', '020 7946 0958'],
  ['email', 'nobody'],
] as const)('%s: %s can not be looked up: the client alone sends it, as it is', async (name, text) => {
  await askOfLists(name, text);
  expect(wire).toEqual([]);
  await askOfClient(name, text);
  expect(wire).toEqual(Array.from({length: 3}, () => ({[name]: text})));
});

test('verify: command, run, library and client send the same, with every value beside the token', async () => {
  const token = ' tok-1 ';
  const beside = {id: ' u1', email: 'Jo@EXAMPLE.com', phone: '+44 20 7946 0958'};
  const canonical = {id: 'u1', email: 'Jo@example.com', phone_number: '+442079460958'};
  const sent = {action_id: action, token: 'tok-1', ...canonical};
  const {env} = service;
  const flags = Object.entries({token, ...beside}).flatMap(([name, text]) => [`--${name}`, text]);
  const national = flags.map(text => (text === beside.phone ? '020 7946 0958' : text));
  for (const all of [flags, [...national, '--default-country', 'GB']])
    expect((await runHere(sandbox, ['verify', ...all, '--action', action], {env})).code).toBe(0);
  sandbox.write('list.csv', `token,id,email,phone\n${token},${beside.id},${beside.email},${beside.phone}\n`);
  const verdict = `token=token,action=${action},id=id,email=email,phone=phone`;
  expect((await runHere(sandbox, ['run', 'list.csv', '--verdict', verdict, ...FAST], {env})).code).toBe(0);
  for await (const _ of enrich([{token, ...beside}], {verdict} as EnrichSettings<object>, {env}));
  const {phone, ...others} = beside;
  await client.verify({token, actionId: action, ...others, phoneNumber: phone});
  const request = {token, action_id: action, ...others, phone_number: phone};
  await client.answer('verify', request);
  await client.send('verify', request);
  expect(wire).toEqual(Array.from({length: 7}, () => sent));
});

test('verify: what is empty beside the token is not sent', async () => {
  sandbox.write('list.csv', 'token,id,email,phone\nt1,,n/a,-\n');
  const verdict = `token=token,action=${action},id=id,email=email,phone=phone`;
  await runHere(sandbox, ['run', 'list.csv', '--verdict', verdict, ...FAST], {env: service.env});
  await client.verify({token: 't1', actionId: action, id: '', email: 'n/a', phoneNumber: '-'});
  expect(wire).toEqual(Array.from({length: 2}, () => ({action_id: action, token: 't1'})));
});

test.each([
  ['--token', ' tok X ', 'token_malformed'],
  ['--phone', '020 7946 0958', 'country_unknown'],
  ['--email', 'nobody', 'email_malformed'],
  ['--id', ' ', 'empty'],
])('verify: a value that is none is refused by its flag, %s, before the call', async (flag, text, code) => {
  const token = flag === '--token' ? [] : ['--token', 't1'];
  const args = ['verify', ...token, '--action', action, flag, text];
  const {env} = service;
  expect(await runHere(sandbox, args, {env})).toMatchObject({
    code: 2,
    errorCode: 'not_a_value',
    stderr: expect.stringMatching(new RegExp(`${flag} .*\\(${code}\\)`)),
  });
  expect(wire).toEqual([]);
});

test('verify: the client sends no phone number but in E.164 form', async () => {
  const request = {token: 't1', actionId: action, phoneNumber: '020 7946 0958'};
  await expect(client.verify(request)).rejects.toMatchObject({
    code: 'not_a_value',
    message: expect.stringMatching(/phone_number.*country_unknown/),
  });
  expect(wire).toEqual([]);
});
