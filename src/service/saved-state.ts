import type {Credits, LedgerEvent, ServiceLedger} from './credits.ts';
import {type Mailbox, mailboxOf} from './intelligence/email.ts';
import {Journal} from './journal.ts';
import type {Accounts} from './verdict/accounts.ts';
import type {UserSession, UserSessions} from './verdict/user-session.ts';

/** Changes of the service's state, as its journal keeps them. */
export type StateEvent =
  | {totals: ServiceLedger['operations']}
  | {ledger: LedgerEvent}
  | {redeemed: string}
  | {session: UserSession}
  | {sighting: KeptSighting};

/** An account seen with a session or an e-mail address. */
export interface KeptSighting {
  userId: string;
  token?: string;
  email?: Mailbox | undefined;
}

/** The parts of the state that events restore. */
interface SavedParts {
  credits: Credits;
  sessions: UserSessions;
  accounts: Accounts;
}

/**
 * Number of added events (about 20 MB) after which the journal is rewritten. A rewrite drops events that the
 * state no longer needs.
 */
const REWRITE_AFTER = 500_000;

/** Stores events in a folder, from which the next process restores the state. Without a folder, stores nothing. */
export class State {
  readonly #journal: Journal<StateEvent> | undefined;
  readonly #rewriteAfter: number;
  #totals: () => ServiceLedger['operations'] = () => {
    throw new Error('the state was not restored');
  };
  #appended = 0;

  constructor(folder: string | undefined, rewriteAfter: number = REWRITE_AFTER) {
    this.#journal = folder === undefined ? undefined : new Journal(folder);
    this.#rewriteAfter = rewriteAfter;
  }

  /** Replays the stored events into `parts`. The service continues from the restored state. */
  restore(parts: SavedParts): void {
    if (this.#journal === undefined) return;
    this.#totals = () => parts.credits.ledger().operations;
    const events = this.#journal.read();
    for (const event of events) replay(event, parts);
    this.#rewrite(this.#journal, events);
  }

  keep(event: StateEvent): void {
    if (this.#journal === undefined) return;
    if (this.#appended >= this.#rewriteAfter) this.#rewrite(this.#journal, this.#journal.read());
    this.#journal.append(event);
    this.#appended++;
  }

  close(): void {
    this.#journal?.close();
  }

  #rewrite(journal: Journal<StateEvent>, events: StateEvent[]): void {
    const kept = new Map<string, StateEvent>();
    for (const event of events) {
      const key = keyOf(event);
      if (key !== undefined) kept.set(key, event);
    }
    journal.begin([{totals: this.#totals()}, ...kept.values()]);
    this.#appended = 0;
  }
}

/**
 * The key of an event. A rewrite of the journal keeps the last event of each key. Ledger events have no key: a
 * rewrite drops them, since the totals that it saves include them.
 */
function keyOf(event: StateEvent): string | undefined {
  if ('session' in event) return `session ${event.session.token}`;
  return 'redeemed' in event || 'sighting' in event ? JSON.stringify(event) : undefined;
}

function replay(event: StateEvent, {credits, sessions, accounts}: SavedParts): void {
  if ('totals' in event) credits.restore(event.totals);
  else if ('ledger' in event) credits.count(event.ledger);
  else if ('redeemed' in event) sessions.restoreRedeemed(event.redeemed);
  else if ('session' in event) addSession(event.session, sessions, accounts);
  else {
    const {userId, token, email} = event.sighting;
    const session = token === undefined ? undefined : sessions.find(token);
    accounts.note({userId, session, email});
  }
}

/** Adds a session. If the session names its user, it also counts as a sighting of the user's account. */
export function addSession(session: UserSession, sessions: UserSessions, accounts: Accounts): void {
  sessions.add(session);
  const {user_id: userId, email} = session;
  const mailbox = email === undefined ? undefined : mailboxOf(email);
  if (userId !== undefined) accounts.note({userId, session, email: mailbox});
}
