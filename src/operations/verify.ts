import {z} from 'zod';
import texts from '../codes.json' with {type: 'json'};
import {
  type CanonicalCell,
  type CellRules,
  emptyCell,
  judgeCell,
  makeInvalidCell,
  validCell,
} from './cell.ts';
import {canonicalEmail} from './email.ts';
import {
  type AnswerObject,
  answerSchema,
  apiKey,
  flag,
  locationFields,
  type OperationSpec,
  recordOf,
  text,
} from './operation.ts';
import {phoneHabits} from './phone/bare-digits.ts';
import {canonicalPhone} from './phone.ts';

const dateTime = z.iso.datetime({offset: true});

/** Values of `action_id` for local development. Calls with them are free, and always or never pass. */
export const ALWAYS_PASS_ACTION_ID = 't/FFFFFFFFFFFFF/111111111';
export const NEVER_PASS_ACTION_ID = 't/FFFFFFFFFFFFF/000000000';

const codes = {...texts.any, ...texts.verify};

const request = z.object({
  api_key: apiKey,
  action_id: z.string().min(1).describe("The client's action identifier."),
  token: z.string().min(1).describe('The user session token from the protected endpoint.'),
  id: z.string().optional().describe('User identifier for multi-accounting detection. Highly recommended.'),
  email: z.string().optional().describe('User e-mail address.'),
  phone_number: z.string().optional().describe('User phone number in E.164 format.'),
});

/** The fields of the answer. A response has them beside `success`; the other operations have them in `data`. */
const data = answerSchema({
  user_id: text.describe('The user identifier that was sent.'),
  score: z.number().describe('Score from 0 (bot) to 100 (human).'),
  verdict: answerSchema({
    can_pass: flag.describe('True if the request should be allowed.'),
    redeemed: flag.describe('True if the token was verified before this call.'),
  }),
  device: answerSchema({
    fingerprint: text.describe('Fingerprint that identifies the device.'),
    user_agent: text.describe("The browser's user agent."),
    browser: text.describe('The browser.'),
    languages: text.describe("The browser's languages."),
    timezone: text.describe("The device's time zone."),
    os: text.describe("The device's operating system."),
    is_mobile: flag.describe('True if the device is mobile.'),
  }),
  ip: answerSchema({
    address: text.describe("The visitor's address."),
    type: text.describe('Kind of address, such as ipv4.'),
    is_datacenter: flag.describe('True if it is in a datacenter.'),
    is_proxy: flag.describe('True if it is a proxy.'),
    is_tor: flag.describe('True if it is a node of the Tor network.'),
    is_vpn: flag.describe('True if the address belongs to a VPN.'),
    is_threat: flag.describe('True if the service calls it a threat.'),
    is_bogon: flag.describe('True if its range is not public (private, reserved, documentation).'),
    asn: text.describe('The network (autonomous system, AS) that announces it.'),
    asn_number: z.int().describe('Number of that network.'),
  }),
  location: answerSchema(locationFields),
  email: answerSchema({
    address: text.describe('The e-mail address that was sent.'),
    normalized: text.describe("The mailbox's main address, without tags and the like."),
    valid: flag.describe('True if mail can be sent to the address.'),
    trust_score: z.number().describe('Trust score of the service; range not shown.'),
    domain_name: text.describe('The part after the @.'),
    domain_type: text.describe('Kind of domain.'),
    flags: z.array(text).describe('Oddities, as codes.'),
  }),
  phone: answerSchema({
    valid: flag.describe('True if the phone number that was sent can be assigned to a line.'),
    country_code: text.describe('Country calling code.'),
    country_name: text.describe('Name of the country.'),
    carrier: text.describe('Carrier.'),
    line_type: text.describe('Kind of line, such as landline.'),
  }),
  session: answerSchema({
    started_at: dateTime.describe('Time at which the session began.'),
    finished_at: dateTime.describe('Time at which the session ended.'),
  }),
  rules: z
    .array(
      answerSchema({
        action: text.describe('Action of the rule, such as block.'),
        name: text.describe('The rule in words.'),
        id: text.describe('The identifier of the rule.'),
        source: text.describe('Kind of rule, such as bot or access.'),
        shadow: flag.describe('True if the match has no effect on the verdict.'),
      }),
    )
    .describe('Bot and access rules that matched.'),
  multi_accounting: answerSchema({
    detected: flag.describe('True if one person seems to have several accounts.'),
    risk: text.describe('Level of that risk.'),
    score: z.number().describe('That risk as a number.'),
    accounts: z
      .array(
        answerSchema({
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

/** Reads a user's identifier, which the customer has chosen. Only removes the blanks around it. */
function canonicalId(raw: string): CanonicalCell {
  const text = raw.trim();
  if (/\p{Cc}/u.test(text)) return makeInvalidCell('unreadable_characters');
  return text === '' ? emptyCell : validCell(text);
}

/** Optional inputs beside a token: `param` is the request's field, and `canonical` reads the value. */
export const verifyInputs = {
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
  response: data.extend({success: z.literal(true)}),
  singular: 'session token',
  plural: 'session tokens',
  title: 'Bot verdicts',
  label: 'verdicts',
  setting: 'verdict',
  about:
    'Column of session tokens, for bot verdicts. In full: token=COL,action=ID[,id=COL][,email=COL][,phone=COL]. Without action=, BULK_ENRICH_ACTION_ID names the action.',
  prefix: 'verdict_',
  storedFor: '30d',
  cost: 1,
  codes,
  personFaults: ['token_malformed'],
  canonical: canonicalToken,
  field: 'token',
  dataOf: ({success: _, ...verdict}) => verdict,
  /** The token and all inputs sent with it, since each of them may change the answer. */
  keyText: ({action_id, token, id, email, phone_number}) =>
    JSON.stringify([action_id, token, id, email, phone_number]),
  isFree: isTest,
  isRedeeming: true,
  isReplay: ({verdict}) => (verdict as AnswerObject | undefined)?.redeemed === true,
  beside: verifyInputs,
  core: ['verdict', 'score'],
  echoes: [
    {path: ['user_id'], param: 'id', as: 'text'},
    {path: ['email', 'address'], param: 'email', as: 'address'},
    {path: ['email', 'normalized'], param: 'email', as: 'address'},
    {path: ['email', 'domain_name'], param: 'email', as: 'domain'},
  ],
  top: [
    ['countries', ['location', 'country']],
    ['domains', ['email', 'domain_name']],
  ],
  rules: [
    {when: '!verify.verdict.can_pass', add: 60, reason: 'verdict_blocked'},
    {when: 'verify.score < 30', add: 30, reason: 'bot_score'},
    {when: 'verify.verdict.redeemed && status.verify == "ok"', add: 30, reason: 'token_replayed'},
    {when: 'verify.multi_accounting.detected', add: 25, reason: 'many_accounts'},
    {when: 'error.verify == "token_malformed"', add: 30, reason: 'token_invalid'},
  ],
} as const satisfies OperationSpec & {readonly beside: typeof verifyInputs};

function isTest({action_id}: Readonly<Record<string, string>>): boolean {
  return action_id === ALWAYS_PASS_ACTION_ID || action_id === NEVER_PASS_ACTION_ID;
}

/** A session token without the blanks around it. A text with a blank inside is not a session token. */
export function canonicalToken(
  raw: string,
  _country?: string,
  rules?: CellRules,
): CanonicalCell<keyof typeof codes> {
  return judgeCell(raw, rules, text =>
    /\s/.test(text) ? makeInvalidCell('token_malformed') : validCell(text),
  );
}

export type VerifyInput = keyof typeof verifyInputs;
export const verifyInputNames = Object.keys(verifyInputs) as readonly VerifyInput[];

export const perVerifyInput = <T>(make: (beside: (typeof verifyInputs)[VerifyInput]) => T) =>
  recordOf(verifyInputNames, name => make(verifyInputs[name]));
