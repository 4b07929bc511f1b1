import {describe, expect, test} from 'vitest';
import {makeRunFacts} from '../../src/score/rule-inputs.ts';
import {defaultLevels, defaultRules} from '../../src/score/rules.ts';
import {createScorer} from '../../src/score/scorer.ts';
import {format, scorer, targets, view} from './score-helpers.ts';

const failed = {status: 'failed', error: 'timeout'} as const;
const condition = {status: 'skipped', error: 'condition'} as const;

describe('a score', () => {
  test('has the points of each reason, which rules may share, as they are before the sum is kept in bounds', () => {
    const shared = scorer(
      [
        ['ip.is_vpn', 25, 'constructor'],
        ['ip.is_tor_node', -40, 'hidden'],
        ['ip.is_vpn && ip.is_tor_node', 10, 'constructor'],
      ],
      targets({ip: ['ip']}),
    );
    const {score, points, reasons} = shared.score(view({is_vpn: true, is_tor_node: true}));
    expect([score, points, reasons]).toEqual([0, {constructor: 35, hidden: -40}, ['constructor', 'hidden']]);
  });
});

test('of two columns, each rule sees the status and the error of both, whatever rule stands before it', () => {
  const {score} = scorer(
    [
      ['phone.is_virtual', 5, 'virtual'],
      ['status.phone == "invalid"', 40, 'status'],
      ['error.phone == "phone_too_short"', 20, 'error'],
    ],
    targets({phone: ['phone', 'ip2']}),
  );
  const invalid = {status: 'invalid', error: 'phone_too_short'} as never;
  const fine = {is_virtual: false};
  for (const row of [view(invalid, fine), view(fine, invalid)])
    expect(score(row)).toMatchObject({points: {status: 40, error: 20}});
});

test('a shadow rule changes neither the score nor the score so far, by which further lookups go', () => {
  const {score, soFar} = scorer(
    [
      ['ip.is_vpn', 25, 'vpn'],
      ['ip.is_vpn', 70, 'tried', 'shadow'],
    ],
    targets({ip: ['ip']}),
  );
  const row = view({is_vpn: true, is_tor_node: false, country: 'DE'});
  expect([score(row).score, soFar(row)]).toEqual([25, expect.objectContaining({score: 25, level: 'low'})]);
});

describe('a missing answer is never a good one', () => {
  const both = scorer(
    [
      ['ip.is_tor_node', 60, 'tor'],
      ['ip.is_vpn', 20, 'vpn'],
      ['email.is_valid == false', 40, 'mail'],
      ['status.email == "invalid"', 30, 'mail_invalid'],
    ],
    targets({ip: ['ip'], email: ['email']}),
  );
  const clean = {is_tor_node: false, is_vpn: false};

  test.each([
    ['failed', failed],
    ['not asked for want of credits', {status: 'skipped', error: 'budget'} as const],
    ['filtered out', {status: 'skipped', error: 'filter'} as const],
  ])('where a lookup is %s, a harmless rest is no low risk and no number', (_, result) => {
    expect(both.score(view(clean, result))).toMatchObject({
      score: null,
      level: 'unknown',
      reasons: [],
      missing: ['email'],
    });
    expect(both.score(view({...clean, is_tor_node: true}, result))).toMatchObject({score: 60, level: 'high'});
  });

  test('a lookup that its condition left out is missing, but was not needed', () => {
    const left = both.score(view(clean, condition));
    expect(left).toMatchObject({score: 0, level: 'low', reasons: [], missing: ['email']});
  });

  test('an invalid value counts as an answer, an empty one does not', () => {
    expect(both.score(view(clean, {status: 'invalid', error: 'email_malformed'}))).toMatchObject({
      score: 30,
      level: 'medium',
      reasons: ['mail_invalid'],
    });
    expect(both.score(view(clean, {status: 'empty'}))).toMatchObject({
      score: 0,
      level: 'low',
      missing: ['email'],
    });
    expect(both.score(view({status: 'empty'}, {status: 'empty'}))).toMatchObject({
      score: null,
      level: 'unknown',
    });
  });

  test.each([
    {status: 'invalid', error: 'email_list'},
    {status: 'invalid', error: 'unreadable_characters'},
    {status: 'invalid', error: 'email_masked'},
  ] as const)('a fault of the list, $error, tells nothing about the person', fault => {
    expect(both.score(view(clean, fault))).toMatchObject({score: 30, level: 'medium'});
    const plain = scorer(
      [['ip.is_tor_node || !email.is_valid', 60, 'bad']],
      targets({ip: ['ip'], email: ['email']}),
    );
    expect(plain.score(view(clean, fault))).toMatchObject({
      score: null,
      level: 'unknown',
      missing: ['email'],
    });
    expect(plain.soFar(view(clean, fault)).level).toBe('unknown');
    const malformed = {status: 'invalid', error: 'email_malformed'} as const;
    expect(plain.score(view(clean, malformed))).toMatchObject({score: 0, level: 'low'});
  });

  test('so far there is a number whatever is missing', () => {
    expect(both.soFar(view({...clean, is_vpn: true}, undefined))).toMatchObject({score: 20, level: 'low'});
    expect(both.soFar(view(failed, undefined))).toMatchObject({score: 0, level: 'unknown'});
  });
});

describe('several columns of one operation', () => {
  const two = targets({ip: ['ip', 'ip2'], email: ['email']});
  const mail = {is_valid: false};

  test('a rule applies once where it holds for any of them', () => {
    const any = scorer([['ip.is_vpn', 25, 'vpn']], two);
    expect(any.score(view({is_vpn: true}, {is_vpn: true}, mail)).score).toBe(25);
    expect(any.score(view({is_vpn: false}, {is_vpn: true}, mail)).score).toBe(25);
    expect(any.score(view({is_vpn: false}, {is_vpn: false}, mail)).score).toBe(0);
  });

  test('all parts of a rule speak of the same column', () => {
    const same = scorer([['ip.is_vpn && ip.is_tor_node', 50, 'both']], two);
    const split = view({is_vpn: true, is_tor_node: false}, {is_vpn: false, is_tor_node: true}, mail);
    expect(same.score(split).score).toBe(0);
    expect(
      same.score(view({is_vpn: false, is_tor_node: false}, {is_vpn: true, is_tor_node: true}, mail)).score,
    ).toBe(50);
  });

  test('a rule over two operations is tried with each pair', () => {
    const pair = scorer([['ip.is_vpn && !email.is_valid', 50, 'pair']], two);
    expect(pair.score(view({is_vpn: false}, {is_vpn: true}, mail)).score).toBe(50);
  });

  test('each column goes by its own name too', () => {
    const named = scorer([['ip2.country == "DE" && status.ip2 == "ok"', 30, 'second']], two);
    expect(named.score(view({country: 'DE'}, {country: 'FR'}, mail)).score).toBe(0);
    expect(named.score(view({country: 'FR'}, {country: 'DE'}, mail)).score).toBe(30);
  });

  test('a column whose answer is there has no error, whatever the first one has', () => {
    const fine = scorer([['ip.is_vpn && error.ip == ""', 25, 'vpn']], two);
    expect(fine.score(view(failed, {is_vpn: true}, mail)).points).toEqual({vpn: 25});
    expect(fine.score(view({is_vpn: true}, failed, mail)).points).toEqual({vpn: 25});
  });

  test('a missing signal is named by its column', () => {
    const any = scorer([['ip.is_vpn', 25, 'vpn']], two);
    expect(any.score(view({}, failed, mail)).missing).toEqual(['ip.is_vpn', 'ip2']);
    expect(any.score(view({}, {is_vpn: true}, mail)).missing).toEqual([]);
    const wrong = scorer([['double(ip.country) > 1.0', 25, 'odd']], two);
    expect(wrong.score(view({country: 'DE'}, {}, mail)).missing).toEqual(['ip.country', 'ip2.country']);
  });
});

test('a rule of an operation that is not looked up is left out, and lacks nothing', () => {
  const rules = scorer([['phone.is_valid', 10, 'phone']], targets({ip: ['ip']}));
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
