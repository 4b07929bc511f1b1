import {describe, expect, test} from 'vitest';
import type {Target} from '../../src/columns/targets.ts';
import {compileLookupConditions} from '../../src/score/conditions.ts';
import {makeRunFacts} from '../../src/score/run-facts.ts';
import {format, scorer, targets, view} from './score-helpers.ts';

type Rule = Parameters<typeof scorer>[1];

/** These lookups, each with its condition, by the names of their columns. */
function waterfall(
  of: Parameters<typeof targets>[0],
  whens: Readonly<Record<string, string>>,
  ...rules: Rule[]
) {
  const all = targets(of).map((target): Target => {
    const when = whens[target.column];
    return when === undefined ? target : {...target, when};
  });
  const score = rules.length > 0 ? {...scorer(all, ...rules), reads: []} : undefined;
  const made = compileLookupConditions(
    all,
    format,
    score && {...score, score: () => expect.fail('a row is scored at its end')},
    makeRunFacts(undefined, 0),
    path => path.join('.'),
  );
  const asked = (...row: readonly (object | undefined)[]) =>
    all.flatMap(({column, when}, index) =>
      when !== undefined && made?.asks(view(...row))(index) === true ? [column] : [],
    );
  return {stages: made?.stages.map(stage => stage.map(index => all[index]?.column)), asked};
}

describe('a lookup waits for all that its condition reads', () => {
  const of = {ip: ['ip'], phone: ['phone'], email: ['email'], verify: ['token']};

  test.each(['email.is_valid && phone.is_valid', 'phone.is_valid && email.is_valid'])('%s', both => {
    const whens = {email: 'ip.is_vpn', phone: 'email.is_valid', token: both};
    expect(waterfall(of, whens).stages).toEqual([['email'], ['phone'], ['token']]);
  });

  test('those that wait for nothing else are asked for together', () => {
    const whens = {email: 'ip.is_vpn', phone: 'ip.is_vpn', token: 'error.phone == ""'};
    expect(waterfall(of, whens).stages).toEqual([['phone', 'email'], ['token']]);
  });
});

describe('of several columns of one operation', () => {
  const vpn = {is_vpn: true};
  const plain = {is_vpn: false};

  test('one answer suffices to ask for more', () => {
    const {asked} = waterfall({ip: ['ip', 'ip2'], email: ['email']}, {email: 'ip.is_vpn'});
    expect(asked(plain, vpn)).toEqual(['email']);
    expect(asked(vpn, {status: 'failed', error: 'timeout'})).toEqual(['email']);
    expect(asked(plain, plain)).toEqual([]);
    expect(asked(plain, {status: 'failed', error: 'timeout'})).toEqual([]);
  });

  test('those without a condition are meant, so that one may depend on the other', () => {
    const {stages, asked} = waterfall({ip: ['ip', 'ip2']}, {ip2: 'ip.is_vpn'});
    expect(stages).toEqual([['ip2']]);
    expect(asked(vpn, undefined)).toEqual(['ip2']);
    expect(asked(plain, undefined)).toEqual([]);
  });

  test('each may depend on another by its own name', () => {
    const whens = {ip2: 'email.is_valid', phone: 'ip2.is_vpn'};
    const {stages, asked} = waterfall({ip: ['ip', 'ip2'], phone: ['phone'], email: ['email']}, whens);
    expect(stages).toEqual([['ip2'], ['phone']]);
    expect(asked(vpn, plain, undefined, {is_valid: false})).toEqual([]);
    expect(asked(plain, vpn, undefined, {is_valid: false})).toEqual(['phone']);
  });
});

test('the score that decides is the one of the answers so far, and is a number even if one failed', () => {
  const vpn: Rule = ['ip.is_vpn', 25, 'vpn'];
  const mail: Rule = ['email.is_valid == false', 40, 'mail'];
  const of = {ip: ['ip'], email: ['email'], phone: ['phone']};
  const few = waterfall(of, {phone: 'risk.score < 30'}, vpn, mail);
  expect(few.asked({is_vpn: true}, undefined, {status: 'failed', error: 'timeout'})).toEqual(['phone']);
  expect(few.asked({is_vpn: true}, undefined, {is_valid: false})).toEqual([]);
});
