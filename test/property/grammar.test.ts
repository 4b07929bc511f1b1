import {isIP, isIPv6} from 'node:net';
import fc from 'fast-check';
import {getCountries} from 'libphonenumber-js/max';
import {expect, test} from 'vitest';
import type {CanonicalCell} from '../../src/operations/cell.ts';
import {operations} from '../../src/operations/table.ts';
import {verifyInputs} from '../../src/operations/verify.ts';
import {conversionChecks} from '../../src/score/language/guards.ts';
import {samples} from '../support/samples.ts';

/**
 * Texts by the grammar of the check that each canonical form makes first: what `net.isIPv6`, libphonenumber, a
 * domain parser or a date's pattern lets through must not be too odd for the code behind it.
 */
const seeded = {seed: 20_261_127, numRuns: samples(2_000)};

const hex = fc.stringMatching(/^[\da-fA-F]{1,4}$/);
const zone = fc.oneof(
  fc.constant(''),
  fc.constant('%'),
  fc.string({unit: 'grapheme-ascii', minLength: 1, maxLength: 12}).map(text => `%${text}`),
  fc.constantFrom('%eth0.100', '%en-0', '%a:b', '%25eth0', '%1.2.3.4', '%::1'),
);
const tail = fc.oneof(fc.ipV4(), hex);
const ipv6 = fc
  .tuple(fc.array(hex, {maxLength: 3}), fc.array(hex, {maxLength: 2}), tail, zone)
  .map(([before, after, end, id]) => `${before.join(':')}::${[...after, end].join(':')}${id}`);
const zoned = fc.tuple(fc.ipV6(), zone).map(parts => parts.join(''));
const addresses = fc.oneof(ipv6, zoned, fc.ipV4());
const forwarded = fc
  .array(fc.oneof(addresses, fc.constantFrom('unknown', '-', '192.0.2.1:80', '[::1]:443')), {maxLength: 4})
  .map(some => some.join(', '));
const [ported, network] = [addresses.map(text => `[${text}]:443`), addresses.map(text => `${text}/128`)];
const ips = fc.oneof(addresses, forwarded, ported, network);

const digits = fc.stringMatching(/^[0-9０-９٠-٩۰-۹]{1,18}$/);
const phoneMarks = '+＋-‐‑‒–—―−ー－-／  ­​⁠　()（）［］.\\[]/~⁓∼～;x#,＃';
const phoneWords = fc.constantFrom(...phoneMarks, 'ext', 'доб', 'extn', ';ext=', ';isub=', 'tel:', '.0');
const phones = fc.array(fc.oneof(digits, phoneWords), {maxLength: 9}).map(some => some.join(''));

const label = fc.oneof(
  fc.stringMatching(/^[a-z\d-]{1,12}$/),
  fc.constantFrom('xn--', 'xn--a', 'xn--0', 'ß', 'ｅｘ', 'ex。ample', '1', '0x7f', '%41', 'İ'),
);
const emails = fc
  .tuple(fc.string({unit: 'grapheme', maxLength: 12}), fc.array(label, {maxLength: 4}), fc.boolean())
  .map(([local, labels, isBracketed]) =>
    isBracketed ? `${local} <${local}@${labels.join('.')}>` : `${local}@${labels.join('.')}`,
  );

const tokens = fc.string({unit: 'binary', maxLength: 30});
const countries = fc.oneof(
  fc.constantFrom<(string | undefined)[]>(undefined, ...getCountries()),
  fc.string({unit: 'grapheme', maxLength: 8}),
  fc.constantFrom('+49', '+', '00', '🇩🇪', '(+1)', '+999'),
);

/** Texts that are made of what values are made of, so that many of them are some. */
const pieces = fc
  .array(
    fc.constantFrom(
      ...'0123456789abcdefxE+-. ()@,;:/[]"\'%#\u00A0üß１。\u200B\u0000'.split(''),
      ...['example.com', '192.0.2.', '::ffff:', 'ext', 'tel:', 'mailto:', '.0', '="', ':80'],
    ),
    {maxLength: 20},
  )
  .map(some => some.join(''));
const mixed = (texts: fc.Arbitrary<string>) =>
  fc.oneof({weight: 2, arbitrary: texts}, pieces, fc.string({unit: 'binary'}), fc.emailAddress());

const which = fc.constantFrom(undefined, 'first', 'last', 'only');
type Read = (text: string, country?: string, rules?: object) => CanonicalCell;
const forms: readonly (readonly [string, Read, fc.Arbitrary<string>])[] = [
  ['ip', operations.ip.canonical, mixed(ips)],
  ['phone', operations.phone.canonical, mixed(phones)],
  ['email', operations.email.canonical, mixed(emails)],
  ['token', operations.verify.canonical, tokens],
  ['id', verifyInputs.id.canonical, tokens],
];

test.each(forms)(
  '%s: whatever its first check lets through is a value, empty or a fault with a code',
  (_, read, texts) => {
    fc.assert(
      fc.property(texts, countries, which, (text, country, ipFromList) => {
        const once = read(text, country, {ipFromList});
        expect(['value', 'empty', 'invalid']).toContain(once.state);
        if (once.state === 'value') expect(read(once.value, country)).toMatchObject({value: once.value});
      }),
      seeded,
    );
  },
);

test('ip: what the grammar makes is mostly what net.isIPv6 lets through, with and without a zone', () => {
  const made = fc.sample(ipv6, {seed: 1, numRuns: 1_000});
  expect(made.filter(text => isIPv6(text) && text.includes('%')).length).toBeGreaterThan(100);
  expect(made.filter(text => isIP(text) !== 0 && !text.includes('%')).length).toBeGreaterThan(50);
});

test.each(['fe80::1%eth0.100', 'fe80::1%en-0', 'fe80::1%a:b', '[fe80::1%eth0.100]:443'])(
  'ip: %s is an IPv6 address of one machine, and no reason to end a list',
  text => {
    expect(operations.ip.canonical(text)).toEqual({state: 'invalid', code: 'ipv6_unsupported'});
    const last = operations.ip.canonical(`${text}, 192.0.2.7`, undefined, {ipFromList: 'last'});
    expect(last).toMatchObject({value: '192.0.2.7'});
  },
);

test('rules: a timestamp that passes is one that the engine reads; every other one is refused', () => {
  const part = (length: number) => fc.stringMatching(new RegExp(`^\\d{${length}}$`));
  const dates = fc.date({noInvalidDate: true}).map(date => date.toISOString());
  const zones = fc.tuple(part(2), part(2)).map(([a, b]) => `-${a}:${b}`);
  const stamps = fc
    .tuple(
      fc.tuple(part(4), part(2), part(2)).map(some => some.join('-')),
      fc.constantFrom('T', 't', ' '),
      fc.tuple(part(2), part(2), part(2)).map(some => some.join(':')),
      fc.constantFrom('', '.1', '.123456789', '.'),
      fc.oneof(fc.constantFrom('Z', 'z', ''), zones),
    )
    .map(some => some.join(''));
  fc.assert(
    fc.property(fc.oneof(stamps, dates), text => {
      let read: unknown;
      try {
        read = conversionChecks.timestamp(text);
      } catch (error) {
        expect((error as Error).message).toContain('timestamp() takes a date');
        return;
      }
      expect(Number.isNaN(Date.parse(String(read)))).toBe(false);
    }),
    seeded,
  );
});
