import {memoize} from '../memoize.ts';
import {readOwnList} from '../own-list.ts';
import {sourceFile} from '../package-files.ts';

/**
 * Kinds of listed domains. `mainstream`: one of the best-known mail providers. `provider`: any other mail provider.
 * `relay`: forwards mail to a mailbox at another domain. `disposable`: gives out addresses for a short time.
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
  readOwnList<ProviderColumn>(sourceFile('operations/mail/mail-providers.csv')).map(
    ({domains, ...about}) => ({
      ...about,
      domains: domains.split(' '),
    }),
  ),
);

/**
 * Listed providers by domain. This table takes precedence over the packages' lists, which call some providers
 * disposable and miss well-known disposable names.
 */
export const mailProviders = memoize(
  (): ReadonlyMap<string, MailProvider> =>
    new Map(
      mailOperators().flatMap(({kind, domains, mailbox_domain, dots, tag}) => {
        const provider = {kind: kind as MailProviderKind, ignoresDots: dots === 'ignored', tag};
        return domains.map(domain => [domain, {...provider, mailboxDomain: mailbox_domain || domain}]);
      }),
    ),
);
