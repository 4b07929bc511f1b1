import {domainToASCII} from 'node:url';
import {getAtPath} from '../operations/fields.ts';
import {canonicalMailbox, mailOperators} from '../operations/mail/mail-providers.ts';
import type {Echo} from '../operations/operation.ts';
import {type Operation, operations} from '../operations/table.ts';

/** The part of an answer that repeats the request: its `own` value, a form never sent, an `other` call's, or `none`. */
export type EchoedValue = 'none' | 'own' | 'own form' | 'other';

type Sent = Readonly<Record<string, string>>;

/** Forms that are remembered: a thousand calls with two each. A proxy that mixes answers up has few of them at hand. */
const REMEMBERED = 2_000;
/** Answers of other calls in a row that are no chance. */
const MIXED_UP = 3;
/** Digits at the end of a phone number that a new area or mobile code leaves as they are. */
const SUBSCRIBER_DIGITS = 7;

/** The values that this process sent: in flight, or among the last thousand. An answer that names another is not its call's. */
export class SentValues {
  /** Answers of other calls since the last one that names its own value. */
  #mixedUp = 0;
  /** By form and kind: the number of calls in flight, in the order of sending. */
  readonly #sent = new Map<string, number>();

  /** Returns a function to call at the end of the call. */
  begin(operation: Operation, sent: Sent): () => void {
    const names = operations[operation].echoes.map(echo => nameOf(echo, sent[echo.param]));
    for (const name of names) this.#count(name, 1);
    return () => {
      for (const name of names) this.#count(name, -1);
      for (const [name, inFlight] of this.#sent) {
        if (this.#sent.size <= REMEMBERED) break;
        if (inFlight === 0) this.#sent.delete(name);
      }
    };
  }

  /** Judges the answer to a call by the first field that repeats the request. */
  echoIn(operation: Operation, data: unknown, sent: Sent): EchoedValue {
    for (const echo of operations[operation].echoes) {
      const [said, own] = [getAtPath(data, echo.path), sent[echo.param]];
      if (typeof said !== 'string' || own === undefined || formOf(echo, said) === '') continue;
      const name = nameOf(echo, said);
      const isOwn = name === nameOf(echo, own) || areSpellings(echo, formOf(echo, said), formOf(echo, own));
      const isOther = !isOwn && this.#sent.has(name);
      this.#mixedUp = isOther ? this.#mixedUp + 1 : 0;
      return isOther ? 'other' : isOwn ? 'own' : 'own form';
    }
    return 'none';
  }

  /** True once so many answers in a row were of other calls that a proxy or cache mixes them up. */
  get areMixedUp(): boolean {
    return this.#mixedUp >= MIXED_UP;
  }

  #count(name: string, by: number): void {
    const before = this.#sent.get(name) ?? 0;
    if (by > 0) this.#sent.delete(name);
    this.#sent.set(name, before + by);
  }
}

function nameOf(echo: Echo, value = ''): string {
  return `${echo.as} ${formOf(echo, value)}`;
}

/** The form in which two spellings are compared: lower case, an ASCII domain, digits alone. */
function formOf({as}: Echo, value: string): string {
  if (as === 'digits') return value.replace(/\D/g, '');
  const text = value.trim().toLowerCase();
  const at = text.lastIndexOf('@');
  if (as === 'text' || (as === 'address' && at === -1)) return text;
  const domain = text.slice(at + 1);
  const ascii = /^[ -~]*$/.test(domain) ? domain : domainToASCII(domain);
  return as === 'domain' ? ascii : text.slice(0, at + 1) + ascii;
}

/** True if a list may have both for one value: mailboxes with a tag, domains of one provider, renumbered phones. */
function areSpellings({as}: Echo, one: string, other: string): boolean {
  if (as === 'digits') return one.slice(-SUBSCRIBER_DIGITS) === other.slice(-SUBSCRIBER_DIGITS);
  if (as === 'text') return false;
  const [[name, domain], [otherName, otherDomain]] = [partsOf(one), partsOf(other)];
  return name === otherName && (domain === otherDomain || areOfOneProvider(domain, otherDomain));
}

/** The local part without tag and punctuation, and the domain. Of a domain alone, the local part is empty. */
function partsOf(address: string): readonly [name: string, domain: string] {
  if (!address.includes('@')) return ['', address];
  const [local = '', domain = ''] = canonicalMailbox(address).split(/@(?=[^@]*$)/);
  return [local.replace(/\+.*/, '').replace(/[^\p{L}\d]/gu, ''), domain];
}

function areOfOneProvider(one: string, other: string): boolean {
  return mailOperators().some(({domains}) => domains.includes(one) && domains.includes(other));
}
