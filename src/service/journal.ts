import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import {join} from 'node:path';
import {type Lock, lockFiles, takeLock} from '../disk/lock.ts';
import {syncPath} from '../disk/replace.ts';
import {LockedError, systemReason} from '../errors.ts';
import {ServiceSetupError} from './setup-error.ts';

/**
 * The service's memory across restarts: a file with one event a line. The service writes a call's events before it
 * answers, so they survive the end of the process. A power cut may lose the latest events. At start the service
 * replays the events, then rewrites the file with fewer events that give the same state.
 */
export class Journal<Event> {
  readonly #folder: string;
  readonly #lock: Lock;
  #file: number | undefined;

  /**
   * @param folder created if missing, readable by this user only: it has sessions, which are personal data
   *
   * @throws ServiceSetupError while another service uses the folder, or if state can't be kept in it
   */
  constructor(folder: string) {
    this.#folder = folder;
    try {
      const busy = (who: string) => `${folder} is in use by ${who}`;
      this.#lock = takeLock(folder, {ours: false, busy});
    } catch (error) {
      const why = error instanceof Error && 'exitCode' in error ? error.message : systemReason(error);
      throw new ServiceSetupError(
        error instanceof LockedError ? why : `the state can't be kept in ${folder}: ${why}`,
        {cause: error},
      );
    }
  }

  get #path(): string {
    return join(this.#folder, 'state.ndjson');
  }

  /** The stored events, oldest first. Drops an incomplete last line: the answer to its call was never sent. */
  read(): Event[] {
    if (!existsSync(this.#path)) return [];
    const lines = readFileSync(this.#path, 'utf8').split('\n');
    lines.pop();
    return lines.map((line, index) => this.#parse(line, index + 1));
  }

  /** Replaces the file by these events, entirely or not at all. Later events are appended. */
  begin(events: Iterable<Event>): void {
    const draft = `${this.#path}.new`;
    rmSync(draft, {force: true});
    const file = openSync(draft, 'wx', 0o600);
    for (const event of events) writeSync(file, `${JSON.stringify(event)}\n`);
    fsyncSync(file);
    renameSync(draft, this.#path);
    syncPath(this.#folder);
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = file;
  }

  append(event: Event): void {
    if (this.#file !== undefined) writeSync(this.#file, `${JSON.stringify(event)}\n`);
  }

  close(): void {
    if (this.#file !== undefined) {
      fsyncSync(this.#file);
      closeSync(this.#file);
    }
    this.#file = undefined;
    for (const name of lockFiles) rmSync(join(this.#folder, name), {force: true});
    this.#lock.release();
  }

  #parse(line: string, number: number): Event {
    try {
      return JSON.parse(line);
    } catch {
      throw new ServiceSetupError(
        `${this.#path}:${number} is not a line of state; move the file away to start over`,
      );
    }
  }
}
