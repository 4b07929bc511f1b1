import {mailProviders} from '../data/tables/mail-providers.ts';
import type {MailAddress} from './mail-address.ts';

/** Which spelling of an address its mailbox is known by, and what was taken off to get there. */
export interface Normalized {
  address: string;
  /** A tag (`+news`) was in use, or at a domain whose tags we don't know, something that looks like one. */
  tagged: boolean;
  /** Dots that the provider ignores were in use. */
  dotted: boolean;
  /** The domain is another name of the provider's domain. */
  renamed: boolean;
}

/**
 * The mailbox's one spelling. Local parts are lower-cased: the standard lets them differ by case, no provider does.
 * At domains without a known tag a `+` stays where it is, since only their owner knows what it means.
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
