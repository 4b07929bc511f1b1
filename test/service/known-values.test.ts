import {readFileSync} from 'node:fs';
import {describe, expect, it} from 'vitest';
import type {EmailData, IpData, PhoneData} from '../../src/operations/table.ts';
import type {OpenData} from '../../src/service/data/open-data.ts';
import {emailIntelligence} from '../../src/service/intelligence/email.ts';
import {ipIntelligence} from '../../src/service/intelligence/ip.ts';
import {phoneIntelligence} from '../../src/service/intelligence/phone.ts';
import {citySets} from '../support/city-data.ts';

/** The true ones of a list of texts and flags, in words. */
const words = (...parts: (string | false | undefined)[]): string => parts.filter(Boolean).join(', ');

const network = ({asn_number, asn_organization}: IpData): string | undefined =>
  asn_number === undefined ? undefined : `AS${asn_number} ${asn_organization}`;

const describeIp = (ip: IpData): string =>
  words(
    ip.is_bogon && 'bogon',
    words(ip.city, ip.country),
    network(ip),
    ip.is_datacenter_proxy && 'datacenter',
    ip.is_vpn && 'VPN',
    ip.is_tor_node && 'Tor',
  );

const describePhone = (phone: PhoneData): string =>
  words(
    phone.is_valid ? 'valid' : `not valid: ${phone.validation_error}`,
    phone.country,
    phone.number_type,
    phone.carrier,
    phone.is_virtual && 'virtual',
    phone.is_disposable && 'disposable',
    `risk ${phone.risk_score}`,
  );

const describeEmail = (email: EmailData): string =>
  words(
    email.is_valid ? 'valid' : 'not valid',
    email.has_aliasing && `alias of ${email.normalized_email}`,
    email.is_trusted && 'trusted',
    `trust ${email.trust_score}`,
  );

const answers: Record<string, (data: OpenData, value: string) => string> = {
  ip: (data, value) => describeIp(ipIntelligence(data, value)),
  phone: (data, value) => describePhone(phoneIntelligence(data, value)),
  email: (data, value) => describeEmail(emailIntelligence(data, value)),
};

const page = readFileSync('test/service/known-values.md', 'utf8');
const rows = [...page.matchAll(/^\| (ip|phone|email) \| `([^`]+)` \| ([^|]+) \|/gm)].map(
  ([, operation, value, answer]) => [operation, value, answer] as [string, string, string],
);

describe.each(citySets)('the well-known values of known-values.md, with %s', (_, data) => {
  it('are forty or more', () => {
    expect(rows.length).toBeGreaterThanOrEqual(40);
  });

  it.each(rows)('%s %s is answered as the page says: %s', (operation, value, answer) => {
    expect(answers[operation]?.(data, value)).toBe(answer);
  });
});
