import {isIPv4} from 'node:net';
import type {IpData, PhoneData, VerifyData} from '../../operations/table.ts';
import type {MailAssessment} from '../intelligence/email.ts';
import type {UserSession} from './user-session.ts';

type VerdictPart<Name extends keyof VerifyData> = NonNullable<VerifyData[Name]>;

/** Returns those fields of `from` that have a value, under new names: `names` has the old name of each new one. */
function rename<From extends object, To extends string>(
  from: From,
  names: Record<To, keyof From>,
): Partial<Record<To, From[keyof From]>> {
  const pairs = Object.entries(names) as [To, keyof From][];
  const known = pairs.filter(([, old]) => from[old] !== undefined).map(([name, old]) => [name, from[old]]);
  return Object.fromEntries(known);
}

/** The verdict's `ip`. `type` is ipv4 or ipv6. `is_proxy` and `is_threat` are left out: no open data has them. */
export function ipPart(address: string, ip: IpData): VerdictPart<'ip'> {
  const {asn_number} = ip;
  return {
    address,
    type: isIPv4(address) ? 'ipv4' : 'ipv6',
    ...rename(ip, {
      is_datacenter: 'is_datacenter_proxy',
      is_tor: 'is_tor_node',
      is_vpn: 'is_vpn',
      is_bogon: 'is_bogon',
    }),
    ...(asn_number !== undefined && {asn: `AS${asn_number}`, asn_number}),
  } as VerdictPart<'ip'>;
}

export function locationPart(ip: IpData): VerdictPart<'location'> {
  return rename(ip, {
    city: 'city',
    country: 'country',
    continent: 'continent',
    latitude: 'latitude',
    longitude: 'longitude',
  }) as VerdictPart<'location'>;
}

/** @param mail the address's assessment; undefined if the address is malformed */
export function mailPart(address: string, mail: MailAssessment | undefined): VerdictPart<'email'> {
  if (mail === undefined) return {address, valid: false, trust_score: 0, flags: ['malformed']};
  const {normalized, parsed, trust, domainType, flags} = mail;
  return {
    address,
    normalized: normalized.address,
    valid: true,
    trust_score: trust,
    domain_name: parsed.domain,
    domain_type: domainType,
    flags,
  };
}

export function phonePart(phone: PhoneData): VerdictPart<'phone'> {
  return rename(phone, {
    valid: 'is_valid',
    country_code: 'country_code',
    country_name: 'country_name',
    carrier: 'carrier',
    line_type: 'line_type',
  }) as VerdictPart<'phone'>;
}

/** The verdict's `session`. Its times are in UTC. */
export function sessionPart({started_at, finished_at}: UserSession): VerdictPart<'session'> {
  return {
    ...(started_at !== undefined && {started_at: new Date(started_at).toISOString()}),
    ...(finished_at !== undefined && {finished_at: new Date(finished_at).toISOString()}),
  };
}
