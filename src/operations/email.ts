import {domainToASCII} from 'node:url';
import {z} from 'zod';
import texts from '../codes.json' with {type: 'json'};
import {
  type CanonicalCell,
  type CellRules,
  chooseEntry,
  isPlaceholder,
  judgeEntries,
  judgeNormalizedCell,
  LIST_SEPARATOR,
  type ListChoice,
  makeInvalidCell,
  validCell,
  withRepairs,
} from './cell.ts';
import {answerSchema, defineIntelligence, flag, text} from './operation.ts';

const codes = {...texts.any, ...texts.email};

type EmailCode = keyof typeof codes;

const data = answerSchema({
  is_valid: flag.describe('True if mail can be sent to the address.'),
  is_trusted: flag.describe('True if the service trusts it.'),
  has_aliasing: flag.describe('True if it is another spelling of a mailbox, such as one with a tag.'),
  trust_score: z.number().describe('Trust score of the service; range not shown.'),
  normalized_email: text.describe("The mailbox's main address, without tags and the like."),
  domain: text.describe('The part after the @.'),
});

export const email = defineIntelligence('email', {
  summary: 'Validate and score an e-mail address.',
  value: z.string().min(1).describe('The e-mail address to validate and score.'),
  data,
  singular: 'e-mail address',
  plural: 'e-mail addresses',
  title: 'E-mail addresses',
  label: 'email',
  isDetected: true,
  about: 'Column of e-mail addresses.',
  prefix: 'email_',
  storedFor: '30d',
  cost: 1,
  codes,
  personFaults: ['email_malformed'],
  canonical: canonicalEmail,
  mayBeOthers: areHandles,
  areMasked: values => values.every(value => DIGEST.test(value)),
  others: 'identifiers, or accounts of machines',
  echoes: [
    {path: ['normalized_email'], param: 'email', as: 'address'},
    {path: ['domain'], param: 'email', as: 'domain'},
  ],
  top: [['domains', ['domain']]],
  rules: [
    {when: '!email.is_valid', add: 40, reason: 'email_not_valid'},
    {when: '!email.is_trusted', add: 25, reason: 'email_not_trusted'},
    {when: 'email.has_aliasing', add: 5, reason: 'email_alias'},
    {when: 'shared.mailbox >= 3', add: 30, reason: 'mailbox_shared'},
    {when: 'shared.mailbox >= 10', add: 30, reason: 'mailbox_shared'},
    {when: 'error.email == "email_malformed"', add: 40, reason: 'email_invalid'},
  ],
});

/** RFC 5321: maximum octets of the part before the @ (local part), and of the whole address. */
const MAX_LOCAL = 64;
const MAX_ADDRESS = 254;
/** A local part: RFC 5321's dot-string, with RFC 6531's letters outside ASCII, or its quoted string. */
const LOCAL_PART = /^(?:[^\s@"(),:;<>[\]\\]+|"[^"\r\n]*")$/u;
/** Characters that a domain may have. `domainToASCII` alone would accept more, since it parses a URL's host. */
const WRITTEN_DOMAIN = /^[^\s"#%/:<>?@[\\\]^|]+$/u;
/** Punctuation outside ASCII, except IDNA's dots and letters (RFC 5892, appendix A). */
const ODD = /(?![。．｡·͵׳״・])[^\P{P}\p{ASCII}]/u;
const BESIDE = new RegExp(`[\\s,;:=()<>[\\]{}|"/?]|${ODD.source}`, 'u');
/** Asterisks are valid in addresses (RFC 5322), but people use them to hide a part of an address. */
const MASKED = /[*•●]{2}|[*•●].*@|@.*[*•●]|^\[email.protected\]$/u;
/**
 * Characters that hide a part, as in `jxxxxx@example.com`. Three count only in `xxx` or `axxxb`, not in `maxxx`.
 */
const FILLING = /(?:x{4,}|_{4,}|#{4,})|^.?(?:x{3}|_{3}|#{3}).?$/gi;
const FILLED_DOMAIN = /(?:^|\.)x{4,}\./i;
/** RFC 6761: no real domain ends in `.invalid`. Programs write such an address in place of an erased one. */
const NO_DOMAIN = /\.invalid$/i;
/** Japanese mobile providers gave out addresses such as `jo..x` and `jo.`, against RFC 5321. They still work. */
const ODD_DOTS: ReadonlySet<string> = new Set(['docomo.ne.jp', 'ezweb.ne.jp']);
/** Labels of letters, digits and inner hyphens. The last label is not a number. */
const DOMAIN = /^(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+(?!\d+$)[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/;

/** An e-mail address with its domain in lower case and ASCII. The local part stays, since its case may matter. */
export function canonicalEmail(raw: string, _country?: string, rules?: CellRules): CanonicalCell<EmailCode> {
  return judgeNormalizedCell(raw, rules, given => {
    const text = given.replace(/^([^@]*\S)\s*@\s*([^@]*)$/, '$1@$2');
    const judged = judgeAddresses(text, rules?.fromList) ?? judgeOne(text);
    return withRepairs(judged, text === given ? [] : ['folded']);
  });
}

/** Addresses as programs encode them, or as people hide them from programs: `jo%40example.com`, `jo(at)example.com`, `/O=ORG/CN=JO`. */
const ENCODED =
  /%40|&#(?:64|x40);|\\u0040|[([{]\s*at\s*[)\]}]|^=\?[\w-]+\?[bq]\?|^(?:EX:|X500:)?\/o=.+\/cn=/i;

function judgeOne(text: string): CanonicalCell<EmailCode> {
  const judged = judgeAddress(text);
  const found = judged.state === 'value' ? judged : (judgeWrapped(text) ?? judged);
  if (found.state !== 'invalid' || found.code !== 'email_malformed') return found;
  if (ENCODED.test(text)) return makeInvalidCell('email_encoded');
  return ODD.test(text) || holdsAddress(text) ? makeInvalidCell('email_in_text') : found;
}

function holdsAddress(text: string): boolean {
  const parts = text.split(BESIDE);
  return parts.length > 1 && parts.some(part => part.includes('@') && judgeAddress(part).state === 'value');
}

/** Judges the address inside mailto: (RFC 6068) or angle brackets; undefined if the text has neither. */
function judgeWrapped(text: string): CanonicalCell<EmailCode> | undefined {
  const linked = /^mailto:([^?%]+)(?:\?.*)?$/is.exec(text)?.[1];
  if (linked !== undefined) return withRepairs(judgeAddress(linked), ['uri']);
  const [, name, inner] = /^([^<>]*)<\s*(?:mailto:)?([^<>@\s]+@[^<>\s]+)\s*>$/i.exec(text) ?? [];
  if (name === undefined || inner === undefined) return undefined;
  const plainName = name.replace(/["']/g, '').trim().toLowerCase();
  // The display name is another address. Either address may be meant, so neither is taken.
  if (plainName.includes('@') && plainName !== inner.toLowerCase())
    return makeInvalidCell('email_display_name');
  return withRepairs(judgeAddress(inner), [plainName === '' ? 'brackets' : 'display_name']);
}

function judgeAddress(text: string): CanonicalCell<EmailCode> {
  const at = text.lastIndexOf('@');
  const local = text.slice(0, at);
  if ((at > 0 || text.startsWith('[')) && (MASKED.test(text) || isFilled(local, text.slice(at + 1))))
    return makeInvalidCell('email_masked');
  if (at === -1 || !LOCAL_PART.test(local))
    return makeInvalidCell(listsAddresses(text) ? 'email_list' : 'email_malformed');
  const written = text.slice(at + 1);
  const domain = WRITTEN_DOMAIN.test(written) ? domainToASCII(written) : '';
  const dots = !local.startsWith('"') && !ODD_DOTS.has(domain) && /^\.|\.\.|\.$/.test(local);
  const address = `${local}@${domain}`;
  const fits = Buffer.byteLength(local) <= MAX_LOCAL && Buffer.byteLength(address) <= MAX_ADDRESS;
  return DOMAIN.test(domain) && fits && !dots && !ODD.test(text)
    ? validCell(address)
    : makeInvalidCell('email_malformed');
}

/** True if filling (`xxxx`) is half of the local part or a label of the domain, or the domain is `.invalid`. */
function isFilled(local: string, domain: string): boolean {
  const filling = local.match(FILLING)?.join('') ?? '';
  const isHidden = filling !== '' && filling.length * 2 >= local.length;
  return isHidden || FILLED_DOMAIN.test(domain) || NO_DOMAIN.test(domain);
}

/** An MD5, SHA-1 or SHA-256 digest as local part: the digest of an address, which hides that address. */
const DIGEST = /^[\da-f]{32}(?:[\da-f]{8})?(?:[\da-f]{24})?@/i;

/** Texts that programs made: a message id (`2026730714638.70973@mx.example.com`), a file (`avatar_31@2x.png`). */
const MADE =
  /\d{7}|[\da-f-]{16}|\.(?:png|jpe?g|gif|svg|webp|ics|local|internal|lan|localdomain)$|^<|^\w+:|@(?:calendar|reply)\./i;

/** True if programs made most of these addresses, or each local part occurs at two or more domains on average. */
function areHandles(texts: readonly string[]): boolean {
  const locals = new Set(texts.map(text => text.slice(0, text.lastIndexOf('@'))));
  const isFew = texts.length > 2 && locals.size * 2 <= texts.length;
  return isFew || texts.filter(text => MADE.test(text)).length > texts.length / 2;
}

/** Judges a cell with several addresses; undefined for any other text. A fault of the chosen one is the list's. */
function judgeAddresses(text: string, which: ListChoice | undefined): CanonicalCell<EmailCode> | undefined {
  const isAddress = (part: string) => /^[^@]+@[^@]+$/.test(part);
  const parts = text.split(LIST_SEPARATOR).filter(part => part.includes('@') || isPlaceholder(part));
  const words = text.split(/\s+/);
  const entries = parts.length === 1 && words.every(word => /^[^@<>]+@[^@<>]+$/.test(word)) ? words : parts;
  if (entries.filter(isAddress).length < 2) return undefined;
  const chosen = chooseEntry(judgeEntries(entries, judgeOne), which);
  return chosen?.state === 'value' ? chosen : makeInvalidCell('email_list');
}

function listsAddresses(text: string): boolean {
  return text.split(/[\s,;]/).filter(part => /^[^@]+@[^@]+$/.test(part)).length > 1;
}
