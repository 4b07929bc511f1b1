import ipaddr from 'ipaddr.js';
import type {IpData} from '../../operations/table.ts';
import {type AutonomousSystem, networkFlags} from '../data/networks/networks.ts';
import type {OpenData} from '../data/open-data.ts';

/**
 * Ranges of addresses that are not bogons. Other ranges must not be announced to the Internet (IANA's
 * special-purpose registry, through ipaddr.js). AS112 and AMT addresses are special too, but meant to be reachable.
 */
const reachableRanges = new Set(['unicast', 'as112', 'amt']);

/** Networks that IANA's registries call globally reachable, unlike the ranges around them. */
const reachableNetworks = [
  '192.0.0.9/32', // Port Control Protocol anycast
  '192.0.0.10/32', // TURN anycast
  '64:ff9b::/96', // IPv4/IPv6 translation
  '2001:1::1/128', // Port Control Protocol anycast
  '2001:1::2/128', // TURN anycast
  '2001:1::3/128', // DNS-SD anycast
  '2001:4:112::/48', // AS112
  '2001:20::/28', // ORCHIDv2
  '2001:30::/28', // drone remote ID
  '2620:4f:8000::/48', // AS112
].map(network => ipaddr.parseCIDR(network));

const isBogon = (address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
  !reachableRanges.has(address.range()) &&
  !reachableNetworks.some(
    ([start, prefix]) => start.kind() === address.kind() && address.match(start, prefix),
  );

const toNumber = (address: string): number =>
  address.split('.').reduce((number, octet) => number * 256 + Number(octet), 0);

/** Leaves out fields that no open data answers. */
export function ipIntelligence(data: OpenData, address: string): IpData {
  if (isBogon(ipaddr.IPv4.parse(address)))
    return {is_vpn: false, is_datacenter_proxy: false, is_bogon: true, is_tor_node: false};
  const system = data.asn().find(toNumber(address));
  return {...flags(system), is_bogon: false, ...location(data, address), ...holder(system)};
}

/** The answer about the address of a session (IPv4 or IPv6). For IPv6, it has only `is_bogon`. */
export function sessionIpIntelligence(data: OpenData, address: string): IpData {
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4' ? ipIntelligence(data, parsed.toString()) : {is_bogon: isBogon(parsed)};
}

/** If the network is unknown, its flags are left out: `false` might be wrong. */
function flags(system: AutonomousSystem | undefined): IpData {
  if (system === undefined) return {};
  const {datacenter, vpn, tor} = networkFlags(system);
  return {is_vpn: vpn, is_datacenter_proxy: datacenter, is_tor_node: tor};
}

function holder(system: AutonomousSystem | undefined): IpData {
  if (system === undefined) return {};
  const name = system.holder ? {asn_organization: system.holder, isp: system.holder} : {};
  return {asn_number: system.number, ...name};
}

/** Without the optional city data: the country alone, from the packed data. */
function location(data: OpenData, address: string): IpData {
  const {
    city,
    country = data.country().find(toNumber(address)),
    latitude,
    longitude,
  } = data.city()?.find(address) ?? {};
  const continent = country === undefined ? undefined : data.countryNames()[country]?.continent;
  return {
    ...(city !== undefined && {city}),
    ...(country !== undefined && {country}),
    ...(continent !== undefined && {continent}),
    ...(latitude !== undefined && {latitude}),
    ...(longitude !== undefined && {longitude}),
  };
}
