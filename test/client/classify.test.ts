import {describe, expect, test} from 'vitest';
import type {Attempt, CodeSubject} from '../../src/client/attempt.ts';
import {classifyResponse, type RawResponse, subjectOfCode} from '../../src/client/classify.ts';
import {SentValues} from '../../src/client/sent-values.ts';
import type {Operation} from '../../src/operations/table.ts';

const respond = (status: number, body: unknown, more: Partial<RawResponse> = {}): RawResponse => ({
  status,
  body: typeof body === 'string' ? body : JSON.stringify(body),
  latencyMs: 1,
  pace: {limits: {}},
  ...more,
});
const error = (message: unknown) => ({success: false, message});
const ok = {success: true, data: {city: 'X'}};

describe('a response', () => {
  // The statuses and bodies that services and gateways usually send are in test/seams/wire.test.ts.
  test.each([
    ['300', 'ip', respond(300, ok), 'fatal http_300'],
    ['399', 'ip', respond(399, ok), 'fatal http_399'],
    ['304', 'ip', respond(304, ''), 'fatal http_304'],
    ['invalid_token at 500', 'email', respond(500, error('invalid_token')), 'fatal invalid_token'],
    ['invalid_token of a verdict', 'verify', respond(200, error('invalid_token')), 'rejected invalid_token'],
    ['401 of a verdict, no code', 'verify', respond(401, ''), 'fatal http_401'],
    ['403', 'ip', respond(403, error('forbidden')), 'rejected forbidden'],
    ['null', 'ip', respond(200, 'null'), 'unreadable bad_response'],
    ['a list as data', 'ip', respond(200, {success: true, data: []}), 'unreadable bad_response'],
    ['success as text', 'ip', respond(200, {success: 'true', data: {}}), 'unreadable bad_response'],
    ['success: false without a code', 'ip', respond(200, {success: false}), 'rejected service_error'],
    ['a sentence as a code', 'ip', respond(422, error('Your key sk-1 is wrong')), 'rejected service_error'],
    ['a code of 64', 'ip', respond(422, error('x'.repeat(64))), `rejected ${'x'.repeat(64)}`],
    ['a code that begins with a blank', 'ip', respond(422, error(' x')), 'rejected service_error'],
    ['a code that ends in a blank', 'ip', respond(422, error('x ')), 'rejected service_error'],
    ['no text as a code', 'ip', respond(422, error(1)), 'rejected service_error'],
    ['a success as 400', 'ip', respond(400, {success: true, message: 'x'}), 'rejected http_400'],
    ...['http_503', 'service_error', 'bad_response'].map(
      code => [`${code}, which is ours`, 'ip', respond(200, error(code)), 'rejected service_error'] as const,
    ),
    ['a code of any length', 'ip', respond(422, error('x'.repeat(65))), 'rejected service_error'],
  ] as const)('%s', (_, operation, response, expected) => {
    const attempt = classifyResponse(operation, response, {});
    expect(`${attempt.kind} ${'code' in attempt ? attempt.code : ''}`).toBe(expected);
  });

  test.each([
    ['its status', respond(199, ok), 'status 199'],
    ['no JSON', respond(200, '<html>'), 'not JSON'],
    ['no body within the limit', respond(200, '', {body: undefined, problem: 'too large'}), 'too large'],
    ['no success', respond(200, {success: true}), 'not a success response of /intelligence/ip'],
  ])('why it is unreadable: %s', (_, response, detail) => {
    const {status, latencyMs, pace} = response;
    const told = {kind: 'unreadable', code: 'bad_response', detail, status, latencyMs, pace};
    expect(classifyResponse('ip', response, {})).toEqual(told);
  });

  const [NOTHING, NO_VERDICT] = ['no known field has a value', 'no value in verdict or score'];
  const renamed = {ip: {is_vpn: true}, verdict: {canPass: true}, score: 'high'};
  const RENAMED = `${NO_VERDICT}; unknown: verdict.canPass; of a wrong type: score`;
  test.each<[string, Operation, object, string | undefined]>([
    ['a text', 'phone', {carrier: 'X'}, undefined],
    ['a flag that is false', 'phone', {is_valid: false}, undefined],
    ['a number that is 0', 'phone', {risk_score: 0}, undefined],
    ['an empty text', 'phone', {carrier: ''}, NOTHING],
    ['blanks', 'phone', {carrier: ' '}, NOTHING],
    ['the number that was sent', 'phone', {e164_format: '+12125550142'}, NOTHING],
    ['a score', 'verify', {score: 0}, undefined],
    ['a verdict', 'verify', {verdict: {can_pass: false}}, undefined],
    ['a verdict without fields', 'verify', {verdict: {}}, NO_VERDICT],
    ['all but the verdict', 'verify', {user_id: 'u', device: {os: 'X'}, rules: [{id: 'r'}]}, NO_VERDICT],
    ['a renamed verdict', 'verify', renamed, RENAMED],
  ])('that has only %s: what is said', (_, operation, data, detail) => {
    const body = operation === 'verify' ? {success: true, ...data} : {success: true, data};
    const attempt = classifyResponse(operation, respond(200, body), {phone: '+12125550142', id: 'u'});
    expect(attempt).toMatchObject(
      detail === undefined ? {kind: 'answered'} : {kind: 'unreadable', detail, saysNothing: true},
    );
  });

  test.each([
    ['a signal that is false', {is_vpn: false}, undefined],
    ['signals of null', {is_vpn: null, city: 'X'}, true],
    ['none of the fields that rules read', {city: 'X'}, true],
  ])('an answer with %s lacks signals: %s', (_, data, lacks) => {
    const attempt = classifyResponse('ip', respond(200, {success: true, data}), {});
    expect('lacksSignals' in attempt ? attempt.lacksSignals : undefined).toBe(lacks);
  });

  test.each([
    ['in Unicode', 'ö@例え.jp', undefined],
    ['in ASCII', 'Ö@xn--r8jz45g.jp', undefined],
    ['of another domain', 'ö@example.jp', true],
  ])('an answer about the address with its domain %s is one of another form: %s', (_, said, isOther) => {
    const body = {success: true, data: {normalized_email: said, is_valid: true}};
    const attempt = classifyResponse('email', respond(200, body), {email: 'ö@例え.jp'});
    expect('isOtherForm' in attempt ? attempt.isOtherForm : undefined).toBe(isOther);
  });

  test.each([
    ['a null is', {city: 'X', latitude: null}, {city: 'X'}],
    ['an unknown null is', {city: 'X', more: null}, {city: 'X'}],
    ['a value of the wrong type is', {city: 'X', latitude: 'far'}, {city: 'X'}],
    ['a null in what is not known is not', {city: 'X', more: {a: null}}, {city: 'X', more: {a: null}}],
  ])('%s left out', (_, data, kept) => {
    expect(classifyResponse('ip', respond(200, {success: true, data}), {})).toHaveProperty('data', kept);
  });

  const kept = (attempt: Attempt) => {
    if (attempt.kind !== 'answered') return attempt.kind;
    return [attempt.data, attempt.exact ?? JSON.stringify(attempt.data), attempt.wrongTypes];
  };
  const keptOf = (data: string) =>
    kept(classifyResponse('ip', respond(200, `{"success":true,"data":${data}}`), {}));

  test.each([
    ['digits to text', '{"postal_code":94043}', {postal_code: '94043'}, '{"postal_code":"94043"}'],
    ['digits to text as they are spelled', '{"isp":1.50}', {isp: '1.50'}, '{"isp":"1.50"}'],
    ['text to a whole number', '{"asn_number":"15169"}', {asn_number: 15_169}, '{"asn_number":15169}'],
    ['text to a number', '{"latitude":"-12.5"}', {latitude: -12.5}, '{"latitude":-12.5}'],
    ['text to a number as it is spelled', '{"latitude":"37.10"}', {latitude: 37.1}, '{"latitude":37.10}'],
    ['a flag that is spelled', '{"is_vpn":"true"}', {is_vpn: true}, '{"is_vpn":true}'],
    ['one that is not', '{"is_vpn":"false"}', {is_vpn: false}, '{"is_vpn":false}'],
  ])(
    'a field of another type becomes one of its own, where that loses nothing: %s',
    (_, data, used, text) => {
      expect(keptOf(data)).toEqual([used, text, []]);
    },
  );

  test.each([
    ['2026-01-31t12:30:00z', '2026-01-31T12:30:00Z'],
    ['2026-01-31T12:30:00.25z', '2026-01-31T12:30:00.25Z'],
    ['2026-01-31 12:30:00+02:00', '2026-01-31T12:30:00+02:00'],
    ['2026-01-31T12:30:00-00:00', '2026-01-31T12:30:00-00:00'],
    ['2026-12-31t23:59:60z', '2026-12-31T23:59:60Z'],
  ])('a date is one in all spellings of RFC 3339: %s', (given, expected) => {
    const session = {started_at: given};
    const accounts = [{last_activity: given, session_count: '3'}];
    const body = {success: true, score: 1, session, multi_accounting: {accounts}};
    const found = kept(classifyResponse('verify', respond(200, body), {}));
    const became = {accounts: [{last_activity: expected, session_count: 3}]};
    const data = {score: 1, session: {started_at: expected}, multi_accounting: became};
    expect(found).toEqual([data, JSON.stringify(data), []]);
  });

  test.each([
    ['{"city":"X","latitude":"far"}', {city: 'X'}, ['latitude']],
    ['{"asn_number":"AS15169","city":"X"}', {city: 'X'}, ['asn_number']],
    ['{"asn_number":"1.5","latitude":" 1","isp":"X"}', {isp: 'X'}, ['asn_number', 'latitude']],
    ['{"is_vpn":1,"city":["X"],"isp":"X"}', {isp: 'X'}, ['is_vpn', 'city']],
    ['{"latitude":"1e400","longitude":1.10}', {longitude: 1.1}, ['latitude']],
  ])('what can not become one is kept as it came, and is not in the data: %s', (data, used, wrong) => {
    expect(keptOf(data)).toEqual([used, data, wrong]);
  });

  test('a list with an item of another type is not in the data; a list of parts is, without such fields', () => {
    const [x, y] = [
      {name: 'x', shadow: 'maybe'},
      {name: 'y', more: 1},
    ];
    const all = (flags: unknown[]) => ({verdict: {can_pass: true}, email: {flags}, rules: [x, y]});
    const body = {success: true, ...all(['a', 5, true])};
    expect(classifyResponse('verify', respond(200, body), {})).toMatchObject({
      data: {email: {}, rules: [{name: 'x'}, y]},
      exact: JSON.stringify(all(['a', '5', true])),
      wrongTypes: ['email.flags', 'rules.shadow'],
      unknownFields: ['rules.more'],
    });
  });

  test('a part is judged by its own fields', () => {
    const read = (verdict: unknown) => {
      const attempt = classifyResponse('verify', respond(200, {success: true, score: 1, verdict}), {});
      return attempt.kind === 'answered' ? [attempt.data, attempt.wrongTypes] : [];
    };
    expect(read({can_pass: true, redeemed: null})).toEqual([{score: 1, verdict: {can_pass: true}}, []]);
    expect(read('yes')).toEqual([{score: 1}, ['verdict']]);
    expect(read([])).toEqual([{score: 1}, ['verdict']]);
  });

  test('a verdict on another person is not an answer', () => {
    const verdict = (user_id: unknown, sent: Record<string, string>) =>
      classifyResponse('verify', respond(200, {success: true, score: 1, user_id}), sent).kind;
    expect(verdict('b', {id: 'a'})).toBe('unreadable');
    expect(classifyResponse('verify', respond(200, {success: true, user_id: 'b'}), {id: 'a'})).toMatchObject({
      detail: 'user_id is not the id that was sent',
    });
    expect(['a', null].map(id => verdict(id, {id: 'a'}))).toEqual(['answered', 'answered']);
    expect(verdict('b', {})).toBe('answered');
  });

  test('an answer may be odd in any way: nested too deep, or full of unknown fields', () => {
    const deep = `{"success":true,"data":{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}}`;
    const refused = {kind: 'unreadable', code: 'bad_response', detail: 'nested too deep'};
    expect(classifyResponse('ip', respond(200, deep), {})).toMatchObject(refused);
    const names = Array.from({length: 150_000}, (_, n) => `x${n}`);
    const wide = {success: true, score: 1, device: Object.fromEntries(names.map(name => [name, 1]))};
    const attempt = classifyResponse('verify', respond(200, wide), {});
    expect(attempt.kind === 'answered' && attempt.unknownFields.length).toBe(names.length);
  });

  test('names of prototypes are names like any other', () => {
    const body = '{"success":true,"data":{"__proto__":{"city":1},"constructor":1,"city":"X"}}';
    const attempt = classifyResponse('ip', respond(200, body), {});
    expect(attempt).toMatchObject({kind: 'answered', data: {city: 'X'}});
    expect(({} as Record<string, unknown>).city).toBeUndefined();
  });
});

describe('a code that repeats the value', () => {
  const codeOf = (sent: Record<string, string>, message: string) => {
    const attempt = classifyResponse('ip', respond(400, error(message)), sent);
    return 'code' in attempt ? attempt.code : undefined;
  };

  test.each([
    [{ip: '198.51.0.7'}, 'bad_198.51.0.7'],
    [{phone: '+12125550142'}, 'no_such_number_12125550142'],
    [{token: 'tok-4f1b0c2d9e88aa37'}, 'expired_tok-4f1b0c2d9e88aa37'],
    [{token: 't', id: 'user-4711'}, 'unknown_user-4711'],
    [{phone: '+447700900123'}, 'not_in_service:07700900123'],
    [{ip: '198.51.0.7'}, 'blocked_198-51-0-7'],
    [{email: 'Jane.Doe77@example.com'}, 'no_mailbox:jane_doe77'],
  ])('%j: %s is none', (sent, message) => {
    expect(codeOf(sent, message)).toBe('service_error');
  });

  test.each([
    [{ip: '198.51.0.7'}, 'invalid_ip'],
    [{ip: '198.51.0.7'}, 'error_1987'],
    [{phone: '+12125550142'}, 'phone.invalid:2125'],
    [{email: 'al@example.com'}, 'invalid_email'],
    [{email: 'ö@例え.jp'}, 'invalid_email'],
    [{email: 'jo.doe@mail.example.com'}, 'mailbox_unknown'],
    [{token: 'a'.repeat(40), action_id: 'signup'}, 'signup_is_off'],
  ])('%j: %s is one', (sent, message) => {
    expect(codeOf(sent, message)).toBe(message);
  });

  test.each([
    ['as it is', {ip: '198.51.0.7'}, 'of_198.51.0.7'],
    ['in percent escapes', {ip: 'jo+a@b.de'}, 'of_jo%2Ba%40b.de'],
    ['in percent escapes of lower case', {ip: 'jo+a@b.de'}, 'of_jo%2ba%40b.de'],
  ])('a field that is named by it %s is counted without it', (_, sent, name) => {
    const named = respond(200, {success: true, data: {city: 'X', [name]: {a: 1}, other: 1}});
    expect(classifyResponse('ip', named, sent)).toMatchObject({unknownFields: ['[value]', 'other']});
  });
});

describe('an answer', () => {
  type Texts = Readonly<Record<string, string>>;
  /** The kinds of these answers, one after another: each repeats another request than its own. */
  const attemptsOf = (calls: readonly (readonly [Operation, sent: Texts, repeated: Texts])[]) => {
    const values = new SentValues();
    const ends = calls.map(([operation, sent]) => values.begin(operation, sent));
    for (const end of ends) end();
    return calls.map(([operation, sent, {id, email, phone}]) => {
      const address = {normalized_email: email, domain: email?.split('@')[1]};
      const data = {is_valid: true, ...(operation === 'phone' ? {e164_format: phone} : address)};
      const verdict = {score: 1, user_id: id, email: {address: email}};
      const body = operation === 'verify' ? {success: true, ...verdict} : {success: true, data};
      const attempt = classifyResponse(operation, respond(200, body), sent, undefined, values);
      const {kind} = attempt;
      if (kind === 'answered') return attempt.isOtherForm === true ? 'other form' : kind;
      return kind === 'fatal' ? attempt.reason : kind === 'unreadable' ? attempt.detail : kind;
    });
  };
  const MIXED = 'it is about another value';
  const [a, b, c, d] = ['a@example.com', 'b@example.com', 'c@example.com', 'd@example.com'];
  const [one, two, renumbered] = ['+12125550142', '+447700900123', '+16465550142'];

  test.each<[string, Operation, Texts, Texts, string]>([
    ['a phone number', 'phone', {phone: one}, {phone: two}, MIXED],
    ['an address', 'email', {email: a}, {email: b}, MIXED],
    ['a user', 'verify', {id: 'u1'}, {id: 'u2'}, MIXED],
    ['a verdict’s address', 'verify', {email: a}, {email: b}, MIXED],
    ['the same user’s address', 'verify', {id: 'u1', email: a}, {id: 'u1', email: b}, MIXED],
    ['the user in capitals', 'verify', {id: 'u1'}, {id: 'U1'}, 'answered'],
    ['the number with blanks', 'phone', {phone: one}, {phone: '+1 212 555 0142'}, 'answered'],
    ['the number with a new area code', 'phone', {phone: one}, {phone: renumbered}, 'answered'],
    ['the address without a tag', 'email', {email: 'a+n@example.com'}, {email: a}, 'answered'],
    ['the address without a dot', 'email', {email: '.a@example.com'}, {email: a}, 'answered'],
    ['the domain above its own', 'email', {email: 'a@mail.example.com'}, {email: a}, 'answered'],
    ['the domain below its own', 'email', {email: a}, {email: 'a@mail.example.com'}, MIXED],
    ['the provider’s other domain', 'email', {email: 'x-01@gmx.net'}, {email: 'x-01@gmx.de'}, 'answered'],
  ])('that repeats %s, which another call sent', (_, operation, sent, repeated, expected) => {
    const [found] = attemptsOf([
      [operation, sent, repeated],
      [operation, repeated, repeated],
    ]);
    expect(found).toBe(expected);
  });

  test('that repeats a form which no call sent, though one sent its domain', () => {
    const [found] = attemptsOf([
      ['email', {email: a}, {email: 'main@example.org'}],
      ['email', {email: 'b@example.org'}, {email: 'b@example.org'}],
    ]);
    expect(found).toBe('other form');
  });

  test('of another call is no chance at the third of an operation, whatever the calls of others bring', () => {
    const calls = [a, b, c, d].flatMap((email, n, emails) => [
      ['email', {email}, {email: emails[n - 1] ?? email}] as const,
      ['phone', {phone: one}, {phone: one}] as const,
      ['verify', {email}, {email}] as const,
    ]);
    const found = attemptsOf(calls);
    expect(found.filter((_, n) => n % 3 === 0)).toEqual(['answered', MIXED, MIXED, 'mixed_answers']);
    expect(found.filter((_, n) => n % 3 !== 0)).toEqual(Array(8).fill('answered'));
  });

  test('of a call in flight is told as one, and of the last thousand; of one before them it is a form', () => {
    const values = new SentValues();
    values.begin('email', {email: a});
    const later = Array.from({length: 2_000}, (_, n) => `u${n}@example.com`);
    for (const email of [b, ...later]) values.begin('email', {email})();
    const found = [a, b, later[1_000]].map(email =>
      values.echoIn('email', {normalized_email: email}, {email: c}),
    );
    expect(found).toEqual(['other', 'own form', 'other']);
  });

  test.each<[string, Texts, string]>([
    ['its own value', {email: c}, MIXED],
    ['no value', {}, 'mixed_answers'],
  ])('with %s between those of other calls', (_, repeated, last) => {
    const found = attemptsOf([
      ['email', {email: a}, {email: b}],
      ['email', {email: b}, {email: a}],
      ['email', {email: c}, repeated],
      ['email', {email: d}, {email: a}],
    ]);
    expect(found).toEqual([MIXED, MIXED, 'answered', last]);
  });
});

const CODES: Readonly<Record<CodeSubject, string>> = {
  moment: `rate_limit rate_limit_exceeded ratelimited too_many_requests throttled throttling overloaded
    maintenance under_maintenance try_again try_again_later retry_later service_busy service_unavailable
    server_timeout system_error gateway_timeout backend_unavailable error_of_the_server internal_error
    internal_server_error concurrent_request concurrent_requests_limit temporarily_unavailable unavailable busy timeout`,
  quota: 'quota quota_exceeded daily_quota monthly_quotas_used insufficient_credits no_credit credit_limit',
  value: `temporary_email internal_ip line_busy smtp_timeout mailbox_unavailable mailbox_quota_exceeded
    email_service_unavailable phone_error too_many_numbers addresses_busy invalid_token_rate_limit mx_timeout
    carrier_unavailable domain_error not_found invalid invalid_format blocked unknown_code error internal
    request_timeout connection_busy rate limited server mail_server_error domain_rate_limit mx_server_timeout
    smtp_server_busy phone_service_unavailable line_system_busy carrier_service_error ip_maintenance address_throttled`,
};

const spellings: readonly ((code: string) => string)[] = [
  code => code,
  code => code.toUpperCase(),
  code => code.replaceAll('_', '-'),
  code => code.replaceAll('_', '.'),
  code => `err:${code}`.replace(/^err:(?!rate|too|over|service|internal_e)/, ''),
  code => code.replace(/(?:^|_)(\w)/g, (_, first: string) => first.toUpperCase()),
  code => code.replace(/_(\w)/g, (_, first: string) => first.toUpperCase()),
];

test.each(Object.keys(CODES) as CodeSubject[])('codes about the %s, in any spelling', subject => {
  for (const code of CODES[subject].split(/\s+/))
    for (const spell of spellings)
      expect([spell(code), subjectOfCode(spell(code))]).toEqual([spell(code), subject]);
});

test('a message in words is judged by them', () => {
  const subjects = ['Too many requests!', 'The mailbox is busy', '', 'APIServerError'].map(subjectOfCode);
  expect(subjects).toEqual(['moment', 'value', 'value', 'moment']);
});
