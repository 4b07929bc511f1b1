import type {ScoreRules} from '../job/values.ts';

type Rule = ScoreRules['rules'][number];

/**
 * The rules that apply where a job brings none; `docs/scoring.md` gives the reason for each weight. They read flags
 * and statuses, and of the numbers only the verdict's score: the ranges of the others are not in the interface.
 */
export const defaultRules: readonly Rule[] = [
  {when: 'ip.is_threat', add: 45, reason: 'ip_threat'},
  {when: 'ip.is_tor_node', add: 45, reason: 'tor'},
  {when: 'ip.is_bogon', add: 40, reason: 'ip_bogon'},
  {when: 'ip.is_residential_proxy', add: 30, reason: 'residential_proxy'},
  {when: 'ip.is_datacenter_proxy', add: 20, reason: 'datacenter'},
  {when: 'ip.is_vpn', add: 15, reason: 'vpn'},
  {when: 'status.ip == "invalid"', add: 20, reason: 'ip_invalid'},

  {when: 'phone.is_threat', add: 45, reason: 'phone_threat'},
  {when: 'phone.is_disposable', add: 45, reason: 'phone_disposable'},
  {when: '!phone.is_valid', add: 30, reason: 'phone_not_valid'},
  {when: 'phone.is_spam', add: 30, reason: 'phone_spam'},
  {when: 'phone.is_virtual', add: 15, reason: 'phone_virtual'},
  {when: 'status.phone == "invalid"', add: 20, reason: 'phone_invalid'},

  {when: '!email.is_valid', add: 40, reason: 'email_not_valid'},
  {when: '!email.is_trusted', add: 25, reason: 'email_not_trusted'},
  {when: 'email.has_aliasing', add: 5, reason: 'email_alias'},
  {when: 'status.email == "invalid"', add: 40, reason: 'email_invalid'},

  {when: '!verify.verdict.can_pass', add: 60, reason: 'verdict_blocked'},
  {when: 'verify.score < 30', add: 30, reason: 'bot_score'},
  {when: 'verify.verdict.redeemed', add: 30, reason: 'token_replayed'},
  {when: 'verify.multi_accounting.detected', add: 25, reason: 'many_accounts'},
  {when: 'status.verify == "invalid"', add: 30, reason: 'token_invalid'},
];

/** From which score on a row is a medium or a high risk. */
export const defaultLevels: ScoreRules['levels'] = {medium: 30, high: 60};
