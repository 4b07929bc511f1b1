import type {IpData, PhoneData} from '../../operations/table.ts';
import type {RuleVocabulary} from '../../score/language/rule-vocabulary.ts';
import type {MailAssessment} from '../intelligence/email.ts';
import type {Device} from './device.ts';
import type {UserSession} from './user-session.ts';

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

type FactSource =
  | readonly ['bool', (evidence: Evidence) => boolean]
  | readonly ['string', (evidence: Evidence) => string]
  | readonly ['double', (evidence: Evidence) => number];

/**
 * Facts that a rule's condition can use, with their types in the Common Expression Language. An unknown fact is `false`,
 * empty, 0, or -1 for `duration` and `email_trust`.
 */
const facts = {
  bot_agent: ['bool', ({device}) => device.isBot],
  mobile: ['bool', ({device}) => device.shown.is_mobile ?? false],
  user_agent: ['string', ({session}) => session.user_agent ?? ''],
  browser: ['string', ({device}) => device.shown.browser ?? ''],
  os: ['string', ({device}) => device.shown.os ?? ''],
  languages: ['string', ({session}) => session.languages ?? ''],
  timezone: ['string', ({session}) => session.timezone ?? ''],
  fingerprint: ['string', ({session}) => session.fingerprint ?? ''],
  duration: ['double', ({session}) => durationOf(session)],
  datacenter: ['bool', ({ip}) => ip.is_datacenter_proxy ?? false],
  vpn: ['bool', ({ip}) => ip.is_vpn ?? false],
  tor: ['bool', ({ip}) => ip.is_tor_node ?? false],
  bogon: ['bool', ({ip}) => ip.is_bogon ?? false],
  asn: ['double', ({ip}) => ip.asn_number ?? 0],
  country: ['string', ({ip}) => ip.country ?? ''],
  email_type: ['string', ({mail}) => (mail === null ? 'invalid' : (mail?.domainType ?? ''))],
  email_trust: ['double', ({mail}) => (mail === null ? 0 : (mail?.trust ?? -1))],
  phone_valid: ['bool', ({phone}) => phone?.is_valid ?? false],
  phone_type: ['string', ({phone}) => phone?.line_type ?? ''],
  replayed: ['bool', ({replayed}) => replayed],
  linked_accounts: ['double', ({linkedAccounts}) => linkedAccounts],
} as const satisfies Readonly<Record<string, FactSource>>;

/** The type of each fact. */
export const factTypes: RuleVocabulary = Object.fromEntries(
  Object.entries(facts).map(([name, [kind]]) => [name, {kind}]),
);

/** A session's facts. */
export type UserFacts = {readonly [Name in keyof typeof facts]: ReturnType<(typeof facts)[Name][1]>};

export function makeUserFacts(evidence: Evidence): UserFacts {
  const values = Object.entries(facts).map(([name, [, factOf]]) => [name, factOf(evidence)]);
  return Object.fromEntries(values) as UserFacts;
}

/** Seconds from a session's start to its end; -1 if either time is unknown. */
function durationOf({started_at, finished_at}: UserSession): number {
  if (started_at === undefined || finished_at === undefined) return -1;
  return (Date.parse(finished_at) - Date.parse(started_at)) / 1000;
}
