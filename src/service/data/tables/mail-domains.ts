import {files, readPacked} from '../data-dir.ts';

/** How a mail domain is listed; `other` is on no list, as company domains are. */
export type MailDomainKind = 'disposable' | 'mainstream' | 'provider' | 'other';

/** Lists of mail domains. A provider that is listed as disposable as well counts as disposable. */
export class MailDomains {
  readonly #kinds = new Map<string, MailDomainKind>();

  constructor(directory: string) {
    const add = (file: string, kind: MailDomainKind): void => {
      for (const domain of readPacked(directory, file).toString().split('\n')) this.#kinds.set(domain, kind);
    };
    add(files.mailProviders, 'provider');
    add(files.mailMainstream, 'mainstream');
    add(files.mailBlocklist, 'disposable');
    add(files.mailchecker, 'disposable');
  }

  /**
   * How the domain, or else a domain above it, is listed: `x.mailinator.com` is as disposable as `mailinator.com`.
   * @param registrable where the search upwards ends
   */
  kindOf(domain: string, registrable: string): MailDomainKind {
    for (let name = domain; name.length >= registrable.length; name = name.slice(name.indexOf('.') + 1)) {
      const kind = this.#kinds.get(name);
      if (kind !== undefined) return kind;
    }
    return 'other';
  }
}
