import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {startService} from '../../src/service/start.ts';
import {Accounts} from '../../src/service/verdict/accounts.ts';
import {defaultRules} from '../../src/service/verdict/default-rules.ts';
import {describeDevice} from '../../src/service/verdict/device.ts';
import {type Facts, factTypes} from '../../src/service/verdict/facts.ts';
import {judge} from '../../src/service/verdict/judge.ts';
import {loadRules, type ReadyRule} from '../../src/service/verdict/rules.ts';
import {readSessions, type Session} from '../../src/service/verdict/session.ts';
import {askService, running, temporaryFolder} from './running.ts';

const chrome =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36';
const iphone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1';

/** Facts of a person at home. */
const person: Facts = {
  bot_agent: false,
  mobile: false,
  user_agent: chrome,
  browser: 'Chrome 126',
  os: 'Windows 10',
  languages: 'en',
  timezone: 'Europe/Berlin',
  fingerprint: 'f',
  duration: 30,
  datacenter: false,
  vpn: false,
  tor: false,
  bogon: false,
  asn: 64496n,
  country: 'DE',
  email_type: '',
  email_trust: -1,
  phone_valid: false,
  phone_type: '',
  replayed: false,
  linked_accounts: 0n,
};

describe('the default rules', () => {
  const rules = loadRules(undefined);

  it.each<[string, Partial<Facts>, number, boolean, string[]]>([
    ['a person', {}, 100, true, []],
    ['a bot agent', {bot_agent: true}, 10, false, ['bot-agent']],
    ['no time at all', {duration: 0}, 60, true, ['bot-instant']],
    ['one second', {duration: 1}, 100, true, []],
    ['time unknown', {duration: -1}, 100, true, []],
    ['time running backwards', {duration: -5}, 40, false, ['bot-negative-time']],
    ['no traits', {languages: '', timezone: ''}, 70, true, ['bot-no-traits']],
    ['a language alone', {timezone: ''}, 100, true, []],
    ['a server', {datacenter: true}, 65, true, ['bot-datacenter']],
    ['a server, at once', {datacenter: true, duration: 0}, 25, false, ['bot-instant', 'bot-datacenter']],
    ['a VPN', {datacenter: true, vpn: true}, 100, true, ['access-vpn']],
    ['Tor', {datacenter: true, tor: true}, 100, false, ['access-tor']],
    ['a bogon', {bogon: true}, 100, false, ['access-bogon']],
    ['disposable mail', {email_type: 'disposable'}, 100, false, ['access-disposable-mail']],
    ['impossible mail', {email_type: 'invalid'}, 100, false, ['access-disposable-mail']],
    ['a replay', {replayed: true}, 100, true, ['access-replay']],
    ['two accounts', {linked_accounts: 2n}, 100, true, []],
    ['three accounts', {linked_accounts: 3n}, 100, true, ['access-many-accounts']],
    [
      'everything',
      {bot_agent: true, duration: 0, languages: '', timezone: '', datacenter: true},
      0,
      false,
      ['bot-agent', 'bot-instant', 'bot-no-traits', 'bot-datacenter'],
    ],
  ])('%s: %o comes to %i, passes: %s', (_, facts, score, canPass, ids) => {
    const {matched, ...judgement} = judge(rules, {...person, ...facts});
    expect(judgement).toEqual({score, canPass});
    expect(matched.map(({id}) => id)).toEqual(ids);
  });

  it('are the sample', () => {
    const withoutCode = (all: ReadyRule[]): object[] => all.map(({matches: _, ...rule}) => rule);
    expect(withoutCode(loadRules('samples/rules.yaml'))).toEqual(withoutCode(rules));
    expect(rules).toHaveLength(defaultRules.length);
  });
});

describe('rules', () => {
  const rule = (id: string, action: ReadyRule['action'], more: Partial<ReadyRule> = {}): ReadyRule => ({
    id,
    name: id,
    action,
    source: 'access',
    when: 'true',
    weight: 0,
    shadow: false,
    matches: () => true,
    ...more,
  });

  it.each<[string, ReadyRule[], number, boolean]>([
    ['nothing', [], 100, true],
    ['a block', [rule('b', 'block')], 100, false],
    ['an allow, over a block', [rule('b', 'block'), rule('a', 'allow')], 100, true],
    ['a block in the shadow', [rule('b', 'block', {shadow: true})], 100, true],
    ['an allow in the shadow', [rule('b', 'block'), rule('a', 'allow', {shadow: true})], 100, false],
    ['a bot’s weight', [rule('w', 'flag', {source: 'bot', weight: 50})], 50, true],
    ['a bot’s weight, one more', [rule('w', 'flag', {source: 'bot', weight: 51})], 49, false],
    ['a bot’s weight, allowed', [rule('w', 'allow', {source: 'bot', weight: 100})], 0, true],
    ['a weight in the shadow', [rule('w', 'flag', {source: 'bot', weight: 51, shadow: true})], 100, true],
    ['an access rule’s weight', [rule('w', 'flag', {weight: 51})], 100, true],
  ])('%s', (_, rules, score, canPass) => {
    expect(judge(rules, person)).toMatchObject({score, canPass});
  });

  it('show action, name, id, source and shadow, and nothing else', () => {
    expect(judge([rule('r', 'flag', {shadow: true})], person).matched).toEqual([
      {action: 'flag', name: 'r', id: 'r', source: 'access', shadow: true},
    ]);
  });

  it.each(Object.keys(factTypes))('may ask for %s, and it is in the docs', name => {
    expect(readFileSync('docs/service.md', 'utf8')).toContain(`| \`${name}\` |`);
    const value = person[name as keyof Facts];
    const literal = typeof value === 'string' ? JSON.stringify(value) : String(value);
    const number = typeof value === 'number' ? `${value}.0` : literal;
    const [ready] = loadRules(
      rulesFile(`[{id: r, name: r, source: bot, action: flag, when: '${name} == ${number}'}]`),
    );
    expect(ready?.matches(person)).toBe(true);
  });

  const rulesFile = (text: string): string => {
    const path = join(temporaryFolder(), 'rules.yaml');
    writeFileSync(path, text);
    return path;
  };

  it.each([
    ['[', /can't be read/],
    ['{}', /the file/],
    ['[{id: a}]', /0\.name/],
    ['[{id: a, name: a, source: bot, action: eat, when: "true"}]', /0\.action/],
    ['[{id: a, name: a, source: bot, action: flag, when: "true", wieght: 3}]', /wieght/],
    ['[{id: a, name: a, source: bot, action: flag, when: "toor"}]', /condition of a.*toor/],
    ['[{id: a, name: a, source: bot, action: flag, when: "1 +"}]', /condition of a/],
    ['[{id: a, name: a, source: bot, action: flag, when: "duration"}]', /condition of a.*double/],
    [
      '[{id: a, name: a, source: bot, action: flag, when: "tor"}, {id: a, name: b, source: bot, action: flag, when: "vpn"}]',
      /twice/,
    ],
  ])('%s keeps the service from starting, with a reason', async (text, reason) => {
    const path = rulesFile(text);
    const starting = startService({rulesFile: path});
    await expect(starting).rejects.toThrow(reason);
    await expect(starting).rejects.toThrow(path);
  });
});

describe('a device', () => {
  const device = (user_agent: string | undefined) =>
    describeDevice({token: 't', ip: '9.9.9.9', ...(user_agent !== undefined && {user_agent})} as Session);

  it.each([
    [chrome, {browser: 'Chrome 126', os: 'Windows 10', is_mobile: false}],
    [iphone, {browser: 'Safari 17', os: 'iOS 17.4', is_mobile: true}],
  ])('%s', (user_agent, shown) => {
    expect(device(user_agent)).toEqual({shown: {user_agent, ...shown}, isBot: false});
  });

  it.each(['curl/8.5.0', 'Mozilla/5.0 HeadlessChrome/126', 'Googlebot/2.1', 'x'.repeat(2000)])(
    '%.30s is a bot, of no browser',
    user_agent => {
      expect(device(user_agent)).toEqual({shown: {user_agent}, isBot: true});
    },
  );

  it('without a user agent is a bot', () => {
    expect(device(undefined)).toEqual({shown: {}, isBot: true});
    expect(device('')).toEqual({shown: {user_agent: ''}, isBot: true});
  });

  it('of a user agent that says nothing has neither browser nor system', () => {
    expect(device('Mozilla/5.0 (unknown thing; of no use) Gecko').shown).not.toHaveProperty('is_mobile');
  });
});

describe('accounts', () => {
  const session = (token: string, more: Partial<Session> = {}): Session => ({token, ip: '9.9.9.9', ...more});
  const email = (written: string, normalized = written) => ({written, normalized});

  it('are linked by what they share, with the confidence of all of it', () => {
    const accounts = new Accounts();
    accounts.note({userId: 'ip', session: session('1', {ip: '1.1.1.1'})});
    accounts.note({userId: 'device', session: session('2', {ip: '2.2.2.2', fingerprint: 'f'})});
    accounts.note({
      userId: 'mail',
      session: session('3', {ip: '3.3.3.3'}),
      email: email('A.B@gmail.com', 'ab@gmail.com'),
    });
    accounts.note({
      userId: 'all',
      session: session('4', {ip: '1.1.1.1', fingerprint: 'f'}),
      email: email('ab@gmail.com'),
    });
    accounts.note({userId: 'none', session: session('5', {ip: '5.5.5.5', fingerprint: 'g'})});
    const seen = {
      userId: 'me',
      session: session('6', {ip: '1.1.1.1', fingerprint: 'f'}),
      email: email('ab@gmail.com'),
    };
    const linked = accounts.linkedWith(seen);
    expect(linked.accounts?.map(({user_id, signals, confidence}) => [user_id, signals, confidence])).toEqual([
      ['all', ['same_email', 'same_fingerprint', 'same_ip'], 0.986],
      ['mail', ['same_email'], 0.9],
      ['device', ['same_fingerprint'], 0.8],
      ['ip', ['same_ip'], 0.3],
    ]);
    expect(linked).toMatchObject({detected: true, risk: 'high', score: 99});
  });

  it.each([
    ['nothing', {ip: '8.8.8.8'}, {detected: false, risk: 'none', score: 0}],
    ['an address', {}, {detected: false, risk: 'low', score: 30}],
    ['a device', {ip: '8.8.8.8', fingerprint: 'f'}, {detected: true, risk: 'medium', score: 80}],
  ])('sharing %s comes to its risk', (_, shared, risk) => {
    const accounts = new Accounts();
    accounts.note({userId: 'other', session: session('1', {fingerprint: 'f'})});
    expect(accounts.linkedWith({userId: 'me', session: session('2', shared)})).toMatchObject(risk);
  });

  it('count sessions once each, and know the latest activity, in UTC', () => {
    const accounts = new Accounts();
    for (const [token, finished_at] of [
      ['1', '2026-06-01T10:00:00Z'],
      ['2', '2026-06-01T13:30:00+02:00'],
      ['3', '2026-06-01T09:00:00Z'],
      ['1', '2026-06-01T10:00:00Z'],
    ] as const) {
      accounts.note({userId: 'other', session: session(token, {finished_at})});
    }
    expect(accounts.linkedWith({userId: 'me', session: session('4')}).accounts).toEqual([
      {
        user_id: 'other',
        signals: ['same_ip'],
        confidence: 0.3,
        session_count: 3,
        last_activity: '2026-06-01T11:30:00.000Z',
      },
    ]);
  });

  it('are shown fifty at most, and one’s own never', () => {
    const accounts = new Accounts();
    for (let index = 0; index < 5000; index++)
      accounts.note({userId: `u${index}`, session: session(`t${index}`)});
    const linked = accounts.linkedWith({userId: 'u7', session: session('t7')});
    expect(linked.accounts).toHaveLength(50);
    expect(linked.accounts?.map(({user_id}) => user_id)).not.toContain('u7');
  });
});

describe('over HTTP', () => {
  it('the samples come to the verdicts in the docs', async () => {
    const service = await running({sessionsFile: 'samples/sessions.ndjson', rulesFile: 'samples/rules.yaml'});
    const rows: string[] = [];
    for (const {token} of readSessions('samples/sessions.ndjson')) {
      const {json} = await askService(service, '/verify', {action_id: 'a', token, id: token});
      const ids = json.rules.map(({id, shadow}: {id: string; shadow: boolean}) => (shadow ? `(${id})` : id));
      rows.push(
        `| \`${token}\` | ${json.score} | ${json.verdict.can_pass} | ${ids.join(', ')} | ${json.multi_accounting.risk} |`,
      );
    }
    expect(readFileSync('docs/service.md', 'utf8')).toContain(rows.join('\n'));
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

  it('sessions are added with the key alone', async () => {
    const service = await running();
    const reply = await askService(service, '/_sessions', {api_key: 'wrong', sessions: []});
    expect(reply).toMatchObject({status: 401, json: {message: 'invalid_token'}});
  });

  it('a test action id takes a token that nobody knows, and then says no more than it can', async () => {
    const service = await running();
    const body = {action_id: 't/FFFFFFFFFFFFF/000000000', token: 'whatever', id: 'u', email: 'a@iana.org'};
    const {json} = await askService(service, '/verify', body);
    expect(Object.keys(json).sort()).toEqual([
      'email',
      'multi_accounting',
      'score',
      'success',
      'user_id',
      'verdict',
    ]);
    expect((await askService(service, '/verify', body)).json.verdict).toEqual({
      can_pass: false,
      redeemed: true,
    });
  });

  it('a test action id decides can_pass alone: score and rules are the session’s own', async () => {
    const service = await running({sessionsFile: 'samples/sessions.ndjson'});
    const {json} = await askService(service, '/verify', {
      action_id: 't/FFFFFFFFFFFFF/111111111',
      token: 'sample-script-1',
    });
    expect(json).toMatchObject({score: 0, verdict: {can_pass: true}});
  });

  it('an impossible e-mail address and phone number are answered as such', async () => {
    const service = await running({sessionsFile: 'samples/sessions.ndjson'});
    const {json} = await askService(service, '/verify', {
      action_id: 'a',
      token: 'sample-person-1',
      email: 'nobody',
      phone_number: '123',
    });
    expect(json.email).toEqual({address: 'nobody', valid: false, trust_score: 0, flags: ['malformed']});
    expect(json.phone).toEqual({valid: false});
    expect(json.verdict.can_pass).toBe(false);
  });

  it('out of credits, a token is not redeemed', async () => {
    const stateDir = temporaryFolder();
    const session = {token: 'once', ip: '9.9.9.9'};
    const poor = await startService({apiKey: 'k', credits: 0, stateDir});
    await askService(poor, '/_sessions', {sessions: [session]});
    expect((await askService(poor, '/verify', {action_id: 'a', token: 'once'})).status).toBe(402);
    await poor.close();
    const rich = await running({stateDir});
    const {json} = await askService(rich, '/verify', {action_id: 'a', token: 'once'});
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
    expect(readSessions(write(`\uFEFF${line}\r\n\r\n${line}\n`))).toHaveLength(2);
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
