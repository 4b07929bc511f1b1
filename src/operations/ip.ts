import {isIPv4, isIPv6} from 'node:net';
import ipaddr from 'ipaddr.js';
import {z} from 'zod';
import texts from '../codes.json' with {type: 'json'};
import {
  type CanonicalCell,
  type CellRules,
  chooseEntry,
  isScientific,
  judgeEntries,
  judgeNormalizedCell,
  type ListChoice,
  makeInvalidCell,
  type RepairCode,
  validCell,
  withRepairs,
} from './cell.ts';
import {answerSchema, defineIntelligence, flag, locationFields, text} from './operation.ts';

const codes = {...texts.any, ...texts.digits, ...texts.ip};

type IpCode = keyof typeof codes;

const data = answerSchema({
  is_vpn: flag.describe('True if the address belongs to a VPN.'),
  is_datacenter_proxy: flag.describe('True if it is a proxy in a datacenter.'),
  is_residential_proxy: flag.describe("True if it is a proxy on a private person's line."),
  is_bogon: flag.describe('True if its range is not public (private, reserved, documentation).'),
  is_tor_node: flag.describe('True if it is a node of the Tor network.'),
  is_threat: flag.describe('True if the service calls it a threat.'),
  ...locationFields,
  asn_number: z.int().describe('Number of the network (autonomous system, AS) that announces it.'),
  asn_organization: text.describe('Organization that runs that network.'),
  isp: text.describe('Internet provider.'),
});

export const ip = defineIntelligence('ip', {
  summary: 'Check IP reputation, risk and geolocation signals.',
  value: z.ipv4().describe('The IPv4 address to look up.'),
  data,
  singular: 'IP address',
  plural: 'IP addresses',
  title: 'IP addresses',
  label: 'IP',
  isDetected: true,
  about: 'Column of IPv4 addresses.',
  prefix: 'ip_',
  storedFor: '1d',
  cost: 1,
  codes,
  personFaults: [],
  canonical: canonicalIp,
  mayBeOthers: areVersions,
  others: 'versions, or masks',
  areMasked: values => values.every(value => MASKED.test(value)),
  echoes: [],
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
  ],
});

/** An IPv4 address in dotted-quad form. IPv4-mapped IPv6 counts as its IPv4 address. Other IPv6 is invalid. */
export function canonicalIp(raw: string, _country?: string, rules?: CellRules): CanonicalCell<IpCode> {
  return judgeNormalizedCell(raw, rules, text => judgeIp(text, rules?.ipFromList ?? rules?.fromList));
}

function judgeIp(text: string, which?: ListChoice): CanonicalCell<IpCode> {
  if (isIPv4(text)) return PRIVATE.test(text) ? makeInvalidCell('ip_private') : validCell(text);
  if (isScientific(text)) return makeInvalidCell('scientific_notation');
  if (isIPv6(text)) {
    // A zone (`fe80::1%eth0.100`) may be any text, at which ipaddr would throw.
    const address = ipaddr.IPv6.parse(text.replace(/%.*/s, ''));
    return address.isIPv4MappedAddress()
      ? judgeIp(address.toIPv4Address().toString())
      : makeInvalidCell('ipv6_unsupported');
  }
  const bracketed = /^\[([^[\]]+)\](?::(\d{1,5}))?$/.exec(text);
  const [, address = '', port] = bracketed ?? /^([\d.]+):(\d{1,5})$/.exec(text) ?? [];
  if (isIPv4(address) || isIPv6(address)) {
    if (port !== undefined && Number(port) > MOST_PORT) return makeInvalidCell('ip_with_port');
    const repairs: RepairCode[] = bracketed === null ? [] : ['brackets'];
    return withRepairs(judgeIp(address), port === undefined ? repairs : [...repairs, 'port']);
  }
  const host = text.replace(HOST_MASK, '');
  if (host !== text) return withRepairs(judgeIp(host), ['host_mask']);
  if (/^[\d.]+\/\d{1,2}$/.test(text)) return makeInvalidCell('ip_range');
  if (/^[1-9]\d{7,9}$/.test(text) && Number(text) < ADDRESSES) return makeInvalidCell('ip_number');
  return judgeList(text, which) ?? makeInvalidCell('ip_malformed');
}

const MOST_PORT = 65_535;
const ADDRESSES = 2 ** 32;

/**
 * Program versions look like IP addresses with small parts: `4.12.0.3`, `120.0.6099.129`. One that begins with at
 * most 191 and has two parts below 20 may be a version; only one in 27 random addresses has such parts.
 */
const SMALL_PART = 20;
const HIGHEST_VERSION = 191;
const FEWEST_SMALL = 2;

function isVersion(text: string): boolean {
  const parts = text.split('.').map(Number);
  const [first = 0] = parts;
  const areShort = parts.every(part => part < 100);
  return (
    areShort || (first <= HIGHEST_VERSION && parts.filter(part => part < SMALL_PART).length >= FEWEST_SMALL)
  );
}

function areVersions(texts: readonly string[]): boolean {
  return texts.filter(isVersion).length > texts.length / 2;
}

/**
 * RFC 1122 (loopback), 1918 (private), 3927 (link-local), 6598 (carriers' own), 5771 (multicast) and 1112 (reserved).
 * Such an address is mostly a load balancer's or an office's, and says nothing about a person.
 */
const PRIVATE =
  /^(?:0|10|127|22[4-9]|2[34]\d|25[0-5]|169\.254|192\.168|172\.(?:1[6-9]|2\d|3[01])|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./;

/** The suffix of a network with one address, `/32` or `/128`. PostgreSQL's inet writes single addresses so. */
const HOST_MASK = /(?<=^[\d.]+)\/32$|(?<=^[\da-f:.]*:[\da-f:.]*)\/128$/i;

/** An address whose last part is hidden, as statistics programs write it: `81.2.69.0`, `81.2.69.xxx`. */
const MASKED = /^[\d.]+\.(?:0|x+|\*+)$/i;

/** Faults that an address in a list may have. If a part has another fault, the text is not a list of addresses. */
const LISTED: ReadonlySet<IpCode> = new Set(['ipv6_unsupported', 'ip_private', 'ip_with_port']);

/**
 * Judges a list such as `X-Forwarded-For`; undefined for other texts. The client itself claims the first address, the
 * last proxy saw the last one.
 */
function judgeList(text: string, which: ListChoice | undefined): CanonicalCell<IpCode> | undefined {
  const parts = text.split(/:::|[\s,;|]/).filter(part => part !== '');
  if (parts[0] === text) return undefined;
  const entries = judgeEntries(parts, part => judgeIp(part));
  if (!entries.every(entry => entry.state !== 'invalid' || LISTED.has(entry.code))) return undefined;
  return chooseEntry(entries, which) ?? makeInvalidCell('ip_list');
}
