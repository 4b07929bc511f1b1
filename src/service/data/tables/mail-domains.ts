import {type MailProviderKind, mailProviders} from '../../../operations/mail/mail-providers.ts';
import {files, readPacked} from '../packed-data.ts';

/** The list that a mail domain is on; `other` for domains on no list, such as a company's. */
export type MailDomainKind = MailProviderKind | 'other';

/** Finds the kind of a mail domain: in this project's own table, else in the lists of npm packages. */
export class MailDomains {
  readonly #kinds = new Map<string, MailDomainKind>();

  constructor(directory: string) {
    const domainsIn = (file: string): string[] => readPacked(directory, file).toString().split('\n');
    for (const domain of domainsIn(files.mailProviders)) this.#kinds.set(domain, 'provider');
    const mainstream = new Set(domainsIn(files.mailMainstream));
    for (const domain of mainstream) this.#kinds.set(domain, 'mainstream');
    const blocklist = new Set(domainsIn(files.mailBlocklist));
    const mailchecker = new Set(domainsIn(files.mailchecker));
    for (const domain of [...blocklist, ...mailchecker]) {
      const isDoubtful = mainstream.has(domain) && !(blocklist.has(domain) && mailchecker.has(domain));
      // If the list of large providers has a domain, and only one blocklist does, the lists disagree: kind `other`.
      this.#kinds.set(domain, isDoubtful ? 'other' : 'disposable');
    }
    for (const [domain, {kind}] of mailProviders()) this.#kinds.set(domain, kind);
  }

  /**
   * Looks up the domain, then each domain above it: `x.mailinator.com` is as disposable as `mailinator.com`.
   *
   * @param registrable the registered domain, such as `mailinator.com`; no shorter domain is looked up
   */
  kindOf(domain: string, registrable: string): MailDomainKind {
    for (let name = domain; name.length >= registrable.length; name = name.slice(name.indexOf('.') + 1)) {
      const kind = this.#kinds.get(name);
      if (kind !== undefined) return kind;
    }
    return 'other';
  }
}
