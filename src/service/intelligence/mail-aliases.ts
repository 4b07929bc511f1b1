import type {MailAddress} from './mail-address.ts';

/** How a provider delivers several spellings into one mailbox. */
interface AliasRule {
  /** The mailbox's domain under its one name here. */
  canonical?: string;
  /** Dots in the local part mean nothing. */
  dots?: true;
  /** What follows this character in the local part is a tag. */
  tag?: '+' | '-';
  /** The provider's own word for it. */
  source: string;
}

const gmail: AliasRule = {
  canonical: 'gmail.com',
  dots: true,
  tag: '+',
  source: 'https://support.google.com/mail/answer/7436150 (dots), /answer/22370 (plus)',
};
const outlook: AliasRule = {
  tag: '+',
  source:
    'https://learn.microsoft.com/exchange/recipients-in-exchange-online/plus-addressing-in-exchange-online',
};
const icloud: AliasRule = {tag: '+', source: 'https://support.apple.com/guide/icloud (plus addressing)'};
const proton: AliasRule = {tag: '+', source: 'https://proton.me/support/creating-aliases'};
const fastmail: AliasRule = {tag: '+', source: 'https://www.fastmail.help (plus addressing)'};
const yahoo: AliasRule = {
  tag: '-',
  source: 'https://help.yahoo.com (disposable addresses: nickname-keyword)',
};
const yandex: AliasRule = {
  canonical: 'yandex.ru',
  tag: '+',
  source: 'https://yandex.com/support/mail (aliases: one mailbox under all Yandex domains)',
};
const plus: AliasRule = {tag: '+', source: "the provider's help on plus addressing (RFC 5233 subaddresses)"};

const rules = new Map<string, AliasRule>([
  ...each(gmail, 'gmail.com', 'googlemail.com'),
  ...each(outlook, 'outlook.com', 'hotmail.com', 'live.com', 'msn.com'),
  ...each(icloud, 'icloud.com', 'me.com', 'mac.com'),
  ...each(proton, 'proton.me', 'protonmail.com', 'pm.me'),
  ...each(fastmail, 'fastmail.com', 'fastmail.fm'),
  ...each(
    yahoo,
    'yahoo.com',
    'yahoo.co.uk',
    'yahoo.fr',
    'yahoo.de',
    'yahoo.ca',
    'ymail.com',
    'rocketmail.com',
  ),
  ...each(yandex, 'yandex.ru', 'yandex.com', 'ya.ru', 'yandex.by', 'yandex.kz'),
  ...each(plus, 'zoho.com', 'posteo.de', 'mailbox.org', 'hey.com', 'runbox.com'),
]);

function each(rule: AliasRule, ...domains: string[]): [string, AliasRule][] {
  return domains.map(domain => [domain, rule]);
}

/**
 * Services that hand out addresses which forward to a mailbox of the user's choice, each with its operator. Lists of
 * disposable domains hold many of these; but what is sent there arrives, so they are aliases.
 */
const relays = new Map<string, string>([
  ['duck.com', 'DuckDuckGo Email Protection'],
  ['mozmail.com', 'Firefox Relay'],
  ['privaterelay.appleid.com', 'Apple Hide My Email, with Sign in with Apple'],
  ['simplelogin.com', 'SimpleLogin (Proton)'],
  ['simplelogin.co', 'SimpleLogin (Proton)'],
  ['simplelogin.fr', 'SimpleLogin (Proton)'],
  ['aleeas.com', 'SimpleLogin (Proton)'],
  ['slmail.me', 'SimpleLogin (Proton)'],
  ['slmails.com', 'SimpleLogin (Proton)'],
  ['silomails.com', 'SimpleLogin (Proton)'],
  ['8alias.com', 'SimpleLogin (Proton)'],
  ['8shield.net', 'SimpleLogin (Proton)'],
  ['dralias.com', 'SimpleLogin (Proton)'],
  ['passmail.net', 'Proton Pass'],
  ['passmail.com', 'Proton Pass'],
  ['passinbox.com', 'Proton Pass'],
  ['passfwd.com', 'Proton Pass'],
  ['addy.io', 'addy.io'],
  ['anonaddy.com', 'addy.io'],
  ['anonaddy.me', 'addy.io'],
  ['addymail.com', 'addy.io'],
  ['mailer.me', 'addy.io'],
  ['4wrd.cc', 'addy.io'],
  ['opayq.com', 'IronVest (Blur)'],
  ['fwd.fastmail.com', 'Fastmail masked email'],
]);

/** Which spelling of an address its mailbox is known by, and what was taken off to get there. */
export interface Normalized {
  address: string;
  /** A tag (`+news`) was in use, or at a domain that we don't know, something that looks like one. */
  tagged: boolean;
  /** Dots that the provider ignores were in use. */
  dotted: boolean;
  /** The domain is another name of the provider's domain. */
  renamed: boolean;
  relay: boolean;
}

/**
 * The mailbox's one spelling. Local parts are lower-cased: the standard lets them differ by case, no provider does.
 * At domains without a rule a `+` stays where it is, since only their owner knows what it means.
 */
export function normalize({local, domain, registrable}: MailAddress): Normalized {
  const rule = rules.get(domain);
  const relay = relays.has(domain) || relays.has(registrable);
  const lower = local.toLowerCase();
  const base = lower.startsWith('"') ? lower : withoutTag(lower, rule?.tag);
  const plain = rule?.dots ? base.replaceAll('.', '') : base;
  const host = rule?.canonical ?? domain;
  return {
    address: `${plain}@${host}`,
    tagged: base !== lower || (rule === undefined && /^[^"].*\+/.test(lower)),
    dotted: plain !== base,
    renamed: host !== domain,
    relay,
  };
}

function withoutTag(local: string, tag: string | undefined): string {
  const at = tag === undefined ? -1 : local.indexOf(tag);
  return at > 0 ? local.slice(0, at) : local;
}
