import type {z} from 'zod';
import {operations, type PhoneData, type VerifyData} from '../../operations/table.ts';
import {TEST_ACTION_ALWAYS_PASS, TEST_ACTION_NEVER_PASS} from '../../operations/verify.ts';
import type {OpenData} from '../data/open-data.ts';
import {ServiceError} from '../http/error-body.ts';
import {type Body, type Call, checkBody} from '../http/request.ts';
import {assessMail, type MailAssessment, mailboxOf} from '../intelligence/email.ts';
import {sessionIp} from '../intelligence/ip.ts';
import {phoneIntelligence} from '../intelligence/phone.ts';
import type {StateEvent} from '../saved-state.ts';
import type {ReadyRule} from './access-rules.ts';
import type {Accounts, Sighting} from './accounts.ts';
import {describeDevice} from './device.ts';
import {type Judgement, judge} from './judge.ts';
import {factsOf} from './session-facts.ts';
import {ipPart, locationPart, mailPart, phonePart, sessionPart} from './show.ts';
import type {UserSession, UserSessions} from './user-session.ts';

type VerifyRequest = z.infer<typeof operations.verify.request>;

/** What verdicts are made from. */
export interface VerdictParts {
  data: OpenData;
  sessions: UserSessions;
  accounts: Accounts;
  rules: readonly ReadyRule[];
  keep(event: StateEvent): void;
}

/** What a test action id makes of `can_pass`, whatever the session. */
const testActions = new Map([
  [TEST_ACTION_ALWAYS_PASS, true],
  [TEST_ACTION_NEVER_PASS, false],
]);

/**
 * Checks a verify request and makes a call of it. A test action id takes any token and costs nothing.
 * @throws ServiceError `unknown_session` for a token of no session
 */
export function verifyCall(parts: VerdictParts, body: Body): Call {
  const request = checkBody(operations.verify.request, body);
  const session = parts.sessions.find(request.token);
  const forced = testActions.get(request.action_id);
  if (session === undefined && forced === undefined) throw new ServiceError('unknown_session');
  return {
    free: forced !== undefined,
    answer: () => ({success: true, ...verdict(parts, request, session, forced)}),
  };
}

function verdict(
  parts: VerdictParts,
  request: VerifyRequest,
  session: UserSession | undefined,
  forced: boolean | undefined,
): VerifyData {
  const {data} = parts;
  const redeemed = parts.sessions.redeem(request.token, digest => parts.keep({redeemed: digest}));
  const mail = request.email === undefined ? undefined : (assessMail(data, request.email) ?? null);
  const phone =
    request.phone_number === undefined ? undefined : phoneIntelligence(data, request.phone_number);
  const linked = linkAccounts(parts, request, session);
  const linkedAccounts = linked?.accounts?.length ?? 0;
  const seen = session && look(parts, session, {mail, phone, replayed: redeemed, linkedAccounts});
  return {
    ...(request.id !== undefined && {user_id: request.id}),
    score: seen?.score ?? (forced ? 100 : 0),
    verdict: {can_pass: forced ?? seen?.canPass ?? false, redeemed},
    ...seen?.shown,
    ...(request.email !== undefined && {email: mailPart(request.email, mail ?? undefined)}),
    ...(phone !== undefined && {phone: phonePart(phone)}),
    ...(seen && {rules: seen.matched}),
    ...(linked && {multi_accounting: linked}),
  };
}

/** Looks the account's companions up, then takes note of it. */
function linkAccounts(
  {accounts, keep}: VerdictParts,
  {id, email, token}: VerifyRequest,
  session: UserSession | undefined,
): VerifyData['multi_accounting'] {
  if (id === undefined) return undefined;
  const mailbox = email === undefined ? undefined : mailboxOf(email);
  const known = {userId: id, ...(mailbox && {email: mailbox})};
  const sighting: Sighting = {...known, session};
  const linked = accounts.linkedWith(sighting);
  keep({sighting: {...known, ...(session && {token})}});
  accounts.note(sighting);
  return linked;
}

interface Circumstances {
  mail: MailAssessment | null | undefined;
  phone: PhoneData | undefined;
  replayed: boolean;
  linkedAccounts: number;
}

/** What a session shows by itself, and what the rules say of it. */
function look(
  {data, rules}: VerdictParts,
  session: UserSession,
  circumstances: Circumstances,
): Judgement & {shown: VerifyData} {
  const device = describeDevice(session);
  const ip = sessionIp(data, session.ip);
  const judgement = judge(rules, factsOf({session, device, ip, ...circumstances}));
  const shown = {
    device: device.shown,
    ip: ipPart(session.ip, ip),
    location: locationPart(ip),
    session: sessionPart(session),
  };
  return {...judgement, shown};
}
