import {execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {readFileSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {ServiceSetupError, startService} from '../../src/service/start.ts';
import {askRaw, replyOf} from '../contract/target.ts';
import {askService, running, temporaryFolder} from './running.ts';

const ip = '/intelligence/ip';

describe('the key', () => {
  it('is made up if none is given, and no two are alike', async () => {
    const [one, two] = await Promise.all([startService(), startService()]);
    expect(one.apiKey).toMatch(/^[\w-]{32}$/);
    expect(two.apiKey).not.toBe(one.apiKey);
    expect((await askService(one, ip, {ip: '8.8.8.8'})).status).toBe(200);
    await Promise.all([one.close(), two.close()]);
  });

  it.each([null, 7, '', {}, 'test-keY', 'test-key '])('%j is not it', async key => {
    const service = await running();
    expect(await askService(service, ip, {api_key: key, ip: '8.8.8.8'})).toMatchObject({
      status: 401,
      json: {success: false, message: 'invalid_token'},
    });
  });

  it('is checked before the other fields', async () => {
    const service = await running();
    expect((await askService(service, ip, {api_key: 'wrong'})).status).toBe(401);
  });
});

describe('our own codes', () => {
  it.each([
    [ip, {api_key: undefined, ip: '8.8.8.8'}, 400, 'missing_field'],
    [ip, {}, 400, 'missing_field'],
    [ip, {ip: ''}, 400, 'missing_field'],
    [ip, {ip: 7}, 400, 'invalid_field'],
    [ip, {ip: '8.8.8'}, 400, 'invalid_ip'],
    [ip, {ip: '08.8.8.8'}, 400, 'invalid_ip'],
    [ip, {ip: '8.8.8.8 '}, 400, 'invalid_ip'],
    ['/intelligence/phone', {}, 400, 'missing_field'],
    ['/intelligence/phone', {phone: ['+1']}, 400, 'invalid_field'],
    ['/intelligence/email', {email: {}}, 400, 'invalid_field'],
    ['/verify', {action_id: 'a'}, 400, 'missing_field'],
    ['/verify', {token: 't'}, 400, 'missing_field'],
    ['/verify', {action_id: 'a', token: 'unknown'}, 400, 'unknown_session'],
    ['/verify', {action_id: 'a', token: 't', id: 7}, 400, 'invalid_field'],
    ['/_sessions', {}, 400, 'missing_field'],
    ['/_sessions', {sessions: [{token: 't'}]}, 400, 'invalid_field'],
    ['/nowhere', {}, 404, 'not_found'],
    ['/intelligence/ip/', {}, 404, 'not_found'],
  ])('%s with %j: %i %s', async (path, body, status, message) => {
    const service = await running();
    const reply = await askService(service, path, body);
    expect(reply).toMatchObject({status, json: {success: false, message}});
    expect(reply.type).toMatch(/^application\/json/);
    expect(service.ledger().spent).toBe(0);
  });

  it.each(['', '{', 'null', '[]', '"x"', '7', '\u0001'])('body %j: 400 malformed_body', async body => {
    const {url, apiKey} = await running();
    expect(await askRaw({baseUrl: url, apiKey, actionId: ''}, ip, body)).toMatchObject({
      status: 400,
      json: {success: false, message: 'malformed_body'},
    });
  });

  it.each([
    ['GET', ip, 'POST'],
    ['PUT', '/verify', 'POST'],
    ['DELETE', '/_sessions', 'POST'],
    ['POST', '/_ledger', 'GET, HEAD'],
  ])('%s %s: 405 method_not_allowed, with Allow', async (method, path, allowed) => {
    const {url} = await running();
    const response = await fetch(url + path, {method});
    expect(response.headers.get('allow')).toBe(allowed);
    expect(await replyOf(response)).toMatchObject({status: 405, json: {message: 'method_not_allowed'}});
  });

  it('another media type: 415 unsupported_media_type', async () => {
    const {url} = await running();
    const response = await fetch(url + ip, {method: 'POST', body: '{"api_key":"test-key","ip":"8.8.8.8"}'});
    expect(await replyOf(response)).toMatchObject({status: 415, json: {message: 'unsupported_media_type'}});
  });

  it.each(['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/vnd.api+json'])(
    '%s is JSON',
    async type => {
      const {url} = await running();
      const body = '{"api_key":"test-key","ip":"8.8.8.8"}';
      const response = await fetch(url + ip, {method: 'POST', headers: {'Content-Type': type}, body});
      expect(response.status).toBe(200);
    },
  );

  it('are all in the docs, with their status, and no others are', async () => {
    const {errorStatus} = await import('../../src/service/errors.ts');
    const docs = readFileSync('docs/service.md', 'utf8');
    const table = docs.slice(docs.indexOf('## Errors'), docs.indexOf('## Credits'));
    const documented = [...table.matchAll(/^\| (\d{3}) \| `(\w+)`/gm)].map(([, status, code]) => [
      code,
      Number(status),
    ]);
    expect(Object.fromEntries(documented)).toEqual(errorStatus);
  });
});

describe('credits', () => {
  it('are counted by operation, and what is turned down is free', async () => {
    const service = await running({costs: {phone: 3}});
    await askService(service, ip, {ip: '8.8.8.8'});
    await askService(service, '/intelligence/phone', {phone: '+1'});
    await askService(service, ip, {ip: 'x'});
    await askService(service, ip, {api_key: 'wrong'});
    const {balance, spent, operations} = (await (await fetch(`${service.url}/_ledger`)).json()) as ReturnType<
      typeof service.ledger
    >;
    expect({balance, spent}).toEqual({balance: null, spent: 4});
    expect(operations.ip).toEqual({
      calls: 1,
      free: 0,
      unanswered: 0,
      credits: 1,
      rejected: {invalid_ip: 1, invalid_token: 1},
    });
    expect(operations.phone).toMatchObject({calls: 1, credits: 3});
  });

  it('never go below zero: 402 out_of_credits, and a dearer call fails where a cheaper one passes', async () => {
    const service = await running({credits: 4, costs: {ip: 3}});
    expect((await askService(service, ip, {ip: '8.8.8.8'})).status).toBe(200);
    expect(await askService(service, ip, {ip: '8.8.8.8'})).toMatchObject({
      status: 402,
      json: {success: false, message: 'out_of_credits'},
    });
    expect((await askService(service, '/intelligence/email', {email: 'a@b.org'})).status).toBe(200);
    expect(service.ledger()).toMatchObject({balance: 0, spent: 4});
  });

  it('hold under concurrent calls, to the credit', async () => {
    const service = await running({credits: 20});
    const replies = await Promise.all(
      Array.from({length: 50}, () => askService(service, ip, {ip: '8.8.8.8'})),
    );
    expect(replies.filter(({status}) => status === 200)).toHaveLength(20);
    expect(replies.filter(({status}) => status === 402)).toHaveLength(30);
    expect(service.ledger()).toMatchObject({balance: 0, spent: 20});
  });

  it('are not needed by test action ids', async () => {
    const service = await running({credits: 0});
    const body = {action_id: 't/FFFFFFFFFFFFF/111111111', token: 'any'};
    expect((await askService(service, '/verify', body)).status).toBe(200);
    expect(service.ledger().operations.verify).toMatchObject({calls: 1, free: 1, credits: 0});
  });
});

describe('options', () => {
  it.each([
    {errorRate: 1.5},
    {errorRate: Number.NaN},
    {latencyMs: -1},
    {rateLimit: 0},
    {credits: -1},
    {apiKey: ''},
  ])('%j is refused', async options => {
    await expect(startService(options)).rejects.toThrow(ServiceSetupError);
  });

  it('a taken port is an error, and leaves the state unlocked', async () => {
    const taken = await running();
    const port = Number(new URL(taken.url).port);
    const stateDir = temporaryFolder();
    await expect(startService({port, stateDir})).rejects.toMatchObject({code: 'EADDRINUSE'});
    await running({stateDir});
  });
});

describe('state', () => {
  const verify = {action_id: 'a', token: 'kept'};
  const session = {token: 'kept', ip: '9.9.9.9', fingerprint: 'f'};

  it('survives a restart: ledger, balance, added sessions, redeemed tokens, accounts', async () => {
    const stateDir = temporaryFolder();
    const first = await startService({apiKey: 'k', credits: 10, stateDir});
    await askService(first, '/_sessions', {sessions: [session, {...session, token: 'other'}]});
    await askService(first, '/verify', {...verify, id: 'one', email: 'a.b@gmail.com'});
    await askService(first, ip, {ip: 'no'});
    const before = first.ledger();
    await first.close();
    for (const round of [1, 2]) {
      const next = await startService({apiKey: 'k', credits: 10, stateDir});
      if (round === 1) expect(next.ledger()).toEqual(before);
      const {json} = await askService(next, '/verify', verify);
      expect(json.verdict.redeemed).toBe(true);
      const other = await askService(next, '/verify', {action_id: 'a', token: 'other', id: 'two'});
      expect(other.json.multi_accounting.accounts).toMatchObject([
        {user_id: 'one', email: 'a.b@gmail.com', session_count: 1},
      ]);
      await next.close();
    }
  });

  it('survives a kill at any instant: every answered call is in the ledger', async () => {
    const stateDir = temporaryFolder();
    const script = `import {startService} from ${JSON.stringify(join(process.cwd(), 'dist/service/start.js'))};
      const service = await startService({apiKey: 'k', stateDir: ${JSON.stringify(stateDir)}});
      console.log(service.url);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const url = await new Promise<string>(resolve =>
      child.stdout.once('data', text => resolve(String(text).trim())),
    );
    let answered = 0;
    const asking = Array.from({length: 8}, async () => {
      while (child.exitCode === null && child.signalCode === null) {
        const reply = await askService({url, apiKey: 'k'} as never, ip, {ip: '8.8.8.8'}).catch(
          () => undefined,
        );
        if (reply?.status === 200) answered++;
        if (answered > 100) child.kill('SIGKILL');
        if (reply === undefined) return;
      }
    });
    await Promise.all([...asking, once(child, 'exit')]);
    const next = await running({stateDir});
    const {spent} = next.ledger();
    expect(spent).toBeGreaterThanOrEqual(answered);
    expect(spent).toBeLessThanOrEqual(answered + 8);
  });

  it('in a place that is no folder is an error that names it', async () => {
    const starting = startService({stateDir: 'package.json/state'});
    await expect(starting).rejects.toThrow(ServiceSetupError);
    await expect(starting).rejects.toThrow(/package\.json\/state/);
  });

  it('is for its owner alone', async () => {
    const stateDir = join(temporaryFolder(), 'new');
    await running({stateDir});
    expect(statSync(stateDir).mode & 0o777).toBe(0o700);
    expect(statSync(join(stateDir, 'state.ndjson')).mode & 0o777).toBe(0o600);
  });

  it('holds neither key nor token', async () => {
    const stateDir = temporaryFolder();
    const service = await running({apiKey: 'canary-key', stateDir});
    await askService(service, '/verify', {action_id: 't/FFFFFFFFFFFFF/111111111', token: 'canary-token'});
    expect(readFileSync(join(stateDir, 'state.ndjson'), 'utf8')).not.toMatch(/canary/);
  });

  it('is not for two services at once; a lock whose process is gone is no lock', async () => {
    const stateDir = temporaryFolder();
    const first = await running({stateDir});
    await expect(startService({stateDir})).rejects.toThrow(/is in use/);
    await first.close();
    const gone = execFileSync(process.execPath, ['-p', 'process.pid'], {encoding: 'utf8'}).trim();
    writeFileSync(join(stateDir, 'lock'), gone);
    await running({stateDir});
  });

  it('drops a last line that was cut short, and refuses any other broken one', async () => {
    const stateDir = temporaryFolder();
    const path = join(stateDir, 'state.ndjson');
    writeFileSync(path, '{"ledger":{"op":"ip","cost":1}}\n{"ledger":{"op":"ip","co');
    const service = await startService({stateDir});
    expect(service.ledger().spent).toBe(1);
    await service.close();
    writeFileSync(path, '{"ledger":\n{"ledger":{"op":"ip","cost":1}}\n');
    await expect(startService({stateDir})).rejects.toThrow(/state\.ndjson:1 /);
  });
});

describe('pages of our own', () => {
  it('GET /_sources names each data set with licence, date or version, entries and fields', async () => {
    const {url} = await running();
    const sources = (await (await fetch(`${url}/_sources`)).json()) as Record<
      string,
      Record<string, unknown>[]
    >;
    const sets = sources['data_sets'] ?? [];
    expect(sets.map(({name}) => name)).toEqual(
      expect.arrayContaining(['@ip-location-db/asn', 'mailchecker', '@ip1sms/disposable-phone-numbers']),
    );
    for (const set of sets) {
      expect(set).toMatchObject({licence: expect.stringMatching(/./), version: expect.stringMatching(/^\d/)});
      expect(set['entries']).toBeGreaterThan(100);
    }
    for (const library of sources['libraries'] ?? []) expect(library['version']).toMatch(/^\d/);
    const leftOut = (sources['left_out'] ?? []).flatMap(({fields}) => fields);
    expect(leftOut).toEqual(
      expect.arrayContaining(['is_residential_proxy', 'is_threat', 'is_spam', 'is_proxy', 'postal_code']),
    );
  });

  it('GET /_schemas describes sessions and rules', async () => {
    const {url} = await running();
    const schemas = (await (await fetch(`${url}/_schemas`)).json()) as Record<string, {properties?: object}>;
    expect(Object.keys(schemas['session']?.properties ?? {})).toContain('finished_at');
    expect(schemas['rules']).toMatchObject({type: 'array'});
  });
});
