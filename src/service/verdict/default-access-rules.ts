import type {Rule} from './access-rule.ts';

/** What a rule leaves out is its schema's default. */
type WrittenRule = Omit<Rule, 'weight' | 'shadow'> & Partial<Pick<Rule, 'weight' | 'shadow'>>;

/**
 * The rules that the service comes with; `samples/rules.yaml` has the same, to be edited. Weights are our own choice:
 * what a program says of itself weighs most, what is merely unusual for a person weighs less than half.
 */
export const defaultAccessRules: readonly WrittenRule[] = [
  {
    id: 'bot-agent',
    name: 'The user agent is a program, or there is none',
    source: 'bot',
    action: 'block',
    when: 'bot_agent',
    weight: 90,
  },
  {
    id: 'bot-instant',
    name: 'Done in less than a second',
    source: 'bot',
    action: 'flag',
    when: 'duration >= 0.0 && duration < 1.0',
    weight: 40,
  },
  {
    id: 'bot-negative-time',
    name: 'Ended before it began',
    source: 'bot',
    action: 'flag',
    when: 'duration < 0.0 && duration != -1.0',
    weight: 60,
  },
  {
    id: 'bot-no-traits',
    name: 'Neither languages nor a time zone',
    source: 'bot',
    action: 'flag',
    when: 'languages == "" && timezone == ""',
    weight: 30,
  },
  {
    id: 'bot-datacenter',
    name: 'Comes from a network of servers',
    source: 'bot',
    action: 'flag',
    when: 'datacenter && !vpn && !tor',
    weight: 35,
  },
  {id: 'access-tor', name: 'Comes from a Tor network', source: 'access', action: 'block', when: 'tor'},
  {
    id: 'access-bogon',
    name: 'Claims an address of no public network',
    source: 'access',
    action: 'block',
    when: 'bogon',
  },
  {
    id: 'access-disposable-mail',
    name: 'Disposable or impossible e-mail address',
    source: 'access',
    action: 'block',
    when: 'email_type in ["disposable", "invalid"]',
  },
  {
    id: 'access-vpn',
    name: 'Comes from a VPN network',
    source: 'access',
    action: 'block',
    when: 'vpn',
    shadow: true,
  },
  {
    id: 'access-replay',
    name: 'The token was verified before',
    source: 'access',
    action: 'block',
    when: 'replayed',
    shadow: true,
  },
  {
    id: 'access-many-accounts',
    name: 'Linked with three other accounts or more',
    source: 'access',
    action: 'flag',
    when: 'linked_accounts >= 3',
  },
];
