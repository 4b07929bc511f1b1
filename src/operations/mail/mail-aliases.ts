import {mailProviders} from './mail-providers.ts';

/** The canonical spelling of an address's mailbox, and the changes that lead to it. */
export interface Normalized {
  address: string;
  /** True if the address has a tag such as `+news`. Any `+` counts at a domain whose tags are unknown. */
  tagged: boolean;
  /** True if the address had dots that its provider ignores. */
  dotted: boolean;
  /** True if the provider's main domain replaced the address's own, as `gmail.com` replaces `googlemail.com`. */
  renamed: boolean;
}

/**
 * The mailbox's canonical spelling. The local part is in lower case: the standard lets `Jo@` and `jo@` be two
 * mailboxes, but no provider does that. If the domain has no known tags, a `+` stays, since only the owner
 * knows its meaning.
 */
export function normalize({local, domain}: {readonly local: string; readonly domain: string}): Normalized {
  const {mailboxDomain = domain, ignoresDots = false, tag = ''} = mailProviders().get(domain) ?? {};
  const lower = local.toLowerCase();
  const base = lower.startsWith('"') ? lower : withoutTag(lower, tag);
  const plain = ignoresDots ? base.replaceAll('.', '') : base;
  return {
    address: `${plain}@${mailboxDomain}`,
    tagged: base !== lower || (tag === '' && /^[^"].*\+/.test(lower)),
    dotted: plain !== base,
    renamed: mailboxDomain !== domain,
  };
}

/** The mailbox of an address: its canonical spelling. */
export function mailboxOf(address: string): string {
  const at = address.lastIndexOf('@');
  return normalize({local: address.slice(0, at), domain: address.slice(at + 1)}).address;
}

function withoutTag(local: string, tag: string): string {
  const at = tag === '' ? -1 : local.indexOf(tag);
  return at > 0 ? local.slice(0, at) : local;
}
