import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import {expect, test} from 'vitest';
import {canonicalEmail} from '../../src/operations/email.ts';
import {canonicalIp} from '../../src/operations/ip.ts';
import {fieldCanonicalizers, operationNames} from '../../src/operations/table.ts';
import {samples} from '../support/samples.ts';

const seeded = {seed: 20_261_121, numRuns: samples(1_000)};

const blanks = fc.constantFrom('', ' ', '\t', '\u00A0', '  ');

/** True if another library considers the address public. */
function isPublic(ip: string): boolean {
  const own = 'private loopback linkLocal carrierGradeNat unspecified broadcast multicast'.split(' ');
  const address = ipaddr.IPv4.parse(ip);
  return Number(address.octets[0]) < 240 && !own.includes(address.range());
}

test('IP: the spellings of an address are one value', () => {
  fc.assert(
    fc.property(fc.ipV4(), blanks, blanks, (ip, before, after) => {
      const hex = ip.split('.').map(Number);
      const word = (high = 0, low = 0) => (high * 256 + low).toString(16);
      const mapped = `::ffff:${word(hex[0], hex[1])}:${word(hex[2], hex[3])}`;
      const plain = canonicalIp(ip);
      const found = {state: 'value', value: ip};
      expect(plain).toEqual(isPublic(ip) ? found : {state: 'invalid', code: 'ip_private'});
      for (const spelling of [ip, `::ffff:${ip}`, mapped, mapped.toUpperCase(), `${ip}/32`])
        expect(canonicalIp(before + spelling + after)).toMatchObject(plain);
    }),
    seeded,
  );
});

test('e-mail: the case of the domain does not matter, the local part stays', () => {
  const labels = fc.stringMatching(/^[a-z][a-z0-9]{0,10}$/);
  // Runs of x or _ hide what was there: such addresses are masked.
  const locals = fc.stringMatching(/^[A-Za-z0-9_+-]{1,20}$/).filter(local => !/x{3}|_{3}/i.test(local));
  fc.assert(
    fc.property(locals, labels, labels, blanks, fc.boolean(), (local, name, tld, blank, dot) => {
      const domain = `${name}.${tld}`;
      const written = `${blank}${local}@${domain.toUpperCase()}${dot ? '.' : ''}${blank}`;
      expect(canonicalEmail(written)).toMatchObject({state: 'value', value: `${local}@${domain}`});
    }),
    seeded,
  );
});

/** Wrappings and separators, among which a value of each operation may stand. */
const pieces = fc.constantFrom(
  ...`" ' “ ” < > ( ) [ ] , ; : = + 00 /32 tel: mailto: n/a "" jo tok * １ ß 442079460958`.split(' '),
  ...[' ', '8.8.8.8', 'jo@example.com', '::ffff:8.8.8.8', '+442079460958', '020 7946 0958'],
);

test.each(
  operationNames.flatMap(name =>
    Object.entries(fieldCanonicalizers(name)).map(([param, form]) => [name, param, form] as const),
  ),
)('%s: the canonical form of %s is its own, as a run and the client both take it', (_, __, form) => {
  fc.assert(
    fc.property(fc.array(pieces, {maxLength: 5}), fc.constantFrom(undefined, 'GB', '+'), (parts, country) => {
      const {state, ...rest} = form(parts.join(''), country);
      if (state === 'value' && 'value' in rest) expect(form(rest.value)).toEqual({state, value: rest.value});
    }),
    seeded,
  );
});
