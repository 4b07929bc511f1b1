import {memoize} from '../memoize.ts';
import {readBundledList, sourceFile} from '../package-files.ts';

/**
 * `mainstream`: one of the best-known mail providers. `relay`: forwards mail to a mailbox at another domain.
 * `disposable`: gives out addresses for a short time.
 */
export type MailProviderKind = 'mainstream' | 'provider' | 'relay' | 'disposable';

/** A mail domain's kind, and the spellings that its provider delivers into one mailbox. */
export interface MailProvider {
  kind: MailProviderKind;
  /** The provider's main domain if several of its domains share mailboxes; else the domain itself. */
  mailboxDomain: string;
  /** True if the provider ignores dots in the local part. */
  ignoresDots: boolean;
  /** The character that begins a tag, such as the `+` of `jo+news@gmail.com`; empty if none is known. */
  tag: string;
}

type ProviderColumn = 'kind' | 'operator' | 'domains' | 'mailbox_domain' | 'dots' | 'tag' | 'source' | 'date';

/** Every operator with its domains, the source of the entry, and the day of its check. */
export const mailOperators = memoize(() =>
  readBundledList<ProviderColumn>(sourceFile('operations/mail/mail-providers.csv')).map(
    ({domains, ...about}) => ({
      ...about,
      domains: domains.split(' '),
    }),
  ),
);

/** Listed providers by domain. It goes before the packages' lists, which call some providers disposable. */
export const mailProviders = memoize(
  (): ReadonlyMap<string, MailProvider> =>
    new Map(
      mailOperators().flatMap(({kind, domains, mailbox_domain, dots, tag}) => {
        const provider = {kind: kind as MailProviderKind, ignoresDots: dots === 'ignored', tag};
        return domains.map(domain => [domain, {...provider, mailboxDomain: mailbox_domain || domain}]);
      }),
    ),
);

/** The canonical spelling of an address's mailbox, and the changes that lead to it. */
export interface NormalizedMailbox {
  address: string;
  /** True if the address has a tag such as `+news`. Any `+` counts at a domain whose tags are unknown. */
  tagged: boolean;
  /** True if the address had dots that its provider ignores. */
  dotted: boolean;
  /** True if the provider's main domain replaced the address's own, as `gmail.com` replaces `googlemail.com`. */
  renamed: boolean;
}

/**
 * The mailbox's canonical spelling, in lower case: no provider tells `Jo@` from `jo@`. If the domain has no known
 * tags, a `+` stays, since only the owner knows its meaning.
 */
export function normalizeMailbox({
  local,
  domain,
}: {
  readonly local: string;
  readonly domain: string;
}): NormalizedMailbox {
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
export function canonicalMailbox(address: string): string {
  const at = address.lastIndexOf('@');
  return normalizeMailbox({local: address.slice(0, at), domain: address.slice(at + 1)}).address;
}

function withoutTag(local: string, tag: string): string {
  const at = tag === '' ? -1 : local.indexOf(tag);
  return at > 0 ? local.slice(0, at) : local;
}
