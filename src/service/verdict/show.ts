import {isIPv4} from 'node:net';
import type {IpData, PhoneData, VerifyData} from '../../operations/table.ts';
import type {MailAssessment} from '../intelligence/email.ts';
import type {UserSession} from './user-session.ts';

/** A part of a verdict. A field may be undefined: the JSON that the service sends then lacks the field. */
type VerdictPart<Name extends keyof VerifyData> = NonNullable<VerifyData[Name]>;

/** The verdict's `ip`. `type` is ipv4 or ipv6. `is_proxy` and `is_threat` are left out: no open data has them. */
export function ipPart(address: string, ip: IpData): VerdictPart<'ip'> {
  const {asn_number} = ip;
  return {
    address,
    type: isIPv4(address) ? 'ipv4' : 'ipv6',
    is_datacenter: ip.is_datacenter_proxy,
    is_tor: ip.is_tor_node,
    is_vpn: ip.is_vpn,
    is_bogon: ip.is_bogon,
    asn: asn_number === undefined ? undefined : `AS${asn_number}`,
    asn_number,
  };
}

export function locationPart({
  city,
  country,
  continent,
  latitude,
  longitude,
}: IpData): VerdictPart<'location'> {
  return {city, country, continent, latitude, longitude};
}

/** @param mail the address's assessment; missing if the address is malformed */
export function mailPart(address: string, mail: MailAssessment | null | undefined): VerdictPart<'email'> {
  if (!mail) return {address, valid: false, trust_score: 0, flags: ['malformed']};
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
  const {is_valid: valid, country_code, country_name, carrier, line_type} = phone;
  return {valid, country_code, country_name, carrier, line_type};
}

/** The verdict's `session`. Its times are in UTC. */
export function sessionPart({started_at, finished_at}: UserSession): VerdictPart<'session'> {
  const inUtc = (time: string | undefined) => (time === undefined ? undefined : new Date(time).toISOString());
  return {started_at: inUtc(started_at), finished_at: inUtc(finished_at)};
}
