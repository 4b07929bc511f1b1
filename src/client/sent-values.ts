import {domainToASCII} from 'node:url';
import {getAtPath} from '../operations/fields.ts';
import {canonicalMailbox, mailOperators} from '../operations/mail/mail-providers.ts';
import type {Echo} from '../operations/operation.ts';
import {type Operation, operations, perOperation} from '../operations/table.ts';

/**
 * The part of its request that an answer repeats, the worst last: nothing, the value that was sent, another form of this
 * value, an identifier that this process never sent, or the value of another call.
 */
const REPEATED = ['none', 'own', 'own form', 'unknown id', 'other'] as const;
export type EchoedValue = (typeof REPEATED)[number];

type Sent = Readonly<Record<string, string>>;

/** Forms that are remembered: a thousand calls with two each. A proxy that mixes answers up has few of them at hand. */
const REMEMBERED = 2_000;
/** Answers of other calls in a row, of one operation, that are no chance. */
const MIXED_UP = 3;
/** Digits at the end of a phone number that a new area or mobile code leaves as they are. */
const SUBSCRIBER_DIGITS = 7;

/** The values that this process sent: in flight, or among the last thousand. An answer that names another is not its call's. */
export class SentValues {
  /** Answers of other calls since the last one of the operation that names its own value. */
  readonly #mixedUp = perOperation(() => 0);
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

  /** Judges the answer to a call: each part of the request by the first field that repeats it. */
  echoIn(operation: Operation, data: unknown, sent: Sent): EchoedValue {
    let worst: EchoedValue = 'none';
    let judged = '';
    for (const echo of operations[operation].echoes) {
      const [said, own] = [getAtPath(data, echo.path), sent[echo.param]];
      if (echo.param === judged || typeof said !== 'string' || own === undefined) continue;
      if (formOf(echo, said) === '') continue;
      judged = echo.param;
      const found = this.#judge(echo, said, own);
      if (REPEATED.indexOf(found) > REPEATED.indexOf(worst)) worst = found;
    }
    if (worst !== 'none') this.#mixedUp[operation] = worst === 'other' ? this.#mixedUp[operation] + 1 : 0;
    return worst;
  }

  /** True once so many answers in a row were of other calls that a proxy or cache mixes them up. */
  areMixedUp(operation: Operation): boolean {
    return this.#mixedUp[operation] >= MIXED_UP;
  }

  #judge(echo: Echo, said: string, own: string): EchoedValue {
    const name = nameOf(echo, said);
    if (name === nameOf(echo, own) || areSpellings(echo, formOf(echo, said), formOf(echo, own))) return 'own';
    if (this.#sent.has(name)) return 'other';
    return echo.as === 'text' ? 'unknown id' : 'own form';
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

/**
 * True if a service may say this for the call's own value: a mailbox without its tag, a provider's other domain, a
 * renumbered phone.
 */
function areSpellings({as}: Echo, said: string, own: string): boolean {
  if (as === 'digits') return said.slice(-SUBSCRIBER_DIGITS) === own.slice(-SUBSCRIBER_DIGITS);
  if (as === 'text') return false;
  const [[name, domain], [ownName, ownDomain]] = [partsOf(said), partsOf(own)];
  if (name !== ownName) return false;
  return domain === ownDomain || ownDomain.endsWith(`.${domain}`) || areOfOneProvider(domain, ownDomain);
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
