import {mailProviders} from '../data/tables/mail-providers.ts';
import type {MailAddress} from './mail-address.ts';

/** The canonical spelling of an address's mailbox, and the changes that lead to it. */
export interface Normalized {
  address: string;
  /** True if the address had a tag (`+news`), or has a `+` at a domain whose tags are unknown. */
  tagged: boolean;
  /** True if the address had dots that its provider ignores. */
  dotted: boolean;
  /** True if the address had another name of its provider's domain. */
  renamed: boolean;
}

/**
 * The mailbox's canonical spelling. Local parts are in lower case: the standard allows them to differ by case, but no
 * provider does that. At domains without a known tag a `+` stays, since only their owner knows its meaning.
 */
export function normalize({local, domain}: MailAddress): Normalized {
  const {mailboxDomain = domain, ignoresDots = false, tag = ''} = mailProviders.get(domain) ?? {};
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

function withoutTag(local: string, tag: string): string {
  const at = tag === '' ? -1 : local.indexOf(tag);
  return at > 0 ? local.slice(0, at) : local;
}
