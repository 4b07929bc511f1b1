import {domainToASCII} from 'node:url';
import {parse} from 'tldts';
import {type NormalizedMailbox, normalizeMailbox} from '../../operations/mail/mail-providers.ts';
import type {EmailData} from '../../operations/table.ts';
import type {MailDomainKind, OpenData} from '../data/open-data.ts';

/** The kind of a domain, which decides its trust: the list it is on, or `reserved` (for documentation). */
export type DomainType = MailDomainKind | 'reserved';

/** A property of an address, named as in a verdict's `flags`. {@link flagCost} has its effect on the trust. */
export type MailFlag = 'tagged' | 'dotted' | 'renamed' | 'role' | 'generated' | 'quoted' | 'international';

/** Trust in an address by the kind of its domain, on our own scale from 0 to 100. */
const domainTrust: Record<DomainType, number> = {
  mainstream: 85,
  provider: 70,
  other: 60,
  relay: 45,
  disposable: 5,
  reserved: 0,
};

/** Points that each flag subtracts from the trust. */
const flagCost: Record<MailFlag, number> = {
  tagged: 5,
  dotted: 5,
  renamed: 0,
  role: 15,
  generated: 15,
  quoted: 20,
  international: 10,
};

/** Minimum trust for `is_trusted: true`. */
const TRUSTED_FROM = 50;

/** RFC 2606: reserved domains without real mailboxes. */
const reservedDomains = new Set(['example.com', 'example.net', 'example.org']);

/** RFC 2142's mailboxes for roles, and the usual unread ones such as `noreply`. */
const roles = new Set(
  'abuse admin administrator billing contact ftp help hostmaster info mailer-daemon marketing news no-reply noc noreply postmaster root sales security support usenet webmaster www'.split(
    ' ',
  ),
);

export interface MailAssessment {
  parsed: MailAddress;
  normalized: NormalizedMailbox;
  domainType: DomainType;
  flags: MailFlag[];
  /** 0 to 100. */
  trust: number;
}

/** Returns undefined if the address is malformed. */
export function assessMail(data: OpenData, email: string): MailAssessment | undefined {
  const parsed = parseMailAddress(email);
  if (parsed === undefined) return undefined;
  const normalized = normalizeMailbox(parsed);
  const domainType = typeOf(data, parsed);
  const flags = flagsOf(parsed, normalized);
  const cost = flags.reduce((sum, flag) => sum + flagCost[flag], 0);
  return {parsed, normalized, domainType, flags, trust: Math.max(0, domainTrust[domainType] - cost)};
}

/** The spelling that stands for all spellings of an address's mailbox; undefined if the address is malformed. */
export function mailboxOf(email: string): string | undefined {
  const parsed = parseMailAddress(email);
  return parsed && normalizeMailbox(parsed).address;
}

function typeOf(data: OpenData, {domain, registrable}: MailAddress): DomainType {
  return reservedDomains.has(registrable) ? 'reserved' : data.mailDomains().kindOf(domain, registrable);
}

function flagsOf({local, international}: MailAddress, normalized: NormalizedMailbox): MailFlag[] {
  const name = normalized.address.slice(0, normalized.address.lastIndexOf('@'));
  const all: Record<MailFlag, boolean> = {
    tagged: normalized.tagged,
    dotted: normalized.dotted,
    renamed: normalized.renamed,
    role: roles.has(name),
    generated: looksGenerated(name),
    quoted: local.startsWith('"'),
    international,
  };
  return (Object.keys(all) as MailFlag[]).filter(flag => all[flag]);
}

/** True for a name that a program probably made up: eight or more characters, at least half of them digits. */
function looksGenerated(local: string): boolean {
  const digits = local.replace(/\D/g, '').length;
  return local.length >= 8 && digits * 2 >= local.length;
}

/** Leaves out fields that no open data answers. */
export function emailIntelligence(data: OpenData, email: string): EmailData {
  const assessment = assessMail(data, email);
  if (assessment === undefined) return {is_valid: false, is_trusted: false, trust_score: 0};
  const {normalized, parsed, domainType, trust} = assessment;
  return {
    is_valid: true,
    is_trusted: trust >= TRUSTED_FROM,
    has_aliasing: normalized.tagged || normalized.dotted || normalized.renamed || domainType === 'relay',
    trust_score: trust,
    normalized_email: normalized.address,
    domain: parsed.domain,
  };
}

/** `domain` and `registrable` are in lower-case ASCII. */
interface MailAddress {
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

/** As people write it: letters, digits, hyphens, dots, the ideographic dots of RFC 3490, the joiners of RFC 5892. */
const writtenDomain = /^(?:\p{L}|\p{M}|\p{N}|\u200c|\u200d|[.\u3002\uff0e\uff61-])+$/u;

/** RFC 5321 4.5.3.1: maximum octets of a local part, and of a domain without its final dot. */
const MAX_LOCAL = 64;
const MAX_DOMAIN = 253;

/**
 * Returns undefined if the address is malformed: the local part is missing or wrong; the domain breaks the rules of
 * DNS, has no public suffix (`localhost`, `.test`, address literals) or is one (`co.uk`), or lies outside DNS
 * (`.onion`, RFC 7686).
 */
export function parseMailAddress(text: string): MailAddress | undefined {
  const address = text.trim();
  const at = address.lastIndexOf('@');
  const local = address.slice(0, Math.max(at, 0));
  const written = address.slice(at + 1);
  if (at < 1 || !isLocalPart(local) || !writtenDomain.test(written)) return undefined;
  const domain = domainToASCII(written);
  if (domain.length > MAX_DOMAIN || !domain.split('.').every(part => label.test(part))) return undefined;
  const {domain: registrable, isIcann, isPrivate, isIp} = parse(domain, {allowPrivateDomains: true});
  const hasRealSuffix = (isPrivate || (isIcann && registrable !== null)) && !domain.endsWith('.onion');
  if (isIp || !hasRealSuffix) return undefined;
  return {local, domain, registrable: registrable ?? domain, international: domain.includes('xn--')};
}

function isLocalPart(local: string): boolean {
  return Buffer.byteLength(local) <= MAX_LOCAL && (dotAtom.test(local) || quoted.test(local));
}
