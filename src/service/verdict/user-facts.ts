import type {IpData, PhoneData} from '../../operations/table.ts';
import type {MailAssessment} from '../intelligence/email.ts';
import type {Device} from './device.ts';
import type {UserSession} from './user-session.ts';

/** Facts that a rule's condition can use, with their types in the Common Expression Language. */
export const factTypes = {
  bot_agent: 'bool',
  mobile: 'bool',
  user_agent: 'string',
  browser: 'string',
  os: 'string',
  languages: 'string',
  timezone: 'string',
  fingerprint: 'string',
  duration: 'double',
  datacenter: 'bool',
  vpn: 'bool',
  tor: 'bool',
  bogon: 'bool',
  asn: 'int',
  country: 'string',
  email_type: 'string',
  email_trust: 'double',
  phone_valid: 'bool',
  phone_type: 'string',
  replayed: 'bool',
  linked_accounts: 'int',
} as const;

/** A session's facts. An unknown fact is `false`, empty, 0, or -1 for `duration` and `email_trust`. */
export type UserFacts = {
  [Name in keyof typeof factTypes]: {
    bool: boolean;
    string: string;
    double: number;
    int: bigint;
  }[(typeof factTypes)[Name]];
};

/** The findings about a session, from which {@link makeUserFacts} makes the facts. */
export interface Evidence {
  session: UserSession;
  device: Device;
  ip: IpData;
  /** Undefined if no e-mail address was sent, null if the address is invalid. */
  mail: MailAssessment | null | undefined;
  phone: PhoneData | undefined;
  replayed: boolean;
  linkedAccounts: number;
}

export function makeUserFacts(evidence: Evidence): UserFacts {
  const {session, device, ip, mail, phone, replayed, linkedAccounts} = evidence;
  return {
    bot_agent: device.isBot,
    mobile: device.shown.is_mobile ?? false,
    user_agent: session.user_agent ?? '',
    browser: device.shown.browser ?? '',
    os: device.shown.os ?? '',
    languages: session.languages ?? '',
    timezone: session.timezone ?? '',
    fingerprint: session.fingerprint ?? '',
    duration: durationOf(session),
    datacenter: ip.is_datacenter_proxy ?? false,
    vpn: ip.is_vpn ?? false,
    tor: ip.is_tor_node ?? false,
    bogon: ip.is_bogon ?? false,
    asn: BigInt(ip.asn_number ?? 0),
    country: ip.country ?? '',
    email_type: mail === null ? 'invalid' : (mail?.domainType ?? ''),
    email_trust: mail === null ? 0 : (mail?.trust ?? -1),
    phone_valid: phone?.is_valid ?? false,
    phone_type: phone?.line_type ?? '',
    replayed,
    linked_accounts: BigInt(linkedAccounts),
  };
}

/** Seconds from a session's start to its end; -1 if either time is unknown. */
function durationOf({started_at, finished_at}: UserSession): number {
  if (started_at === undefined || finished_at === undefined) return -1;
  return (Date.parse(finished_at) - Date.parse(started_at)) / 1000;
}
