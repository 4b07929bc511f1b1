import {type Normalized, normalize} from '../../operations/mail-aliases.ts';
import type {EmailData} from '../../operations/table.ts';
import type {OpenData} from '../data/open-data.ts';
import type {MailDomainKind} from '../data/tables/mail-domains.ts';
import {type MailAddress, parseMailAddress} from './mail-address.ts';

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

/** Assessment of a well-formed address. */
export interface MailAssessment {
  parsed: MailAddress;
  normalized: Normalized;
  domainType: DomainType;
  flags: MailFlag[];
  /** 0 to 100. */
  trust: number;
}

/** Assesses an address. Returns undefined if it is malformed. */
export function assessMail(data: OpenData, email: string): MailAssessment | undefined {
  const parsed = parseMailAddress(email);
  if (parsed === undefined) return undefined;
  const normalized = normalize(parsed);
  const domainType = typeOf(data, parsed);
  const flags = flagsOf(parsed, normalized);
  const cost = flags.reduce((sum, flag) => sum + flagCost[flag], 0);
  return {parsed, normalized, domainType, flags, trust: Math.max(0, domainTrust[domainType] - cost)};
}

/** An address as written, and the spelling that stands for all spellings of its mailbox. */
export interface Mailbox {
  written: string;
  normalized: string;
}

/** The mailbox of an address; undefined if the address is malformed. */
export function mailboxOf(email: string): Mailbox | undefined {
  const parsed = parseMailAddress(email);
  return parsed && {written: email, normalized: normalize(parsed).address};
}

function typeOf(data: OpenData, {domain, registrable}: MailAddress): DomainType {
  return reservedDomains.has(registrable) ? 'reserved' : data.mailDomains().kindOf(domain, registrable);
}

function flagsOf({local, international}: MailAddress, normalized: Normalized): MailFlag[] {
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

/** The answer for an e-mail address, from open data. It leaves out fields that no open data answers. */
export function emailIntelligence(data: OpenData, email: string): EmailData {
  const found = assessMail(data, email);
  if (found === undefined) return {is_valid: false, is_trusted: false, trust_score: 0};
  const {normalized, parsed, domainType, trust} = found;
  return {
    is_valid: true,
    is_trusted: trust >= TRUSTED_FROM,
    has_aliasing: normalized.tagged || normalized.dotted || normalized.renamed || domainType === 'relay',
    trust_score: trust,
    normalized_email: normalized.address,
    domain: parsed.domain,
  };
}
