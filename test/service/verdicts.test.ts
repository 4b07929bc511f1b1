import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {startService} from '../../src/service/start.ts';
import {readUserSessions} from '../../src/service/verdict/user-session.ts';
import {askService, running, temporaryFolder} from './running.ts';

describe('over HTTP', () => {
  it('the samples come to the verdicts in the docs', async () => {
    const service = await running({sessionsFile: 'samples/sessions.ndjson', rulesFile: 'samples/rules.yaml'});
    const rows: string[] = [];
    for (const {token} of readUserSessions('samples/sessions.ndjson')) {
      const {json} = await askService(service, '/verify', {action_id: 'a', token, id: token});
      const ids = json.rules.map(({id, shadow}: {id: string; shadow: boolean}) => (shadow ? `(${id})` : id));
      const cells = [json.score, json.verdict.can_pass, ids.join(', '), json.multi_accounting.risk];
      rows.push(`| \`${token}\` | ${cells.join(' | ')} |`);
    }
    expect(readFileSync('samples/README.md', 'utf8')).toContain(rows.join('\n'));
  });

  it('a session is found as soon as it was added, and one with its token replaces it', async () => {
    const service = await running();
    const verify = () => askService(service, '/verify', {action_id: 'a', token: 'new'});
    expect((await verify()).status).toBe(400);
    await askService(service, '/_sessions', {sessions: [{token: 'new', ip: '9.9.9.9'}]});
    expect((await verify()).json.ip.address).toBe('9.9.9.9');
    await askService(service, '/_sessions', {sessions: [{token: 'new', ip: '8.8.8.8'}]});
    expect((await verify()).json).toMatchObject({ip: {address: '8.8.8.8'}, verdict: {redeemed: true}});
  });

  const passes = 't/FFFFFFFFFFFFF/111111111';
  const fails = 't/FFFFFFFFFFFFF/000000000';

  it.each([
    [passes, {score: 100, verdict: {can_pass: true}, device: {browser: 'Chrome 126'}}],
    [fails, {score: 0, verdict: {can_pass: false}, device: {user_agent: 'curl/8.5.0'}}],
  ])('%s answers an unknown token with every object, those of a sample session', async (action_id, shown) => {
    const service = await running();
    const sent = {id: 'u', email: 'a@iana.org', phone_number: '+442079460958'};
    const {json} = await askService(service, '/verify', {action_id, token: 'whatever', ...sent});
    expect(json).toMatchObject(shown);
    expect(Object.keys(json).sort().join(' ')).toBe(
      'device email ip location multi_accounting phone rules score session success user_id verdict',
    );
  });

  it('the test action id of the docs’ example passes', async () => {
    const [, example = ''] = /\/verify -d '([^']+)'/.exec(readFileSync('docs/service.md', 'utf8')) ?? [];
    const service = await running({apiKey: 'any-key', credits: 0});
    const {status, json} = await askService(service, '/verify', JSON.parse(example));
    expect({status, ...json.verdict}).toEqual({status: 200, can_pass: true, redeemed: false});
    const parts = ['device', 'email', 'phone', 'multi_accounting'];
    expect(Object.keys(json)).toEqual(expect.arrayContaining(parts));
  });

  it('a test action id decides can_pass alone: score and rules are the session’s own', async () => {
    const service = await running({sessionsFile: 'samples/sessions.ndjson'});
    const body = {action_id: passes, token: 'sample-script-1'};
    const {json} = await askService(service, '/verify', body);
    expect(json).toMatchObject({score: 0, verdict: {can_pass: true}});
  });

  it('a test action id leaves no account', async () => {
    const service = await running({sessionsFile: 'samples/sessions.ndjson'});
    const body = {token: 'sample-person-1', id: 'tried', email: 'jo@iana.org'};
    for (const action_id of [passes, fails]) await askService(service, '/verify', {...body, action_id});
    const {json} = await askService(service, '/verify', {...body, action_id: 'a', id: 'real'});
    expect(json).toMatchObject({verdict: {redeemed: true}, multi_accounting: {accounts: []}});
  });

  it.each([null, ''])('an optional field that is %j is as not sent', async empty => {
    const service = await running({sessionsFile: 'samples/sessions.ndjson'});
    const optional = {id: empty, email: empty, phone_number: empty};
    for (const token of ['sample-person-1', 'sample-person-1-again']) {
      const {json} = await askService(service, '/verify', {action_id: 'a', token, ...optional});
      for (const field of ['user_id', 'multi_accounting', 'email', 'phone'])
        expect(json).not.toHaveProperty(field);
    }
    const named = {action_id: 'a', token: 'sample-person-1', id: 'someone'};
    const {json} = await askService(service, '/verify', named);
    expect(json.multi_accounting.accounts).toEqual([]);
  });

  it('an impossible e-mail address and phone number are answered as such', async () => {
    const service = await running({sessionsFile: 'samples/sessions.ndjson'});
    const odd = {token: 'sample-person-1', email: 'nobody', phone_number: '123'};
    const {json} = await askService(service, '/verify', {action_id: 'a', ...odd});
    expect(json.email).toEqual({address: 'nobody', valid: false, trust_score: 0, flags: ['malformed']});
    expect(json.phone).toEqual({valid: false});
    expect(json.verdict.can_pass).toBe(false);
  });

  it('out of credits, a token is not redeemed', async () => {
    const poor = await running({credits: 0});
    await askService(poor, '/_sessions', {sessions: [{token: 'once', ip: '9.9.9.9'}]});
    expect((await askService(poor, '/verify', {action_id: 'a', token: 'once'})).status).toBe(402);
    const {json} = await askService(poor, '/verify', {action_id: passes, token: 'once'});
    expect(json.verdict.redeemed).toBe(false);
  });
});

describe('a sessions file', () => {
  const write = (text: string): string => {
    const path = join(temporaryFolder(), 'sessions.ndjson');
    writeFileSync(path, text);
    return path;
  };

  it('may have blank lines, CRLF and a byte order mark', () => {
    const line = '{"token":"a","ip":"9.9.9.9"}';
    expect(readUserSessions(write(`\uFEFF${line}\r\n\r\n${line}\n`))).toHaveLength(2);
  });

  it.each([
    ['{"token":"a","ip":"9.9.9.9"}\n{', ':2 is not a JSON object'],
    ['[]', ':1: the line:'],
    ['{"token":"secret-token"}', ':1: ip:'],
    ['{"token":"a","ip":"secret-address"}', ':1: ip:'],
    ['{"token":"a","ip":"9.9.9.9","started_at":"secret-day"}', ':1: started_at:'],
    ['{"token":"a","ip":"9.9.9.9","agent":"x"}', ':1: the line: Unrecognized key: "agent"'],
  ])('%s keeps the service from starting: it says where, and no value', async (text, place) => {
    const path = write(text);
    const message = await startService({sessionsFile: path}).catch((error: Error) => error.message);
    expect(message).toContain(path + place);
    expect(message).not.toContain('secret');
  });

  it('that is not there is an error', async () => {
    await expect(startService({sessionsFile: '/no/such/file'})).rejects.toThrow(/can't be read.*ENOENT/);
  });

  it('tells whose a session was, before anybody verifies it', async () => {
    const lines = ['one', 'two'].map(user =>
      JSON.stringify({token: user, ip: '9.9.9.9', user_id: user, fingerprint: 'f'}),
    );
    const service = await running({sessionsFile: write(lines.join('\n'))});
    const {json} = await askService(service, '/verify', {action_id: 'a', token: 'one', id: 'one'});
    expect(json.multi_accounting.accounts).toMatchObject([{user_id: 'two', session_count: 1}]);
  });
});
