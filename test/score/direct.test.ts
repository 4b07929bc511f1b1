import fc from 'fast-check';
import {expect, test} from 'vitest';
import {type DirectMeans, directCondition} from '../../src/score/language/direct.ts';
import {conditionChecker, type Expression} from '../../src/score/language/expression.ts';
import {reader} from '../../src/score/language/read-facts.ts';
import {answerVocabulary, typeAt} from '../../src/score/language/vocabulary.ts';

const vocabulary = answerVocabulary({ip: 'ip', email: 'email'}, ['country']);
const check = conditionChecker(vocabulary);
const scopeOf = ({runnable}: Expression): DirectMeans => ({
  typeAt: path => typeAt(vocabulary, path),
  read: reader,
  runnable,
});

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

/** Undefined for one whose constants alone can't be worked with. */
function checked(text: string): Expression | undefined {
  try {
    return check(text, 'here');
  } catch {
    return undefined;
  }
}

/** The result; undefined if it can't be computed. */
function outcome(work: () => unknown): unknown {
  try {
    return work();
  } catch {
    return undefined;
  }
}

test.each(expressions)('%s is compared as the expression engine compares it', text => {
  const expression = check(text, 'here');
  const direct = directCondition(expression.ast, scopeOf(expression));
  const engine = expression.runnable(expression.ast);
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

const number = fc.constantFrom(
  ...[0, 1, 2, 3, 5, 0.5, 1e308, 7].map(String),
  'ip.latitude',
  'ip.asn_number',
  'email.trust_score',
);
const word = fc.constantFrom(
  '""',
  '"US"',
  '"ü😀"',
  '"example"',
  'ip.city',
  'ip.country',
  'row.country',
  'status.ip',
);
const sought = fc.constantFrom('""', '"U"', '"s"', '"😀"', '"Example"');

/** Conditions of every form that is worked out without the engine, within each other. */
const {condition: anyCondition} = fc.letrec<{number: string; text: string; condition: string}>(tie => ({
  number: fc.oneof(
    {maxDepth: 4},
    number,
    fc
      .tuple(tie('number'), fc.constantFrom('+', '-', '*', '/'), tie('number'))
      .map(parts => `(${parts.join(' ')})`),
    tie('number').map(inner => `-(${inner})`),
    fc.tuple(tie('condition'), tie('number'), tie('number')).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
  ),
  text: fc.oneof(
    {maxDepth: 3},
    word,
    fc
      .tuple(tie('text'), fc.constantFrom('lowerAscii', 'upperAscii', 'trim'))
      .map(([a, name]) => `${a}.${name}()`),
    fc.tuple(tie('condition'), tie('text'), tie('text')).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
  ),
  condition: fc.oneof(
    {maxDepth: 4},
    fc.constantFrom('ip.is_vpn', 'ip.is_threat', 'true'),
    fc
      .tuple(tie('number'), fc.constantFrom(...operators), tie('number'))
      .map(parts => `(${parts.join(' ')})`),
    fc.tuple(tie('text'), fc.constantFrom('==', '!='), tie('text')).map(parts => `(${parts.join(' ')})`),
    fc.tuple(tie('text'), fc.constantFrom(...operators)).map(([a, sign]) => `(size(${a}) ${sign} 2)`),
    fc.tuple(tie('text'), tie('text')).map(([a, b]) => `(${a}.size() < size(${b}))`),
    fc
      .tuple(tie('text'), fc.constantFrom('startsWith', 'endsWith', 'contains', 'matches'), sought)
      .map(([a, name, b]) => `${a}.${name}(${b})`),
    fc.tuple(tie('number')).map(([a]) => `(${a} in [0, 1, 0.5])`),
    fc.tuple(tie('text')).map(([a]) => `(${a} in ["US", "example"])`),
    tie('condition').map(inner => `!(${inner})`),
    fc
      .tuple(tie('condition'), fc.constantFrom('&&', '||'), tie('condition'))
      .map(parts => `(${parts.join(' ')})`),
  ),
}));

const anyFacts = fc.record({
  ip: fc.record({
    latitude: fc.constantFrom(-1, 0, 0.5, 2, 1e308),
    asn_number: fc.constantFrom(0, 1, 64_500),
    city: fc.constantFrom('', 'US', 'ü😀', ' Example '),
    country: fc.constantFrom('US', 'example'),
    is_vpn: fc.boolean(),
    is_threat: fc.boolean(),
  }),
  email: fc.record({trust_score: fc.constantFrom(-3, 0, 3, 99)}),
  row: fc.record({country: fc.constantFrom('', 'US', 'ü')}),
  status: fc.constant({ip: 'ok'}),
});

test('conditions decided without the engine have the engine’s results', () => {
  let direct = 0;
  fc.assert(
    fc.property(anyCondition, fc.array(anyFacts, {minLength: 3, maxLength: 3}), (text, given) => {
      const expression = checked(text);
      const work = expression && directCondition(expression.ast, scopeOf(expression));
      fc.pre(expression !== undefined && work !== undefined);
      direct += 1;
      const engine = expression.runnable(expression.ast);
      for (const some of given)
        expect(
          outcome(() => work?.(some)),
          text,
        ).toBe(outcome(() => engine(some)));
    }),
    {numRuns: 500},
  );
  expect(direct).toBe(500);
});

test.each([
  'ip.city < "b"',
  'ip.asn_number in [ip.latitude]',
  'ip.city.contains(row.country)',
  'ip.is_vpn || 1 / ip.latitude > 2 ? true : false',
])('%s is left to the engine', text => {
  const expression = check(text, 'here');
  expect(directCondition(expression.ast, scopeOf(expression))).toBeUndefined();
});
