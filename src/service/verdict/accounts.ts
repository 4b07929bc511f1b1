import type {VerifyData} from '../../operations/table.ts';
import {mailboxOf} from '../intelligence/email.ts';
import type {UserSession} from './user-session.ts';

type MultiAccounting = NonNullable<VerifyData['multi_accounting']>;

/** Traits that two accounts can share, each with our estimate of how surely one person has both accounts. */
const confidenceOf = {
  /** The same mailbox, in any spelling. */
  same_email: 0.9,
  /** The same fingerprint, so probably the same device. */
  same_fingerprint: 0.8,
  /** The same IP address. Low, since people in a household, in an office or at a carrier share addresses. */
  same_ip: 0.3,
} as const;

type Signal = keyof typeof confidenceOf;

/** Minimum confidence at which another account counts as the same person's. */
const DETECTED_FROM = 0.5;

/** Maximum accounts shown, the surest first: thousands can share a carrier's address. */
const MAX_ACCOUNTS = 50;

/** Maximum accounts to note per trait: keeps a call short if a whole network shares an address. */
const MAX_HOLDERS = 1000;

export interface Sighting {
  userId: string;
  session: UserSession;
  email?: string | undefined;
}

interface Account {
  email?: string;
  sessions: Set<string>;
  lastActivity?: string;
}

/** The accounts seen in verifications and sessions, found by their traits. */
export class Accounts {
  readonly #byUserId = new Map<string, Account>();
  /** Trait → ids of the users with it. */
  readonly #holders = new Map<string, Set<string>>();

  note(sighting: Sighting): void {
    const {userId, session, email} = sighting;
    const account: Account = this.#byUserId.get(userId) ?? {sessions: new Set()};
    this.#byUserId.set(userId, account);
    const traits = traitsOf(sighting);
    if (email !== undefined && traits.some(([signal]) => signal === 'same_email')) account.email = email;
    account.sessions.add(session.token);
    const time = session.finished_at ?? session.started_at;
    if (time !== undefined && !(Date.parse(account.lastActivity ?? '') > Date.parse(time)))
      account.lastActivity = time;
    for (const [, trait] of traits) {
      const holders = this.#holders.get(trait) ?? new Set();
      this.#holders.set(trait, holders);
      if (holders.size < MAX_HOLDERS) holders.add(userId);
    }
  }

  /** Other accounts that share a trait with this sighting. */
  linkedWith(sighting: Sighting): MultiAccounting {
    const signals = new Map<string, Signal[]>();
    for (const [signal, trait] of traitsOf(sighting))
      for (const userId of this.#holders.get(trait) ?? [])
        signals.set(userId, [...(signals.get(userId) ?? []), signal]);
    signals.delete(sighting.userId);
    const linked = [...signals]
      .map(([userId, shared]) => ({userId, signals: shared, confidence: combine(shared)}))
      .sort((a, b) => b.confidence - a.confidence || (a.userId < b.userId ? -1 : 1))
      .slice(0, MAX_ACCOUNTS);
    const highest = linked[0]?.confidence ?? 0;
    return {
      detected: highest >= DETECTED_FROM,
      risk: riskOf(highest),
      score: Math.round(highest * 100),
      accounts: linked.map(link => this.#describe(link)),
    };
  }

  #describe({userId, signals, confidence}: {userId: string; signals: Signal[]; confidence: number}) {
    const {email, sessions, lastActivity} = this.#byUserId.get(userId) as Account;
    return {
      user_id: userId,
      email,
      signals,
      confidence,
      session_count: sessions.size,
      last_activity: lastActivity === undefined ? undefined : new Date(lastActivity).toISOString(),
    };
  }
}

function traitsOf({session, email}: Sighting): [Signal, string][] {
  const values: Record<Signal, string | undefined> = {
    same_email: email === undefined ? undefined : mailboxOf(email),
    same_fingerprint: session.fingerprint,
    same_ip: session.ip,
  };
  return (Object.keys(values) as Signal[]).flatMap(signal =>
    values[signal] ? [[signal, `${signal} ${values[signal]}`]] : [],
  );
}

/** The probability that at least one of several independent signals is right. */
function combine(signals: Signal[]): number {
  const mistaken = signals.reduce((product, signal) => product * (1 - confidenceOf[signal]), 1);
  return Math.round((1 - mistaken) * 1000) / 1000;
}

function riskOf(confidence: number): string {
  if (confidence === 0) return 'none';
  if (confidence < DETECTED_FROM) return 'low';
  return confidence < 0.9 ? 'medium' : 'high';
}
