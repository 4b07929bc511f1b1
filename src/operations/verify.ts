import {z} from 'zod';
import {anyCellCodes, type Canonical, empty, invalid, judgeCell, valid} from './canonical.ts';
import type {CellRules} from './cell.ts';
import {canonicalEmail} from './email.ts';
import {type AnswerFields, apiKey, fields, flag, type OperationSpec, place, text} from './operation.ts';
import {canonicalPhone, phoneHabits} from './phone.ts';

const dateTime = z.iso.datetime({offset: true});

/** `action_id`s for local development: they cost no credits and always pass or never pass. */
export const TEST_ACTION_ALWAYS_PASS = 't/FFFFFFFFFFFFF/111111111';
export const TEST_ACTION_NEVER_PASS = 't/FFFFFFFFFFFFF/000000000';

const codes = {
  ...anyCellCodes,
  token_malformed: 'A blank inside: the column holds something else.',
} as const;

const request = z.object({
  api_key: apiKey,
  action_id: z.string().min(1).describe("The client's action identifier."),
  token: z.string().min(1).describe('The user session token from the protected endpoint.'),
  id: z.string().optional().describe('User identifier for multi-accounting detection.'),
  email: z.string().optional().describe('User e-mail address.'),
  phone_number: z.string().optional().describe('User phone number in E.164 format.'),
});

/** A verdict without its `success` flag, which is what the other operations call `data`. */
const data = fields({
  user_id: text.describe('The user identifier that was sent.'),
  score: z.number().describe('From 0, a bot, to 100, a human.'),
  verdict: fields({
    can_pass: flag.describe('Whether the request should be allowed.'),
    redeemed: flag.describe('Whether the token had been verified before this call.'),
  }),
  device: fields({
    fingerprint: text.describe('What the device is recognised by.'),
    user_agent: text.describe("The browser's user agent."),
    browser: text.describe('The browser.'),
    languages: text.describe("The browser's languages."),
    timezone: text.describe("The device's time zone."),
    os: text.describe("The device's operating system."),
    is_mobile: flag.describe('Whether the device is a mobile one.'),
  }),
  ip: fields({
    address: text.describe("The visitor's address."),
    type: text.describe('What kind of address it is.'),
    is_datacenter: flag.describe('Whether it is in a datacenter.'),
    is_proxy: flag.describe('Whether it is a proxy.'),
    is_tor: flag.describe('Whether it is a node of the Tor network.'),
    is_vpn: flag.describe('Whether it belongs to a VPN.'),
    is_threat: flag.describe('Whether the service knows it as a threat.'),
    is_bogon: flag.describe('Whether it is of a range that nobody may announce to the Internet.'),
    asn: text.describe('The autonomous system that announces it.'),
    asn_number: z.int().describe("That autonomous system's number."),
  }),
  location: fields(place),
  email: fields({
    address: text.describe('The e-mail address that was sent.'),
    normalized: text.describe('The address without its aliasing.'),
    valid: flag.describe('Whether it is an address that mail can be sent to.'),
    trust_score: z.number().describe('How far the service trusts it.'),
    domain_name: text.describe('What stands behind its @.'),
    domain_type: text.describe('What kind of domain that is.'),
    flags: z.array(text).describe('What is odd about it.'),
  }),
  phone: fields({
    valid: flag.describe('Whether the phone number that was sent can be assigned.'),
    country_code: text.describe('Its country calling code.'),
    country_name: text.describe("Its country's name."),
    carrier: text.describe('Who carries it.'),
    line_type: text.describe('What kind of line it is on.'),
  }),
  session: fields({
    started_at: dateTime.describe('When the session began.'),
    finished_at: dateTime.describe('When the session ended.'),
  }),
  rules: z
    .array(
      fields({
        action: text.describe('Action of the rule, such as block.'),
        name: text.describe('The rule in words.'),
        id: text.describe('The identifier of the rule.'),
        source: text.describe('Kind of rule, such as bot or access.'),
        shadow: flag.describe('True if the match has no effect on the verdict.'),
      }),
    )
    .describe('Bot and access rules that matched.'),
  multi_accounting: fields({
    detected: flag.describe('Whether one person seems to have several accounts.'),
    risk: text.describe('How grave that is.'),
    score: z.number().describe('The same as a number.'),
    accounts: z
      .array(
        fields({
          user_id: text.describe('The other user identifier.'),
          email: text.describe('Its e-mail address.'),
          signals: z.array(text).describe('Traits that the accounts share.'),
          confidence: z.number().describe('Confidence that one person has the accounts.'),
          session_count: z.int().describe('Number of sessions it was seen in.'),
          last_activity: dateTime.describe('Time at which it was last seen.'),
        }),
      )
      .describe('The accounts that seem to belong together.'),
  }),
});

/** An identifier is the customer's own: nothing is taken off it but the blanks around it. */
function canonicalId(raw: string): Canonical {
  const text = raw.trim();
  if (/\p{Cc}/u.test(text)) return invalid('unreadable_characters');
  return text === '' ? empty : valid(text);
}

/** Optional inputs beside a token, by name: the request's field, and its reader. */
export const besideToken = {
  id: {name: 'id', param: 'id', canonical: canonicalId, habits: undefined},
  email: {name: 'email', param: 'email', canonical: canonicalEmail, habits: undefined},
  phone: {name: 'phone', param: 'phone_number', canonical: canonicalPhone, habits: phoneHabits},
} as const;

export const verify = {
  name: 'verify',
  path: '/verify',
  summary: 'Fetch the bot verdict for a user session token.',
  request,
  data,
  /** The verdict's fields stand beside `success`. */
  response: data.extend({success: z.literal(true)}),
  singular: 'session token',
  plural: 'session tokens',
  title: 'Bot verdicts',
  label: 'verdicts',
  setting: 'verdict',
  about:
    'Column of user session tokens, for bot verdicts; token=COL,action=ID,id=COL,email=COL,phone=COL says what is sent along.',
  prefix: 'verdict_',
  storedFor: 'never',
  cost: 1,
  codes,
  personFaults: ['token_malformed'],
  canonical: canonicalToken,
  field: 'token',
  dataOf: ({success: _, ...verdict}) => verdict,
  isTokenItself: true,
  /** All that is sent with the token, since any of it may change the answer. */
  identity: ({action_id, token, id, email, phone_number}) =>
    JSON.stringify([action_id, token, id, email, phone_number]),
  isFree: isTest,
  /** A token that was verified is redeemed from then on, but not by a test. The interface states no other change. */
  again: (first, params) =>
    isTest(params)
      ? first
      : {...first, verdict: {...(first.verdict as AnswerFields | undefined), redeemed: true}},
  isReplay: ({verdict}) => (verdict as AnswerFields | undefined)?.redeemed === true,
  beside: besideToken,
  top: [
    ['countries', ['location', 'country']],
    ['domains', ['email', 'domain_name']],
  ],
  rules: [
    {when: '!verify.verdict.can_pass', add: 60, reason: 'verdict_blocked'},
    {when: 'verify.score < 30', add: 30, reason: 'bot_score'},
    {when: 'verify.verdict.redeemed', add: 30, reason: 'token_replayed'},
    {when: 'verify.multi_accounting.detected', add: 25, reason: 'many_accounts'},
    {when: 'error.verify == "token_malformed"', add: 30, reason: 'token_invalid'},
  ],
} as const satisfies OperationSpec & {readonly beside: typeof besideToken};

function isTest({action_id}: Readonly<Record<string, string>>): boolean {
  return action_id === TEST_ACTION_ALWAYS_PASS || action_id === TEST_ACTION_NEVER_PASS;
}

/** A session token as it came, blanks trimmed; a blank inside means that the column holds something else. */
export function canonicalToken(
  raw: string,
  _country?: string,
  rules?: CellRules,
): Canonical<keyof typeof codes> {
  return judgeCell(raw, rules, (text, repairs) =>
    /\s/.test(text) ? invalid('token_malformed') : valid(text, repairs),
  );
}

export type Beside = keyof typeof besideToken;
export const besideNames = Object.keys(besideToken) as readonly Beside[];

/** One of something for each of them. */
export function perBeside<T>(make: (beside: (typeof besideToken)[Beside]) => T): Record<Beside, T> {
  return Object.fromEntries(besideNames.map(name => [name, make(besideToken[name])])) as Record<Beside, T>;
}
