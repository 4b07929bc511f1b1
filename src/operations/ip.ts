import {isIPv4, isIPv6} from 'node:net';
import ipaddr from 'ipaddr.js';
import {z} from 'zod';
import {
  type Canonical,
  empty,
  invalid,
  isPlaceholder,
  spreadsheetCodes,
  spreadsheetFault,
  valid,
} from './canonical.ts';
import {fields, flag, intelligence, place, text} from './operation.ts';

const codes = {
  ...spreadsheetCodes,
  ip_malformed: 'No IPv4 address in dotted form.',
  ip_with_port: 'An address with a port behind it.',
  ip_list: 'Several addresses in one cell.',
  ip_range: 'A network, such as 192.0.2.0/24, and no single address.',
  ipv6_unsupported: 'An IPv6 address: the service takes IPv4 only.',
} as const;

const data = fields({
  is_vpn: flag.describe('Whether it belongs to a VPN.'),
  is_datacenter_proxy: flag.describe('Whether it is a proxy in a datacenter.'),
  is_residential_proxy: flag.describe("Whether it is a proxy on a private person's line."),
  is_bogon: flag.describe('Whether it is of a range that nobody may announce to the Internet.'),
  is_tor_node: flag.describe('Whether it is a node of the Tor network.'),
  is_threat: flag.describe('Whether the service knows it as a threat.'),
  ...place,
  asn_number: z.int().describe('Number of the autonomous system that announces it.'),
  asn_organization: text.describe('Who runs that autonomous system.'),
  isp: text.describe('The Internet provider.'),
});

export const ip = intelligence('ip', {
  summary: 'Check IP reputation, risk and geolocation signals.',
  value: z.ipv4().describe('The IPv4 address to look up.'),
  data,
  singular: 'IP address',
  plural: 'IP addresses',
  title: 'IP addresses',
  about: 'Column of IPv4 addresses.',
  prefix: 'ip_',
  storedFor: '1d',
  cost: 1,
  codes,
  canonical: canonicalIp,
  header: {named: 'ip|ipv4|ip[\\s_.-]?(?:addr(?:ess)?|adresse?)', detail: 'v4|address|addr|adresse?'},
  top: [
    ['countries', ['country']],
    ['networks', ['asn_organization']],
  ],
  rules: [
    {when: 'ip.is_threat', add: 45, reason: 'ip_threat'},
    {when: 'ip.is_tor_node', add: 45, reason: 'tor'},
    {when: 'ip.is_bogon', add: 40, reason: 'ip_bogon'},
    {when: 'ip.is_residential_proxy', add: 30, reason: 'residential_proxy'},
    {when: 'ip.is_datacenter_proxy', add: 20, reason: 'datacenter'},
    {when: 'ip.is_vpn', add: 15, reason: 'vpn'},
    {when: 'status.ip == "invalid"', add: 20, reason: 'ip_invalid'},
  ],
});

/** IPv4 in dotted-quad form; IPv4-mapped IPv6 counts as the IPv4 address in it. The service takes IPv4 only. */
export function canonicalIp(raw: string): Canonical<keyof typeof codes> {
  const given = raw.trim();
  if (isIPv4(given)) return valid(given);
  if (isPlaceholder(given)) return empty;
  const fault = spreadsheetFault(given);
  if (fault !== undefined) return invalid(fault);
  if (isIPv6(given)) {
    const address = ipaddr.parse(given) as ipaddr.IPv6;
    return address.isIPv4MappedAddress()
      ? valid(address.toIPv4Address().toString())
      : invalid('ipv6_unsupported');
  }
  if (/^\[?[\da-f:.]+\]?:\d{1,5}$/i.test(given) && isIPv4(given.slice(0, given.lastIndexOf(':')))) {
    return invalid('ip_with_port');
  }
  if (/^[\d.]+\/\d{1,2}$/.test(given)) return invalid('ip_range');
  const parts = given.split(/[\s,;|]+/);
  if (parts.length > 1 && parts.every(part => isIPv4(part) || isIPv6(part))) return invalid('ip_list');
  return invalid('ip_malformed');
}
