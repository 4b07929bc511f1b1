import {beforeAll, describe, expect, it} from 'vitest';
import {emailFields, type Fields, fieldCases, ipFields, phoneFields, strangers} from './fields.ts';
import {ask, askRaw, type Reply, replyOf, type Target} from './target.ts';

/** A lookup: its path, its field, values that are known or reserved (a good one first), and its response's fields. */
const lookup = (field: string, values: [string, ...string[]], fields: Fields) => ({
  ...{path: `/intelligence/${field}`, field, values, fields},
});
type Lookup = ReturnType<typeof lookup>;

const lookups = [
  lookup('ip', ['8.8.8.8', '192.0.2.1'], ipFields),
  lookup('phone', ['+442079460958', '+447700900123', '+1'], phoneFields),
  lookup('email', ['user@example.com', 'a.b+c@gmail.com', 'nobody'], emailFields),
];

/** The sentences on the three intelligence operations. */
export function intelligenceCases(target: () => Target): void {
  for (const one of lookups)
    describe(`POST ${one.path}`, () => {
      lookupCases(target, one);
      wrongKeyCases(target, one);
      if (one.field === 'ip') ipCases(target);
      if (one.field === 'phone') phoneCases(target);
    });
}

function lookupCases(target: () => Target, {path, field, values, fields}: Lookup): void {
  const replies: Reply[] = [];
  beforeAll(async () => {
    for (const value of values) replies.push(await ask(target(), path, {[field]: value}));
  });

  it('answers a POST with 200', () => {
    expect(replies[0]?.status).toBe(200);
  });

  it('answers with application/json', () => {
    for (const {type} of replies) expect(type).toMatch(/^application\/json\b/);
  });

  it('answers {success: boolean, data: object}', () => {
    expect(replies[0]?.json).toMatchObject({success: true, data: expect.any(Object)});
  });

  const data = (): Record<string, unknown>[] => replies.flatMap(({json}) => (json.data ? [json.data] : []));
  fieldCases('data.', fields, data);

  it('has no field but the interface’s (ours)', ({skip}) => {
    skip(!target().ours, 'the interface does not rule out further fields');
    expect(strangers(fields, data())).toEqual([]);
    const ends = replies.map(({json}) => json);
    expect(strangers({success: 'boolean', data: 'object'}, ends)).toEqual([]);
  });

  it('takes the value in its field: without it, the call is no success', async () => {
    const {json} = await ask(target(), path, {});
    expect(json).toMatchObject({success: false, message: expect.any(String)});
  });

  it('is a POST: a GET is no success', async () => {
    const response = await fetch(target().baseUrl + path);
    await response.arrayBuffer();
    expect(response.ok).toBe(false);
  });

  it('consumes API credits', async ({skip}) => {
    const {spent} = target();
    if (spent === undefined) return skip('nobody tells the credits');
    const before = await spent();
    await ask(target(), path, {[field]: values[0]});
    expect(await spent()).toBeGreaterThan(before);
  });
}

function wrongKeyCases(target: () => Target, {path, field, values}: Lookup): void {
  const wrong = (): Promise<Reply> => ask(target(), path, {api_key: 'not-a-key', [field]: values[0]});

  it('answers a wrong key with success = false and message = invalid_token', async () => {
    expect((await wrong()).json).toEqual({success: false, message: 'invalid_token'});
  });

  it('answers a wrong key with 401', async ({skip}) => {
    skip(path !== '/intelligence/ip' && !target().ours, 'documented on /intelligence/ip alone');
    expect((await wrong()).status).toBe(401);
  });

  it('takes the key from the body, not from a header', async () => {
    const response = await fetch(target().baseUrl + path, {
      method: 'POST',
      headers: {'Content-Type': 'application/json', Authorization: `Bearer ${target().apiKey}`},
      body: JSON.stringify({[field]: values[0]}),
    });
    expect((await replyOf(response)).json).toMatchObject({success: false});
  });

  it('answers a malformed body with the error body', async () => {
    const {status, json} = await askRaw(target(), path, '{"api_key":');
    expect(status).toBeGreaterThanOrEqual(400);
    expect(json).toMatchObject({success: false, message: expect.any(String)});
  });
}

function ipCases(target: () => Target): void {
  it.each(['::1', '256.1.1.1', '1.2.3', 'example.com', ''])(
    'takes the format ipv4 only: not "%s"',
    async ip => {
      const {json} = await ask(target(), '/intelligence/ip', {ip});
      expect(json).toMatchObject({success: false, message: expect.any(String)});
    },
  );
}

function phoneCases(target: () => Target): void {
  it('has the field name phone, which differs from verify’s phone_number', async () => {
    const {json} = await ask(target(), '/intelligence/phone', {phone_number: '+442079460958'});
    expect(json).toMatchObject({success: false, message: expect.any(String)});
  });

  it('carries the result of an invalid number in data.is_valid and data.validation_error', async () => {
    const {status, json} = await ask(target(), '/intelligence/phone', {phone: '+1'});
    expect(status).toBe(200);
    const data = {is_valid: false, validation_error: expect.any(String)};
    expect(json).toMatchObject({success: true, data});
  });
}
