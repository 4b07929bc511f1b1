import type {z} from 'zod';
import {operations, type VerifyData} from '../../operations/table.ts';
import {TEST_ACTION_ALWAYS_PASS, TEST_ACTION_NEVER_PASS} from '../../operations/verify.ts';
import type {OpenData} from '../data/open-data.ts';
import {ServiceError} from '../http/error-body.ts';
import {type Body, checkBody, type ServiceCall} from '../http/request.ts';
import {assessMail, mailboxOf} from '../intelligence/email.ts';
import {sessionIp} from '../intelligence/ip.ts';
import {phoneIntelligence} from '../intelligence/phone.ts';
import type {ReadyAccessRule} from './access-rules.ts';
import type {Accounts} from './accounts.ts';
import {describeDevice} from './device.ts';
import {judge} from './judge.ts';
import {ipPart, locationPart, mailPart, phonePart, sessionPart} from './show.ts';
import {factsOf} from './user-facts.ts';
import type {UserSession, UserSessions} from './user-session.ts';

type VerifyRequest = z.infer<typeof operations.verify.request>;

export interface VerdictParts {
  data: OpenData;
  sessions: UserSessions;
  accounts: Accounts;
  rules: readonly ReadyAccessRule[];
  /** Sample sessions by token. A call with a test action id gets one of them if its own token is unknown. */
  samples: ReadonlyMap<string, UserSession>;
}

/** A test action id: its fixed `can_pass`, and the sample session that replaces an unknown token's session. */
interface TestAction {
  canPass: boolean;
  sample: string;
}

const testActions: ReadonlyMap<string, TestAction> = new Map([
  [TEST_ACTION_ALWAYS_PASS, {canPass: true, sample: 'sample-person-1'}],
  [TEST_ACTION_NEVER_PASS, {canPass: false, sample: 'sample-script-1'}],
]);

/**
 * Checks a verify request, and returns its call. A call with a test action id takes any token and is free. Like any
 * other call, it redeems the token.
 *
 * @throws ServiceError `unknown_session` for an unknown token
 */
export function verifyCall(parts: VerdictParts, body: Body): ServiceCall {
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
  parts: VerdictParts,
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
  const ip = sessionIp(data, session.ip);
  const facts = factsOf({session, device, ip, mail, phone, replayed: redeemed, linkedAccounts});
  const {score, canPass, matched} = judge(rules, facts);
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
  {accounts}: VerdictParts,
  {id, email}: VerifyRequest,
  session: UserSession,
  test: TestAction | undefined,
): VerifyData['multi_accounting'] {
  if (id === undefined) return undefined;
  const sighting = {userId: id, email: email === undefined ? undefined : mailboxOf(email), session};
  const linked = accounts.linkedWith(sighting);
  if (test === undefined) accounts.note(sighting);
  return linked;
}
