import {isIPv4} from 'node:net';
import {z} from 'zod';
import {memoize} from '../../operations/memoize.ts';
import {packageFile} from '../../operations/package-files.ts';
import {type IpData, operations, type PhoneData, type VerifyData} from '../../operations/table.ts';
import {ALWAYS_PASS_ACTION_ID, NEVER_PASS_ACTION_ID} from '../../operations/verify.ts';
import type {OpenData} from '../data/open-data.ts';
import {ServiceError} from '../http/reply.ts';
import {type Body, checkBody, type ServiceCall} from '../http/request.ts';
import {assessMail, type MailAssessment} from '../intelligence/email.ts';
import {sessionIpIntelligence} from '../intelligence/ip.ts';
import {phoneIntelligence} from '../intelligence/phone.ts';
import type {ServiceOptions} from '../options.ts';
import {judgeSession, loadAccessRules} from './access-rules.ts';
import {Accounts} from './accounts.ts';
import {
  describeDevice,
  makeUserFacts,
  readUserSessions,
  type UserSession,
  userSessionSchema,
} from './user-session.ts';

/** A test action id: its fixed `can_pass`, and the sample session that replaces an unknown token's session. */
interface TestAction {
  canPass: boolean;
  sample: string;
}

const testActions: ReadonlyMap<string, TestAction> = new Map([
  [ALWAYS_PASS_ACTION_ID, {canPass: true, sample: 'sample-person-1'}],
  [NEVER_PASS_ACTION_ID, {canPass: false, sample: 'sample-script-1'}],
]);

const SAMPLES = packageFile('samples/sessions.ndjson');

const sessionsRequest = z.object({sessions: z.array(userSessionSchema)});

/** The verdicts of one service, with its sessions, redeemed tokens and accounts. */
export class Verdicts {
  readonly #data: OpenData;
  readonly #rules;
  /** By token. */
  readonly #sessions = new Map<string, UserSession>();
  /** The tokens that `/verify` has checked before. A new session with such a token does not change that. */
  readonly #redeemed = new Set<string>();
  readonly #accounts = new Accounts();
  readonly #samples = memoize(() => readUserSessions(SAMPLES));

  /** @throws ServiceSetupError if a file is invalid */
  constructor(data: OpenData, {rulesFile, sessionsFile}: ServiceOptions) {
    this.#data = data;
    // Most lists have no session tokens, and ask for no verdict. A file of the user's is checked at the start.
    this.#rules = memoize(() => loadAccessRules(rulesFile));
    if (rulesFile !== undefined) this.#rules();
    if (sessionsFile !== undefined) this.#add(readUserSessions(sessionsFile));
  }

  /**
   * Adds the sessions of `POST /_sessions`, and returns their number. One replaces an earlier one with the same
   * token.
   * @throws ServiceError `missing_field` or `invalid_field`
   */
  addSessions(body: Body): number {
    const {sessions} = checkBody(sessionsRequest, body);
    this.#add(sessions);
    return sessions.length;
  }

  /**
   * A call with a test action id takes any token and is free. Like any other call, it redeems the token.
   * @throws ServiceError `unknown_session` for an unknown token
   */
  call(body: Body): ServiceCall {
    const request = checkBody(operations.verify.request, body);
    const test = testActions.get(request.action_id);
    const session =
      this.#sessions.get(request.token) ?? (test && this.#samples().find(({token}) => token === test.sample));
    if (session === undefined) throw new ServiceError('unknown_session');
    return {
      free: test !== undefined,
      answer: () => ({success: true, ...this.#verdict(request, session, test)}),
    };
  }

  /** A session that names its user also counts as a sighting of the user's account. */
  #add(sessions: readonly UserSession[]): void {
    for (const session of sessions) {
      this.#sessions.set(session.token, session);
      const {user_id: userId, email} = session;
      if (userId !== undefined) this.#accounts.note({userId, session, email});
    }
  }

  #verdict(
    {id, email, phone_number, token}: z.infer<typeof operations.verify.request>,
    session: UserSession,
    test: TestAction | undefined,
  ): VerifyData {
    const redeemed = this.#redeemed.has(token);
    this.#redeemed.add(token);
    const mail = email === undefined ? undefined : (assessMail(this.#data, email) ?? null);
    const phone = phone_number === undefined ? undefined : phoneIntelligence(this.#data, phone_number);
    const sighting = id === undefined ? undefined : {userId: id, session, email};
    const linked = sighting && this.#accounts.linkedWith(sighting);
    if (sighting && test === undefined) this.#accounts.note(sighting);
    const linkedAccounts = linked?.accounts?.length ?? 0;
    const device = describeDevice(session);
    const ip = sessionIpIntelligence(this.#data, session.ip);
    const facts = makeUserFacts({session, device, ip, mail, phone, replayed: redeemed, linkedAccounts});
    const {score, canPass, matched} = judgeSession(this.#rules(), facts);
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
}

/** A field may be undefined: the JSON that the service sends then lacks it. */
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

/** The times are in UTC. */
function sessionPart({started_at, finished_at}: UserSession): VerdictPart<'session'> {
  const inUtc = (time: string | undefined) => (time === undefined ? undefined : new Date(time).toISOString());
  return {started_at: inUtc(started_at), finished_at: inUtc(finished_at)};
}
