import {domainToASCII} from 'node:url';
import {parse} from 'tldts';

/** The parts of a well-formed mail address. `domain` and `registrable` are in lower-case ASCII. */
export interface MailAddress {
  local: string;
  domain: string;
  /** The registered domain: `example.co.uk` for `mail.example.co.uk`. */
  registrable: string;
  /** True if the domain has letters outside ASCII, as such or encoded (`xn--`). */
  international: boolean;
}

/** RFC 5322 dot-atom, with RFC 6531's characters outside ASCII. Lone surrogates are left out: UTF-8 has none. */
const dotAtom =
  /^[\w!#$%&'*+/=?^`{|}~\u0080-\ud7ff\ue000-\u{10ffff}-]+(?:\.[\w!#$%&'*+/=?^`{|}~\u0080-\ud7ff\ue000-\u{10ffff}-]+)*$/u;

/** RFC 5322 quoted-string, without the obsolete control characters. */
const quoted = /^"(?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])*"$/;

/** RFC 1035 label, after conversion to ASCII. An empty label is invalid, such as the one after a final dot. */
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * A domain as people write it: letters, digits, hyphens, dots, RFC 3490's ideographic dots, and RFC 5892's joiners.
 */
const writtenDomain = /^(?:\p{L}|\p{M}|\p{N}|\u200c|\u200d|[.\u3002\uff0e\uff61-])+$/u;

/** RFC 5321 4.5.3.1: maximum octets of a local part, and of a domain without its final dot. */
const MAX_LOCAL = 64;
const MAX_DOMAIN = 253;

/**
 * Takes an address apart. Returns undefined if it is malformed: the local part is missing or wrong; the domain
 * breaks the rules of DNS, has no public suffix (`localhost`, `.test`, address literals), lies outside DNS
 * (`.onion`, RFC 7686), or is itself a public suffix (`co.uk`).
 */
export function parseMailAddress(text: string): MailAddress | undefined {
  const address = text.trim();
  const at = address.lastIndexOf('@');
  const local = address.slice(0, Math.max(at, 0));
  const written = address.slice(at + 1);
  if (at < 1 || !isLocalPart(local) || !writtenDomain.test(written)) return undefined;
  const domain = domainToASCII(written);
  if (domain.length > MAX_DOMAIN || !domain.split('.').every(each => label.test(each))) return undefined;
  const {domain: registrable, isIcann, isPrivate, isIp} = parse(domain, {allowPrivateDomains: true});
  const hasRealSuffix = (isPrivate || (isIcann && registrable !== null)) && !domain.endsWith('.onion');
  if (isIp || !hasRealSuffix) return undefined;
  return {local, domain, registrable: registrable ?? domain, international: domain.includes('xn--')};
}

function isLocalPart(local: string): boolean {
  return Buffer.byteLength(local) <= MAX_LOCAL && (dotAtom.test(local) || quoted.test(local));
}
