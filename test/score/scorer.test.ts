import {describe, expect, test} from 'vitest';
import type {CellResult} from '../../src/ledger/lookup-outcome.ts';
import {defaultLevels, defaultRules} from '../../src/score/rules.ts';
import {makeRunFacts} from '../../src/score/run-facts.ts';
import {createScorer, type Risk} from '../../src/score/scorer.ts';
import {format, scorer, targets, view} from './score-helpers.ts';

const failed = {status: 'failed', error: 'timeout'} as const;
const condition = {status: 'skipped', error: 'condition'} as const;
const malformed = {status: 'invalid', error: 'email_malformed'} as const;

test('a score has the points of each reason, which rules may share, as they are before the sum is kept in bounds', () => {
  const shared = scorer(
    targets({ip: ['ip']}),
    ['ip.is_vpn', 25, 'constructor'],
    ['ip.is_tor_node', -40, 'hidden'],
    ['ip.is_vpn && ip.is_tor_node', 10, 'constructor'],
  );
  const {score, points, reasons} = shared.score(view({is_vpn: true, is_tor_node: true}));
  expect([score, points, reasons]).toEqual([0, {constructor: 35, hidden: -40}, ['constructor', 'hidden']]);
});

test('of two columns, each rule sees the status and the error of both, whatever rule stands before it', () => {
  const {score} = scorer(
    targets({phone: ['phone', 'ip2']}),
    ['phone.is_virtual', 5, 'virtual'],
    ['status.phone == "invalid"', 40, 'status'],
    ['error.phone == "phone_too_short"', 20, 'error'],
  );
  const invalid = {status: 'invalid', error: 'phone_too_short'} as const;
  const fine = {is_virtual: false};
  for (const row of [view(invalid, fine), view(fine, invalid)])
    expect(score(row)).toMatchObject({points: {status: 40, error: 20}});
});

test('a shadow rule changes neither the score nor the score so far, by which further lookups go', () => {
  const ip = targets({ip: ['ip']});
  const {score, soFar} = scorer(ip, ['ip.is_vpn', 25, 'vpn'], ['ip.is_vpn', 70, 'tried', 'shadow']);
  const row = view({is_vpn: true, is_tor_node: false, country: 'DE'});
  expect([score(row).score, soFar(row)]).toEqual([25, expect.objectContaining({score: 25, level: 'low'})]);
});

describe('a missing answer is never a good one', () => {
  const ofBoth = targets({ip: ['ip'], email: ['email']});
  const both = scorer(
    ofBoth,
    ['ip.is_tor_node', 60, 'tor'],
    ['ip.is_vpn', 20, 'vpn'],
    ['email.is_valid == false', 40, 'mail'],
    ['status.email == "invalid"', 30, 'mail_invalid'],
  );
  const clean = {is_tor_node: false, is_vpn: false};
  const tor = {...clean, is_tor_node: true};
  const told = ({score, level, reasons, missing}: Risk) =>
    [score, level, ...reasons, ...missing.map(name => `?${name}`)].join(' ');

  test.each<[CellResult | object, CellResult | object, string]>([
    [clean, failed, ' unknown ?email'],
    [tor, failed, '60 high tor ?email'],
    [clean, {status: 'unknown', error: 'timeout'}, ' unknown ?email'],
    [{...tor, is_vpn: true}, {is_valid: false}, '100 high tor vpn mail'],
    [clean, {status: 'skipped', error: 'budget'}, ' unknown ?email'],
    [clean, {status: 'skipped', error: 'filter'}, ' unknown ?email'],
    // It was not needed.
    [clean, condition, '0 low ?email'],
    [clean, malformed, '30 medium mail_invalid ?email'],
    [clean, {status: 'empty'}, '0 low ?email'],
    // None of the fields that the default rules read, whatever these rules read; then one of them.
    [clean, {trust_score: 90}, ' unknown ?email.is_valid'],
    [tor, {trust_score: 90}, '60 high tor ?email.is_valid'],
    [clean, {has_aliasing: false}, '0 low ?email.is_valid'],
    [{status: 'empty'}, {status: 'empty'}, ' unknown ?ip ?email'],
  ])('%j beside %j: %s', (ip, mail, expected) => {
    expect(told(both.score(view(ip, mail)))).toBe(expected);
  });

  test.each(['email_list', 'unreadable_characters', 'email_masked'] as const)(
    'a fault of the list, %s, tells nothing about the person',
    error => {
      const fault = {status: 'invalid', error} as const;
      expect(told(both.score(view(clean, fault)))).toMatch(/^30 medium /);
      const plain = scorer(ofBoth, ['ip.is_tor_node || !email.is_valid', 60, 'bad']);
      expect(told(plain.score(view(clean, fault)))).toBe(' unknown ?email');
      expect(plain.soFar(view(clean, fault)).level).toBe('unknown');
      expect(told(plain.score(view(clean, malformed)))).toMatch(/^0 low/);
    },
  );

  test('so far there is a number whatever is missing', () => {
    expect(both.soFar(view({...clean, is_vpn: true}, undefined))).toMatchObject({score: 20, level: 'low'});
    expect(both.soFar(view(failed, undefined))).toMatchObject({score: 0, level: 'unknown'});
  });
});

describe('several columns of one operation', () => {
  const two = targets({ip: ['ip', 'ip2'], email: ['email']});
  const mail = {is_valid: false};

  const [vpn, plain] = [{is_vpn: true}, {is_vpn: false}];
  const both = {is_vpn: true, is_tor_node: true};
  const neither = {is_vpn: false, is_tor_node: false};

  test.each([
    // It applies once.
    ['ip.is_vpn', vpn, vpn, 25],
    ['ip.is_vpn', plain, vpn, 25],
    ['ip.is_vpn', plain, plain, 0],
    // All its parts speak of one column.
    ['ip.is_vpn && ip.is_tor_node', {...both, is_vpn: false}, {...both, is_tor_node: false}, 0],
    ['ip.is_vpn && ip.is_tor_node', neither, both, 25],
    ['ip.is_vpn && !email.is_valid', plain, vpn, 25],
    ['ip2.country == "DE" && status.ip2 == "ok"', {country: 'DE'}, {country: 'FR'}, 0],
    ['ip2.country == "DE" && status.ip2 == "ok"', {country: 'FR'}, {country: 'DE'}, 25],
    ['ip.is_vpn && error.ip == ""', failed, vpn, 25],
    ['ip.is_vpn && error.ip == ""', vpn, failed, 25],
  ])('%s of %j and %j comes to %i', (when, one, other, score) => {
    expect(scorer(two, [when, 25, 'held']).score(view(one, other, mail)).points['held'] ?? 0).toBe(score);
  });

  test('a missing signal is named by its column', () => {
    const any = scorer(two, ['ip.is_vpn', 25, 'vpn']);
    expect(any.score(view({}, failed, mail)).missing).toEqual(['ip.is_vpn', 'ip2']);
    expect(any.score(view({}, {is_vpn: true}, mail)).missing).toEqual([]);
    const wrong = scorer(two, ['double(ip.country) > 1.0', 25, 'odd']);
    expect(wrong.score(view({country: 'DE'}, {}, mail)).missing).toEqual(['ip.country', 'ip2.country']);
  });
});

test('a rule of an operation that is not looked up is left out, and lacks nothing', () => {
  const rules = scorer(targets({ip: ['ip']}), ['phone.is_valid', 10, 'phone']);
  expect(rules.score(view({}))).toMatchObject({score: 0, level: 'low', reasons: [], missing: []});
});

test('the default rules are right for every set of operations, and have reasons of their own', () => {
  const rules = defaultRules.map(rule => ({...rule, place: rule.reason, own: false}));
  const all = {rules, levels: defaultLevels, constants: {}, lists: {}};
  for (const some of [{ip: ['ip']}, {phone: ['phone']}, {email: ['email']}, {verify: ['token']}])
    expect(() => createScorer(all, targets(some), format, makeRunFacts(undefined, 0))).not.toThrow();
  // A mailbox of ten addresses and more gets further points.
  const further = defaultRules.filter(({when}) => when !== 'shared.mailbox >= 10');
  expect(new Set(further.map(({reason}) => reason)).size).toBe(further.length);
});
