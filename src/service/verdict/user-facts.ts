import Bowser from 'bowser';
import {isbot} from 'isbot';
import type {IpData, PhoneData, VerifyData} from '../../operations/table.ts';
import type {RuleVocabulary} from '../../score/language/rule-variables.ts';
import type {MailAssessment} from '../intelligence/email.ts';
import type {UserSession} from './user-session.ts';

export interface Device {
  shown: NonNullable<VerifyData['device']>;
  /** True if the user agent names a program (an app's HTTP client included) or is missing. */
  isBot: boolean;
}

/** Matches user agents of browsers. They name their engine, except those of old Operas and feature phones. */
const browserAgent = /^(?:Mozilla\/.*(?:WebKit|Gecko|Trident|MSIE)|(?:Opera|UCWEB)\/)|MIDP/;

/**
 * Matches a system version that a browser froze to hide the real one. Windows 11 says NT 10.0. macOS since
 * Big Sur says 10.15 (10_15_7 except in Firefox). Chrome on Android says "10; K". iOS 26 says 18_6 or 18_7,
 * and so does Firefox on any iOS (mozilla-mobile/firefox-ios, pull request 29548). From Safari 18 and Chrome,
 * 18_6 and 18_7 are the real version, so they do not match.
 */
const frozenVersion =
  /Windows NT 10\.0|Mac OS X 10(?:_15_7|\.15)[;)]|Android 10; K\)|CPU (?:iPhone )?OS 18_[67](?!.*(?:Version\/18|CriOS))/;

/** A bot's device has no browser and no system: its user agent may name a browser that it only pretends to be. */
export function describeDevice(session: UserSession): Device {
  const {fingerprint, user_agent, languages, timezone} = session;
  const isBot = !user_agent || isbot(user_agent) || !browserAgent.test(user_agent);
  return {
    shown: {fingerprint, user_agent, ...(isBot ? {} : browserOf(user_agent)), languages, timezone},
    isBot,
  };
}

/** Phones and tablets are mobile. bowser names no platform for Chrome OS, which counts as a desktop system. */
function browserOf(userAgent: string): NonNullable<VerifyData['device']> {
  const {browser, os, platform} = Bowser.parse(userAgent);
  const version = browser.version?.split('.')[0] ?? '';
  const systemVersion = frozenVersion.test(userAgent) ? undefined : (os.versionName ?? os.version);
  const system = [os.name, systemVersion].filter(Boolean).join(' ');
  const type = platform.type ?? (os.name === 'Chrome OS' ? 'desktop' : undefined);
  return {
    ...(browser.name && {browser: [browser.name, version].filter(Boolean).join(' ')}),
    ...(system && {os: system}),
    ...(type && {is_mobile: type === 'mobile' || type === 'tablet'}),
  };
}

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
 * Facts that a rule's condition can use, with their types in the Common Expression Language. An unknown fact is
 * `false`, empty, 0, or -1 for `duration` and `email_trust`.
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

export const factTypes: RuleVocabulary = Object.fromEntries(
  Object.entries(facts).map(([name, [kind]]) => [name, {kind}]),
);

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
