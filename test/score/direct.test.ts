import {expect, test} from 'vitest';
import {directComparison} from '../../src/score/language/direct.ts';
import {conditionChecker} from '../../src/score/language/expression.ts';
import {answerVocabulary} from '../../src/score/language/vocabulary.ts';

const vocabulary = answerVocabulary({ip: 'ip', email: 'email'}, ['country']);
const check = conditionChecker(vocabulary);

const numbers = [-1, 0, 0.5, 1, 20, 64_500];
const texts = ['', 'a', 'US', 'ü', '😀'];
const facts = [
  ...numbers.map(n => ({ip: {asn_number: n, latitude: 20}, email: {trust_score: n / 2}})),
  ...texts.map(city => ({
    ip: {city, country: 'US'},
    status: {ip: city === 'a' ? 'ok' : city},
    row: {country: 'a'},
  })),
  ...[true, false].map(flag => ({ip: {is_vpn: flag, is_threat: true}})),
];

const operators = ['==', '!=', '<', '<=', '>', '>='];
const expressions = [
  ...operators.flatMap(sign => [
    `ip.asn_number ${sign} 20`,
    `-1 ${sign} ip.asn_number`,
    `ip.asn_number ${sign} ip.latitude`,
  ]),
  ...['==', '!='].flatMap(sign => [
    `ip.city ${sign} "US"`,
    `row.country ${sign} ip.city`,
    `status.ip ${sign} "ok"`,
  ]),
  ...['==', '!='].flatMap(sign => [`ip.is_vpn ${sign} true`, `ip.is_vpn ${sign} ip.is_threat`]),
  'ip.asn_number in [20, 0.5, -1]',
  'ip.city in ["US", "😀"]',
  'ip.city in []',
];

test.each(expressions)('%s is compared as the expression engine compares it', text => {
  const {ast, runnable} = check(text, 'here');
  const direct = directComparison(ast, vocabulary);
  const engine = runnable(ast);
  const outcomes = facts.flatMap(some => {
    try {
      return [[engine(some), direct?.(some)]];
    } catch {
      return [];
    }
  });
  expect(outcomes.length).toBeGreaterThan(0);
  for (const [expected, actual] of outcomes) expect(actual).toBe(expected);
});

test.each([
  'ip.city < "b"',
  'size(ip.city) == 1',
  'ip.asn_number in [ip.latitude]',
  'ip.asn_number + 1 == 2',
])('%s is left to the engine', text => {
  expect(directComparison(check(text, 'here').ast, vocabulary)).toBeUndefined();
});
