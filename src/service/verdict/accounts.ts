import type {VerifyData} from '../../operations/table.ts';
import type {MailboxSpellings} from '../intelligence/email.ts';
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

/** Maximum accounts to consider per shared trait: keeps a call short if a whole network shares an address. */
const MAX_HOLDERS = 1000;

/** An account with its traits, as seen in a verification or a session. */
export interface Sighting {
  userId: string;
  session: UserSession;
  email?: MailboxSpellings | undefined;
}

interface LinkedAccount {
  userId: string;
  email: string | undefined;
  sessions: Set<string>;
  lastActivity: string | undefined;
}

/** The accounts seen in verifications and sessions, found by their traits. */
export class Accounts {
  readonly #accounts = new Map<string, LinkedAccount>();
  readonly #holders = new Map<string, Set<string>>();

  note(sighting: Sighting): void {
    const {userId, session, email} = sighting;
    const account = this.#account(userId);
    if (email !== undefined) account.email = email.written;
    account.sessions.add(session.token);
    const time = session.finished_at ?? session.started_at;
    if (time !== undefined && !(Date.parse(account.lastActivity ?? '') > Date.parse(time)))
      account.lastActivity = time;
    for (const [, key] of traits(sighting)) this.#holdersOf(key).add(userId);
  }

  /** Other accounts that share a trait with this sighting. */
  linkedWith(sighting: Sighting): MultiAccounting {
    const signals = new Map<string, Signal[]>();
    for (const [signal, key] of traits(sighting)) {
      for (const other of take(this.#holders.get(key) ?? [], MAX_HOLDERS)) {
        if (other !== sighting.userId) signals.set(other, [...(signals.get(other) ?? []), signal]);
      }
    }
    const accounts = [...signals]
      .map(([userId, shared]) => ({account: this.#account(userId), shared, confidence: combine(shared)}))
      .sort((a, b) => b.confidence - a.confidence || (a.account.userId < b.account.userId ? -1 : 1))
      .slice(0, MAX_ACCOUNTS);
    const highest = accounts[0]?.confidence ?? 0;
    return {
      detected: highest >= DETECTED_FROM,
      risk: riskOf(highest),
      score: Math.round(highest * 100),
      accounts: accounts.map(({account, shared, confidence}) => show(account, shared, confidence)),
    };
  }

  #account(userId: string): LinkedAccount {
    let account = this.#accounts.get(userId);
    if (account === undefined) {
      account = {userId, email: undefined, sessions: new Set(), lastActivity: undefined};
      this.#accounts.set(userId, account);
    }
    return account;
  }

  #holdersOf(key: string): Set<string> {
    const holders = this.#holders.get(key) ?? new Set();
    this.#holders.set(key, holders);
    return holders;
  }
}

function traits({session, email}: Sighting): [Signal, string][] {
  const found: [Signal, string | undefined][] = [
    ['same_email', email?.normalized],
    ['same_fingerprint', session.fingerprint],
    ['same_ip', session.ip],
  ];
  return found.flatMap(([signal, value]) => (value ? [[signal, `${signal} ${value}`]] : []));
}

function* take<T>(values: Iterable<T>, most: number): Iterable<T> {
  let taken = 0;
  for (const value of values) {
    if (taken++ === most) return;
    yield value;
  }
}

/** Combines the confidences of independent signals: the probability that at least one of them is right. */
function combine(signals: Signal[]): number {
  const mistaken = signals.reduce((product, signal) => product * (1 - confidenceOf[signal]), 1);
  return Math.round((1 - mistaken) * 1000) / 1000;
}

function riskOf(confidence: number): string {
  if (confidence === 0) return 'none';
  if (confidence < DETECTED_FROM) return 'low';
  return confidence < 0.9 ? 'medium' : 'high';
}

function show(
  account: LinkedAccount,
  signals: Signal[],
  confidence: number,
): NonNullable<MultiAccounting['accounts']>[number] {
  const {userId, email, sessions, lastActivity} = account;
  return {
    user_id: userId,
    email,
    signals,
    confidence,
    session_count: sessions.size,
    last_activity: lastActivity === undefined ? undefined : new Date(lastActivity).toISOString(),
  };
}
