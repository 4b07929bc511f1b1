import Bowser from 'bowser';
import {isbot} from 'isbot';
import {z} from 'zod';
import {readFileText} from '../../disk/path.ts';
import type {IpData, PhoneData, VerifyData} from '../../operations/table.ts';
import type {RuleVocabulary} from '../../score/language/rule-variables.ts';
import type {MailAssessment} from '../intelligence/email.ts';
import {checkWithSchema, ServiceSetupError} from '../options.ts';

const line = (max: number): z.ZodString => z.string().max(max);

/** A session: its token, and the data that the script of a protected page gathers about a visitor. */
export const userSessionSchema = z
  .strictObject({
    token: line(4096).min(1).describe('The session token that /verify gets.'),
    ip: z.union([z.ipv4(), z.ipv6()]).describe("The visitor's address."),
    user_agent: line(2048).optional().describe("The browser's User-Agent header."),
    languages: line(256).optional().describe('As in Accept-Language: `en-GB,en`.'),
    timezone: line(64).optional().describe('IANA name: `Europe/Berlin`.'),
    fingerprint: line(256).optional().describe("A hash of the device's traits."),
    started_at: z.iso.datetime({offset: true}).optional().describe('RFC 3339.'),
    finished_at: z.iso.datetime({offset: true}).optional().describe('RFC 3339.'),
    user_id: line(256).min(1).optional().describe('The account of the session, if known.'),
    email: line(320).min(1).optional().describe("That account's e-mail address."),
  })
  .describe('A session that /verify knows. In a file, one JSON object a line.');

export type UserSession = z.infer<typeof userSessionSchema>;

/**
 * Reads a file of sessions, one JSON object a line. `trim` removes a byte order mark.
 * @throws ServiceSetupError that names file, line and field, never a value
 */
export function readUserSessions(path: string): UserSession[] {
  const lines = readText(path).split('\n');
  return lines.flatMap((line, index) =>
    line.trim() === '' ? [] : parseUserSession(line.trim(), `${path}:${index + 1}`),
  );
}

function readText(path: string): string {
  try {
    return readFileText(path, true);
  } catch (error) {
    throw new ServiceSetupError(`The sessions file can't be read: ${(error as Error).message}`);
  }
}

function parseUserSession(text: string, place: string): UserSession {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ServiceSetupError(`${place} is not a JSON object`);
  }
  return checkWithSchema(userSessionSchema, value, place, 'the line');
}

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
