import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {startService} from '../../src/service/start.ts';
import {judgeSession, loadAccessRules, type ReadyAccessRule} from '../../src/service/verdict/access-rules.ts';
import {factTypes, type UserFacts} from '../../src/service/verdict/user-session.ts';
import {temporaryFolder} from './running.ts';

/** Facts of a person at home. */
const person: UserFacts = {
  ...{bot_agent: false, mobile: false, user_agent: 'Mozilla/5.0', browser: 'Chrome 126', os: 'Windows'},
  ...{languages: 'en', timezone: 'Europe/Berlin', fingerprint: 'f', duration: 30},
  ...{datacenter: false, vpn: false, tor: false, bogon: false, asn: 64496, country: 'DE'},
  ...{email_type: '', email_trust: -1, phone_valid: false, phone_type: ''},
  ...{replayed: false, linked_accounts: 0},
};

const EVERYTHING = {bot_agent: true, duration: 0, languages: '', timezone: '', datacenter: true};

describe('the default rules', () => {
  const rules = loadAccessRules(undefined);

  it.each<[string, Partial<UserFacts>, number, boolean, string[]]>([
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
    ['two accounts', {linked_accounts: 2}, 100, true, []],
    ['three accounts', {linked_accounts: 3}, 100, true, ['access-many-accounts']],
    ['everything', EVERYTHING, 0, false, ['bot-agent', 'bot-instant', 'bot-no-traits', 'bot-datacenter']],
  ])('%s: %o comes to %i, passes: %s', (_, facts, score, canPass, ids) => {
    const {matched, ...judgement} = judgeSession(rules, {...person, ...facts});
    expect(judgement).toEqual({score, canPass});
    expect(matched.map(({id}) => id)).toEqual(ids);
  });
});

describe('rules', () => {
  const plain = {source: 'access', when: 'true', weight: 0, shadow: false, matches: () => true} as const;
  const rule = (id: string, action: ReadyAccessRule['action'], more: Partial<ReadyAccessRule> = {}) => ({
    ...{...plain, id, name: id, action, ...more},
  });

  it.each<[string, ReadyAccessRule[], number, boolean]>([
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
    expect(judgeSession(rules, person)).toMatchObject({score, canPass});
  });

  it('show action, name, id, source and shadow, and nothing else', () => {
    expect(judgeSession([rule('r', 'flag', {shadow: true})], person).matched).toEqual([
      {action: 'flag', name: 'r', id: 'r', source: 'access', shadow: true},
    ]);
  });

  it.each(Object.keys(factTypes))('may ask for %s, and it is in the docs', name => {
    const [, facts = ''] = readFileSync('docs/service.md', 'utf8').split('### Give it rules');
    expect(facts.split('\n### ')[0]).toContain(`\`${name}\``);
    const value = person[name as keyof UserFacts];
    const literal = typeof value === 'string' ? JSON.stringify(value) : String(value);
    const number = typeof value === 'number' ? `${value}.0` : literal;
    const file = rulesFile(`[{id: r, name: r, source: bot, action: flag, when: '${name} == ${number}'}]`);
    const [ready] = loadAccessRules(file);
    expect(ready?.matches(person)).toBe(true);
  });

  const rulesFile = (text: string): string => {
    const path = join(temporaryFolder(), 'rules.yaml');
    writeFileSync(path, text);
    return path;
  };

  const written = (more: string) => `{id: a, name: a, source: bot, ${more}}`;
  it.each([
    ['[', /can't be read/],
    ['{}', /the file/],
    ['[{id: a}]', /0\.name/],
    [`[${written('action: eat, when: "true"')}]`, /0\.action/],
    [`[${written('action: flag, when: "true", wieght: 3')}]`, /wieght/],
    [`[${written('action: flag, when: "toor"')}]`, /condition of a.*toor/],
    [`[${written('action: flag, when: "1 +"')}]`, /condition of a/],
    [`[${written('action: flag, when: "duration"')}]`, /condition of a.*double/],
    [`[${written(`action: flag, when: "duration < double('many')"`)}]`, /condition of a.*double\(\) takes/],
    [`[${written('action: flag, when: "tor"')}, ${written('action: flag, when: "vpn"')}]`, /twice/],
  ])('%s keeps the service from starting, with a reason', async (text, reason) => {
    const path = rulesFile(text);
    const starting = startService({rulesFile: path});
    await expect(starting).rejects.toThrow(reason);
    await expect(starting).rejects.toThrow(path);
  });

  it.each(['rulesFile', 'sessionsFile'])('a device as its %s is not read: no start', async name => {
    await expect(startService({[name]: '/dev/null'})).rejects.toThrow('it is a device, not a file');
  });
});
