import {isIPv4} from 'node:net';
import type {z} from 'zod';
import {type IpData, operations, type PhoneData, type VerifyData} from '../../operations/table.ts';
import {ALWAYS_PASS_ACTION_ID, NEVER_PASS_ACTION_ID} from '../../operations/verify.ts';
import type {OpenData} from '../data/open-data.ts';
import {ServiceError} from '../http/reply.ts';
import {type Body, checkBody, type ServiceCall} from '../http/request.ts';
import {assessMail, type MailAssessment, parseMailboxSpellings} from '../intelligence/email.ts';
import {sessionIpIntelligence} from '../intelligence/ip.ts';
import {phoneIntelligence} from '../intelligence/phone.ts';
import type {ReadyAccessRule} from './access-rules.ts';
import type {Accounts} from './accounts.ts';
import {describeDevice, makeUserFacts, type UserFacts} from './user-facts.ts';
import type {UserSession, UserSessions} from './user-session.ts';

type VerifyRequest = z.infer<typeof operations.verify.request>;

export interface VerdictContext {
  data: OpenData;
  sessions: UserSessions;
  accounts: Accounts;
  rules: () => readonly ReadyAccessRule[];
  /** Sample sessions by token. A call with a test action id gets one of them if its own token is unknown. */
  samples: ReadonlyMap<string, UserSession>;
}

/** A test action id: its fixed `can_pass`, and the sample session that replaces an unknown token's session. */
interface TestAction {
  canPass: boolean;
  sample: string;
}

const testActions: ReadonlyMap<string, TestAction> = new Map([
  [ALWAYS_PASS_ACTION_ID, {canPass: true, sample: 'sample-person-1'}],
  [NEVER_PASS_ACTION_ID, {canPass: false, sample: 'sample-script-1'}],
]);

/**
 * Checks a verify request, and returns its call. A call with a test action id takes any token and is free. Like any
 * other call, it redeems the token.
 *
 * @throws ServiceError `unknown_session` for an unknown token
 */
export function verifyCall(parts: VerdictContext, body: Body): ServiceCall {
  const request = checkBody(operations.verify.request, body);
  const test = testActions.get(request.action_id);
  const session = parts.sessions.find(request.token) ?? (test && parts.samples.get(test.sample));
  if (session === undefined) throw new ServiceError('unknown_session');
  return {
    free: test !== undefined,
    answer: () => ({success: true, ...verdict(parts, request, session, test)}),
  };
}

function verdict(
  parts: VerdictContext,
  request: VerifyRequest,
  session: UserSession,
  test: TestAction | undefined,
): VerifyData {
  const {data, sessions, rules} = parts;
  const {id, email, phone_number, token} = request;
  const redeemed = sessions.redeem(token);
  const mail = email === undefined ? undefined : (assessMail(data, email) ?? null);
  const phone = phone_number === undefined ? undefined : phoneIntelligence(data, phone_number);
  const linked = linkAccounts(parts, request, session, test);
  const linkedAccounts = linked?.accounts?.length ?? 0;
  const device = describeDevice(session);
  const ip = sessionIpIntelligence(data, session.ip);
  const facts = makeUserFacts({session, device, ip, mail, phone, replayed: redeemed, linkedAccounts});
  const {score, canPass, matched} = judgeSession(rules(), facts);
  return {
    user_id: id,
    score,
    verdict: {can_pass: test?.canPass ?? canPass, redeemed},
    device: device.shown,
    ip: ipPart(session.ip, ip),
    location: locationPart(ip),
    session: sessionPart(session),
    email: email === undefined ? undefined : mailPart(email, mail),
    phone: phone && phonePart(phone),
    rules: matched,
    multi_accounting: linked,
  };
}

/**
 * Finds accounts that share a trait with the request's account. Then adds the request's account to the known ones,
 * unless the action id is a test. Undefined if the request names no account.
 */
function linkAccounts(
  {accounts}: VerdictContext,
  {id, email}: VerifyRequest,
  session: UserSession,
  test: TestAction | undefined,
): VerifyData['multi_accounting'] {
  if (id === undefined) return undefined;
  const sighting = {
    userId: id,
    email: email === undefined ? undefined : parseMailboxSpellings(email),
    session,
  };
  const linked = accounts.linkedWith(sighting);
  if (test === undefined) accounts.note(sighting);
  return linked;
}

interface Judgement {
  /** 0 for a bot, 100 for a human. */
  score: number;
  canPass: boolean;
  /** Every rule that matched, shadow ones included. */
  matched: NonNullable<VerifyData['rules']>;
}

/** Minimum score that passes unless a rule decides: our own choice, the middle of the scale. */
const PASS_FROM = 50;

/**
 * The score is 100 less the weights of matching bot rules. A matching `allow` rule lets a session pass.
 * Without one, a matching `block` rule stops it. Without both, the score decides. Shadow rules are shown,
 * and change nothing.
 */
export function judgeSession(rules: readonly ReadyAccessRule[], facts: UserFacts): Judgement {
  const matched = rules.filter(rule => rule.matches(facts));
  const effective = matched.filter(({shadow}) => !shadow);
  const weights = effective.filter(({source}) => source === 'bot').map(({weight}) => weight);
  const score = Math.max(0, 100 - weights.reduce((sum, weight) => sum + weight, 0));
  const has = (action: string): boolean => effective.some(rule => rule.action === action);
  return {
    score,
    canPass: has('allow') || (!has('block') && score >= PASS_FROM),
    matched: matched.map(({action, name, id, source, shadow}) => ({action, name, id, source, shadow})),
  };
}

/** A part of a verdict. A field may be undefined: the JSON that the service sends then lacks the field. */
type VerdictPart<Name extends keyof VerifyData> = NonNullable<VerifyData[Name]>;

/** The verdict's `ip`. `type` is ipv4 or ipv6. `is_proxy` and `is_threat` are left out: no open data has them. */
function ipPart(address: string, ip: IpData): VerdictPart<'ip'> {
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

function locationPart({city, country, continent, latitude, longitude}: IpData): VerdictPart<'location'> {
  return {city, country, continent, latitude, longitude};
}

/** @param mail the address's assessment; missing if the address is malformed */
function mailPart(address: string, mail: MailAssessment | null | undefined): VerdictPart<'email'> {
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

function phonePart(phone: PhoneData): VerdictPart<'phone'> {
  const {is_valid: valid, country_code, country_name, carrier, line_type} = phone;
  return {valid, country_code, country_name, carrier, line_type};
}

/** The verdict's `session`. Its times are in UTC. */
function sessionPart({started_at, finished_at}: UserSession): VerdictPart<'session'> {
  const inUtc = (time: string | undefined) => (time === undefined ? undefined : new Date(time).toISOString());
  return {started_at: inUtc(started_at), finished_at: inUtc(finished_at)};
}
