import {writeFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {UsageError} from '../../src/errors.ts';
import {resolveEndpoint, resolveRedisUrl} from '../../src/job/endpoint.ts';
import {newDirectory} from '../support/new-directory.ts';
import {complaintOf} from '../support/told.ts';

const within = newDirectory();
const keyFile = (name: string, text: string) => {
  writeFileSync(within(name), text);
  return within(name);
};

const URL = 'https://api.example.com';
const live = {BULK_ENRICH_BASE_URL: URL, BULK_ENRICH_API_KEY: 'key-1'};

/** The endpoint, or the error's code. */
function resolved(
  env: Record<string, string>,
  given?: Parameters<typeof resolveEndpoint>[0],
  interactive = false,
  actionId?: string,
): unknown {
  try {
    return resolveEndpoint(given, actionId, env, interactive);
  } catch (error) {
    if (error instanceof UsageError) return error.code;
    throw error;
  }
}

/** What is said where no endpoint is found: never the key. */
function complaint(env: Record<string, string>, warn?: (sentence: string) => void) {
  const said = complaintOf(() => resolveEndpoint(undefined, undefined, env, false, warn && {warn}));
  expect(said).not.toMatch(/canary|^no complaint$/);
  return said;
}

const found = {kind: 'live', baseUrl: URL, apiKey: 'key-1', actionId: undefined};
const asked = {...found, keyFrom: 'BULK_ENRICH_API_KEY'};
const embedded = {kind: 'embedded', actionId: undefined, byDefault: false};

describe('nothing configured', () => {
  test('a person at a terminal gets the embedded service', () => {
    expect(resolved({}, undefined, true)).toEqual({...embedded, byDefault: true});
  });
  test('anybody else has to say so', () => {
    expect(resolved({})).toBe('no_endpoint');
    expect(resolved({}, 'live', true)).toBe('no_endpoint');
    expect(resolved({}, 'embedded')).toEqual(embedded);
  });
});

test('a live service without its URL: the message asks for the key only if that is missing too', () => {
  const said = (env: object) => complaintOf(() => resolveEndpoint('live', undefined, {...env}, false));
  expect(said({})).toContain('Set it and BULK_ENRICH_API_KEY, or');
  expect(said({BULK_ENRICH_API_KEY: 'key-1'})).toContain('Set it, or');
});

describe('the environment', () => {
  test('with URL and key, every command calls the live service', () => {
    for (const interactive of [true, false]) expect(resolved(live, undefined, interactive)).toEqual(asked);
    expect(resolved(live, 'live')).toEqual(asked);
  });
  test('the embedded service by name goes before it', () => {
    expect(resolved(live, 'embedded')).toEqual(embedded);
  });
  test('a URL given by name goes before the one there, the key stays', () => {
    const other = 'https://other.example.com';
    expect(resolved(live, other)).toEqual({...asked, baseUrl: other});
  });
  test.each([true, false])('half of it is an error (at a terminal: %s)', interactive => {
    expect(resolved({BULK_ENRICH_API_KEY: 'key-1'}, undefined, interactive)).toBe('no_endpoint');
    expect(resolved({BULK_ENRICH_BASE_URL: URL}, undefined, interactive)).toBe('no_key');
    expect(resolved({}, URL, interactive)).toBe('no_key');
  });
  test.each(
    'BASE_URL API_KEY API_KEY_FILE API_KEY_COMMAND ACTION_ID'.split(' ').map(name => `BULK_ENRICH_${name}`),
  )('%s set but empty is an error, unless the settings leave nothing to it', name => {
    for (const blank of ['', '  ']) {
      expect(resolved({...live, [name]: blank})).toBe('empty_variable');
      expect(resolved({[name]: blank}, undefined, true)).toBe('empty_variable');
      const isAsked = name === 'BULK_ENRICH_ACTION_ID';
      expect(resolved({[name]: blank}, 'embedded')).toEqual(isAsked ? 'empty_variable' : embedded);
      const isNamed = name === 'BULK_ENRICH_BASE_URL';
      expect(resolved({...live, [name]: blank}, URL)).toEqual(isNamed ? asked : 'empty_variable');
    }
  });
});

describe('the key file', () => {
  const env = (path: string) => ({BULK_ENRICH_BASE_URL: URL, BULK_ENRICH_API_KEY_FILE: path});
  test('holds the key, blanks around it left out', () => {
    const keyFrom = 'BULK_ENRICH_API_KEY_FILE';
    expect(resolved(env(keyFile('good', 'key-1\n')))).toMatchObject({...found, keyFrom});
  });
  test.each([
    ['an empty one', () => keyFile('empty', ' \n')],
    ['a directory', () => within()],
    ['one without an end', () => '/dev/zero'],
  ])('%s is an error', (_, path) => {
    expect(resolved(env(path()))).toBe('key_file');
  });
  test.each([
    ['UTF-16', Buffer.from('\uFEFFcanary-key', 'utf16le'), /UTF-16/],
    ['two lines', 'canary-key\nanother', /more than one line/],
    ['quotes', '"canary-key"\n', /quotes/],
    ['a name', 'API_KEY=canary-key\n', /NAME=KEY/],
    ['an exported name', 'export API_KEY = canary-key', /NAME=KEY/],
  ])('one that holds %s is refused with the reason, and so is such a variable', (_, content, why) => {
    const path = within('odd');
    writeFileSync(path, content);
    expect(complaint(env(path))).toMatch(why);
    if (typeof content === 'string')
      expect(resolved({...live, BULK_ENRICH_API_KEY: content})).toBe('key_variable');
  });
  test.each(['c2VjcmV0LWtleQ==', '\uFEFFkey-1', 'key=', "it's"])('a key may be %j', key => {
    expect(resolved(env(keyFile('good', key)))).toMatchObject({apiKey: key.replace('\uFEFF', '')});
  });
  test.each(['sk_live_canary-71ac4f99d0', 'c2FuYXJ5LWtl/canary+71ac4f='])(
    'the key itself, given as its file, is not shown: %s',
    key => {
      expect(complaint(env(key))).toContain('If it is the key itself, set BULK_ENRICH_API_KEY instead.');
    },
  );
  test.each(['https://api.example.com/canary/key+1f0c', 'https://jo:canary%2Fkey%2B1f0c@api.example.com'])(
    'a base URL that holds it is refused: %s',
    baseUrl => {
      const both = {BULK_ENRICH_BASE_URL: baseUrl, BULK_ENRICH_API_KEY: 'canary/key+1f0c'};
      expect(complaint(both)).toContain('The base URL has the API key in it');
    },
  );
});

describe('the key command', () => {
  const env = (command: string) => ({
    PATH: process.env.PATH ?? '',
    BULK_ENRICH_BASE_URL: URL,
    BULK_ENRICH_API_KEY_COMMAND: command,
  });
  test('prints the key, blanks around it left out', () => {
    const keyFrom = 'BULK_ENRICH_API_KEY_COMMAND';
    expect(resolved(env('echo " key-1 "'))).toMatchObject({...found, keyFrom});
  });
  test('its stderr becomes one warning of limited length, without the key', () => {
    const said: string[] = [];
    const warn = (sentence: string) => void said.push(sentence);
    const chatty = "echo key-1; printf '\\033[2Jkey-1 expires, key-1\\n::error::soon\\n%01000d' 0 >&2";
    resolveEndpoint(undefined, undefined, env(chatty), false, {warn});
    complaint(env('echo locked >&2; false'), warn);
    const remark = `****** expires, ****** ::error::soon ${'0'.repeat(1_000)}`.slice(0, 500);
    const before = 'The command in BULK_ENRICH_API_KEY_COMMAND says: ';
    expect(said).toEqual([`${before}${remark}`, `${before}locked`]);
  });
  test.each([
    ['a key printed to stderr by mistake', 'echo canary-key >&2'],
    ['one of several lines', "printf 'key:\\ncanary-key\\n'; echo 'got canary-key' >&2"],
  ])('no warning has %s', (_, command) => {
    const said: string[] = [];
    complaint(env(command), sentence => void said.push(sentence));
    expect(said.join()).not.toContain('canary');
  });
  test.each([
    ['that fails', 'echo canary-key; exit 3', /\(exit code 3\)/],
    ['that is not there', 'no-such-command-canary-key 2>/dev/null', /\(exit code 127\)/],
    ['that prints nothing', 'true canary-key', /printed nothing/],
    ['that says more than the key', 'echo canary-key; echo more', /more than one line/],
    ['that never stops', 'yes canary-key', /failed \(.*ENOBUFS\)|failed \(SIGTERM\)/],
  ])('one %s is an error which repeats neither it nor what it printed', (_, command, message) => {
    expect(resolved(env(command))).toBe('key_command');
    expect(complaint(env(command))).toMatch(message);
  });
  test.each(['BULK_ENRICH_API_KEY', 'BULK_ENRICH_API_KEY_FILE'])('beside %s it is an error', name => {
    expect(resolved({...env('echo key-1'), [name]: 'key-2'})).toBe('two_keys');
  });
});

test('the action id: setting, environment, in that order', () => {
  const env = {...live, BULK_ENRICH_ACTION_ID: 'from-env'};
  expect(resolved(env)).toMatchObject({actionId: 'from-env'});
  expect(resolved(env, URL, false, 'from-setting')).toMatchObject({actionId: 'from-setting'});
  expect(resolved(env, 'embedded')).toMatchObject({actionId: 'from-env'});
});

test('no message holds the key', () => {
  const env = {BULK_ENRICH_API_KEY: 'canary-key'};
  for (const each of [env, {...live, ...env, BULK_ENRICH_API_KEY_FILE: 'x'}]) complaint(each);
});

const redisOf = (given: string | undefined, variable?: string) =>
  resolveRedisUrl(given, '--fleet', variable === undefined ? {} : {BULK_ENRICH_REDIS_URL: variable});

describe('where the fleet is', () => {
  test.each([
    ['neither', undefined, undefined, undefined],
    ['the flag', 'redis://a:1', undefined, 'redis://a:1'],
    ['the variable, with its password', undefined, 'rediss://u:pw@a:1/2', 'rediss://u:pw@a:1/2'],
    ['none', 'none', 'redis://a:1', undefined],
    ['the flag before another place', 'redis://b', 'redis://:pw@a', 'redis://b'],
    ['the password of the same place', 'redis://a', 'redis://:pw@a:6379', 'redis://:pw@a:6379'],
    ['the same host, another database', 'redis://a/1', 'redis://:pw@a', 'redis://a/1'],
  ])('%s', (_, given, variable, wanted) => {
    expect(redisOf(given, variable)).toBe(wanted);
  });

  test.each([
    ['redis://:pw@a', undefined, /^--fleet holds a password.*BULK_ENRICH_REDIS_URL/],
    ['http://a', undefined, /^--fleet is not the URL of a Redis/],
    ['redis:/1', undefined, /^--fleet is not the URL of a Redis/],
    [undefined, 'localhost:6379', /^BULK_ENRICH_REDIS_URL is not the URL of a Redis/],
    [undefined, ' ', /^BULK_ENRICH_REDIS_URL is set but empty/],
  ])('refused: --fleet %s, with the variable %j', (given, variable, message) => {
    expect(() => redisOf(given, variable)).toThrow(message);
  });
});
