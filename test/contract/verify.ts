import {beforeAll, describe, expect, it} from 'vitest';
import {fieldCases, strangers, verifyFields} from './fields.ts';
import {ask, type Reply, type Target} from './target.ts';

const ALWAYS_PASS = 't/FFFFFFFFFFFFF/111111111';
const NEVER_PASS = 't/FFFFFFFFFFFFF/000000000';

const path = '/verify';

type Skip = (note: string) => never;

/** All optional fields, with fictional values. */
const extras = {id: 'contract-user', email: 'user@example.com', phone_number: '+442079460958'};

/** The sentences on `/verify`. */
export function verifyCases(target: () => Target): void {
  describe('POST /verify', () => {
    describe('a test action id', () => testActionCases(target));
    describe('a wrong key', () => wrongKeyCases(target));
    describe('a session', () => sessionCases(target));
    describe('its fields', () => fieldsOfVerify(target));
  });
}

const testCall = (target: Target, action_id: string, body: object = {}): Promise<Reply> =>
  ask(target, path, {action_id, token: `contract-${Math.random()}`, ...body});

function testActionCases(target: () => Target): void {
  for (const [action_id, can_pass] of [[ALWAYS_PASS, true] as const, [NEVER_PASS, false] as const]) {
    it(`${action_id} always returns verdict.can_pass = ${can_pass}`, async () => {
      const {status, type, json} = await testCall(target(), action_id);
      expect([status, type]).toEqual([200, expect.stringMatching(/^application\/json\b/)]);
      expect(json).toMatchObject({success: true, verdict: {can_pass}});
    });

    it(`${action_id} consumes no API credits`, async ({skip}) => {
      const {spent} = target();
      if (spent === undefined) return skip('nobody tells the credits');
      const before = await spent();
      await testCall(target(), action_id);
      expect(await spent()).toBe(before);
    });
  }

  it('answers without id, email and phone_number, which are optional', async () => {
    expect((await testCall(target(), ALWAYS_PASS)).json.success).toBe(true);
  });
}

function wrongKeyCases(target: () => Target): void {
  const wrong = (): Promise<Reply> => testCall(target(), ALWAYS_PASS, {api_key: 'not-a-key'});

  it('yields success = false and message = invalid_token', async () => {
    expect((await wrong()).json).toEqual({success: false, message: 'invalid_token'});
  });

  it('yields 401 (ours)', async ({skip}) => {
    skip(!target().ours, 'documented on /intelligence/ip alone');
    expect((await wrong()).status).toBe(401);
  });
}

/** The cases that need tokens of real sessions. */
function sessionCases(target: () => Target): void {
  const verify = (token: string, body: object = {}): Promise<Reply> =>
    ask(target(), path, {action_id: target().actionId, token, ...body});
  const withToken = (name: string, run: (fresh: () => string, skip: Skip) => Promise<void>): void =>
    it(name, async ({skip}) => {
      const {freshToken} = target();
      if (freshToken === undefined) return skip('no session tokens at hand');
      await run(freshToken, skip);
    });

  withToken('not yet verified: verdict.redeemed = false', async fresh => {
    const {status, json} = await verify(fresh());
    expect(status).toBe(200);
    expect(json).toMatchObject({success: true, verdict: {redeemed: false}});
  });

  withToken('verified again: no error, verdict.redeemed = true, and it stays so', async fresh => {
    const token = fresh();
    await verify(token);
    for (const round of [2, 3]) {
      const {status, json} = await verify(token);
      expect(status, `round ${round}`).toBe(200);
      expect(json.verdict.redeemed, `round ${round}`).toBe(true);
    }
  });

  for (const action_id of [ALWAYS_PASS, NEVER_PASS])
    withToken(`verified with ${action_id}: redeemed as by any call; no condition is named`, async fresh => {
      const token = fresh();
      expect((await verify(token, {action_id})).json.verdict.redeemed).toBe(false);
      expect((await verify(token)).json.verdict.redeemed).toBe(true);
    });

  withToken('verified by several at once: one answer alone has verdict.redeemed = false', async fresh => {
    const token = fresh();
    const replies = await Promise.all(Array.from({length: 5}, () => verify(token)));
    expect(replies.filter(({json}) => json.verdict.redeemed === false)).toHaveLength(1);
  });

  withToken('score is a number from 0 (bot) to 100 (human)', async fresh => {
    const {score} = (await verify(fresh())).json;
    expect(score).toBeGreaterThanOrEqual(0);
    expect(score).toBeLessThanOrEqual(100);
  });

  withToken('verdict.can_pass is true if the request should be allowed', async fresh => {
    expect((await verify(fresh())).json.verdict.can_pass).toBeTypeOf('boolean');
  });

  withToken('email is included when an address was passed, phone when a number was', async fresh => {
    const {email, phone_number} = extras;
    const {json} = await verify(fresh(), {email, phone_number});
    expect([json.email, json.phone]).toEqual([expect.any(Object), expect.any(Object)]);
  });

  withToken(
    'email and phone are included only when they were passed; multi_accounting requires an id',
    async fresh => {
      const {json} = await verify(fresh());
      for (const name of ['email', 'phone', 'multi_accounting']) expect(json).not.toHaveProperty(name);
    },
  );

  withToken('user_id echoes the id', async fresh => {
    expect((await verify(fresh(), {id: 'echo ✓ "1"'})).json.user_id).toBe('echo ✓ "1"');
  });

  withToken('consumes API credits', async (fresh, skip) => {
    const {spent} = target();
    if (spent === undefined) return skip('nobody tells the credits');
    const before = await spent();
    await verify(fresh());
    expect(await spent()).toBeGreaterThan(before);
  });
}

function fieldsOfVerify(target: () => Target): void {
  const replies: Reply[] = [];
  beforeAll(async () => {
    const {freshToken, actionId} = target();
    replies.push(await testCall(target(), ALWAYS_PASS, extras));
    if (freshToken === undefined) return;
    for (const id of ['contract-user', 'contract-user-2'])
      replies.push(await ask(target(), path, {action_id: actionId, token: freshToken(), ...extras, id}));
  });

  const holders = (where: string) => {
    let found: Record<string, unknown>[] = replies.map(({json}) => json);
    for (const step of where.replaceAll('[]', '').split('.').filter(Boolean))
      found = found.flatMap(each => (each[step] ?? []) as typeof found);
    return found;
  };

  for (const [where, fields] of Object.entries(verifyFields)) {
    fieldCases(where === '' ? '' : `${where}.`, fields, () => holders(where));
    it(`${where || 'the response'} has no field but the interface’s (ours)`, ({skip}) => {
      skip(!target().ours, 'the interface does not rule out further fields');
      expect(strangers(fields, holders(where))).toEqual([]);
    });
  }

  it('are all there where a source has them (ours)', ({skip}) => {
    skip(!target().ours, 'the interface does not say which are always present');
    for (const where of Object.keys(verifyFields)) expect(holders(where), where).not.toEqual([]);
  });
}
