import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import {join} from 'node:path';
import {ServiceSetupError} from './setup-error.ts';

/**
 * What the service remembers across restarts: a file of one event a line, each written before its answer leaves, so
 * that it survives the end of the process at any instant (a power cut may take what the system had not written yet).
 * At start the events are replayed and the file is rewritten as the state they led to.
 */
export class Journal<Event> {
  readonly #folder: string;
  #file: number | undefined;

  /**
   * @param folder made if absent, for this user alone: it holds sessions, which are personal data
   * @throws ServiceSetupError while another service uses the folder, or if its file can't be read
   */
  constructor(folder: string) {
    this.#folder = folder;
    try {
      mkdirSync(folder, {recursive: true, mode: 0o700});
      this.#lock();
    } catch (error) {
      if (error instanceof ServiceSetupError) throw error;
      throw new ServiceSetupError(`the state can't be kept in ${folder}: ${(error as Error).message}`);
    }
  }

  get #path(): string {
    return join(this.#folder, 'state.ndjson');
  }

  get #lockPath(): string {
    return join(this.#folder, 'lock');
  }

  /** The kept events, oldest first. A last line that the end of the process cut short is dropped: no answer left. */
  read(): Event[] {
    if (!existsSync(this.#path)) return [];
    const lines = readFileSync(this.#path, 'utf8').split('\n');
    lines.pop();
    return lines.map((line, index) => this.#parse(line, index + 1));
  }

  /** Replaces the file by these events, whole or not at all, and goes on after them. */
  begin(events: Iterable<Event>): void {
    const draft = `${this.#path}.new`;
    const file = openSync(draft, 'w', 0o600);
    for (const event of events) writeSync(file, `${JSON.stringify(event)}\n`);
    fsyncSync(file);
    renameSync(draft, this.#path);
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
    rmSync(this.#lockPath, {force: true});
  }

  #parse(line: string, number: number): Event {
    try {
      return JSON.parse(line);
    } catch {
      throw new ServiceSetupError(
        `${this.#path}:${number} is not a line of state; move the file away to begin anew`,
      );
    }
  }

  /** A lock whose process is gone is nobody's. */
  #lock(): void {
    const holder = existsSync(this.#lockPath) ? Number(readFileSync(this.#lockPath, 'utf8')) : undefined;
    if (holder !== undefined && isRunning(holder)) {
      throw new ServiceSetupError(
        `${this.#folder} is in use by process ${holder}; if that is no such service, remove ${this.#lockPath}`,
      );
    }
    rmSync(this.#lockPath, {force: true});
    writeFileSync(this.#lockPath, String(process.pid), {flag: 'wx', mode: 0o600});
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
