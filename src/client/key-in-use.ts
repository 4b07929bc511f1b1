import {type Redact, redactorOf} from './redact.ts';

/** Reads the key again after the service refused the key `rejected`. */
export type ReadKeyAgain = (rejected: string) => Promise<string>;

/** The result of reading a refused key again. */
type Renewal = {readonly renewed: true} | {readonly renewed: false; readonly why?: string};

/**
 * The key that calls are sent with. If the service refuses the key, this class reads it again, once. If the
 * service also refuses the new key before it ever accepted it, the run ends. So a command that prints another
 * wrong key each time can't keep a run in a loop.
 */
export class KeyInUse {
  readonly #readAgain: ReadKeyAgain | undefined;
  #current: string;
  #redact: Redact;
  /** The last attempt to read the key again. All calls that were refused with the same key share its result. */
  #renewal: Promise<Renewal> | undefined;
  #isReading = false;

  constructor(key: string, readAgain: ReadKeyAgain | undefined) {
    this.#current = key;
    this.#redact = redactorOf(key);
    this.#readAgain = readAgain;
  }

  get current(): string {
    return this.#current;
  }

  /** Removes the key, and the keys that it replaced, from an answer. */
  readonly redact: Redact = (parsed, body) => this.#redact(parsed, body);

  /**
   * Notes that the service accepted this key, so that the next refusal reads the key again. Ignored during a
   * reading: the accepted call may be older than the refusal that caused the reading.
   */
  accepted(key: string): void {
    if (key === this.#current && !this.#isReading) this.#renewal = undefined;
  }

  /**
   * Handles a refused key. If there is another key by now, returns `renewed`: the call can be sent again with it.
   */
  rejected(key: string): Promise<Renewal> | Renewal {
    if (key !== this.#current) return {renewed: true};
    if (this.#readAgain === undefined) return {renewed: false};
    this.#renewal ??= this.#renew(this.#readAgain);
    return this.#renewal.then(renewal => {
      // Another reading may have replaced the key meanwhile. The call can then be sent again.
      if (key !== this.#current) return {renewed: true};
      return renewal.renewed ? {renewed: false, why: REJECTED_TOO} : renewal;
    });
  }

  async #renew(readAgain: ReadKeyAgain): Promise<Renewal> {
    this.#isReading = true;
    try {
      const key = await readAgain(this.#current);
      if (key === this.#current) return {renewed: false, why: 'read again, the key is still the same'};
      const [before, now] = [this.#redact, redactorOf(key)];
      this.#current = key;
      this.#redact = (parsed, body) => now(before(parsed, body), body);
      return {renewed: true};
    } catch (error) {
      return {renewed: false, why: error instanceof Error ? error.message : String(error)};
    } finally {
      this.#isReading = false;
    }
  }
}

const REJECTED_TOO = 'neither is the one that was read in its place';
