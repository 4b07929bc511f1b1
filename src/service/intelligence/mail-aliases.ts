import {readOwnList} from '../data/own-list.ts';
import type {MailAddress} from './mail-address.ts';

const lines = readOwnList<'domain' | 'mailbox_domain' | 'dots' | 'tag' | 'relay' | 'source'>(
  new URL('./mail-aliases.csv', import.meta.url),
);

/**
 * How providers deliver several spellings into one mailbox: the one name of the mailbox's domain here, whether dots in
 * the local part are ignored, what begins a tag there, and the provider's own word for it.
 */
const rules = new Map(lines.filter(({relay}) => relay === '').map(rule => [rule.domain, rule]));

/**
 * Services that hand out addresses which forward to a mailbox of the user's choice. Lists of disposable domains hold
 * many of these; but what is sent there arrives, so they are aliases.
 */
const relays = new Set(lines.filter(({relay}) => relay !== '').map(({domain}) => domain));

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
  const base = lower.startsWith('"') ? lower : withoutTag(lower, rule?.tag ?? '');
  const plain = rule?.dots === 'ignored' ? base.replaceAll('.', '') : base;
  const host = rule?.mailbox_domain ?? domain;
  return {
    address: `${plain}@${host}`,
    tagged: base !== lower || (rule === undefined && /^[^"].*\+/.test(lower)),
    dotted: plain !== base,
    renamed: host !== domain,
    relay,
  };
}

function withoutTag(local: string, tag: string): string {
  const at = tag === '' ? -1 : local.indexOf(tag);
  return at > 0 ? local.slice(0, at) : local;
}
