import {rmSync} from 'node:fs';
import {type FileHandle, open} from 'node:fs/promises';
import {dirname} from 'node:path';
import {syncPath} from '../disk/replace.ts';
import {OutputError, systemCode, systemReason} from '../errors.ts';
import {say, set} from '../sentence.ts';

/** Receives text. `flush` writes out all text so far; a file's text is then durable. */
export interface Sink {
  write(text: string): Promise<void>;
  flush(): Promise<void>;
  close(): Promise<void>;
}

const WRITE_BYTES = 262_144;

/** A growing file. After a failed write or fsync, all later ones fail too. */
export class FileSink implements Sink {
  readonly #path: string;
  readonly #file: FileHandle;
  #waiting: string[] = [];
  #waitingLength = 0;
  #bytes = 0;
  #failed = false;

  private constructor(path: string, file: FileHandle) {
    this.#path = path;
    this.#file = file;
  }

  /**
   * Creates the file at `path` anew. Never follows a link.
   *
   * @throws {OutputError} if it can't be created or written.
   */
  static async create(path: string): Promise<FileSink> {
    let file: FileHandle | undefined;
    try {
      rmSync(path, {force: true});
      file = await open(path, 'wx', 0o600);
      // Syncs the new file's name in its directory: without the name, synced bytes are lost in a power cut.
      syncPath(dirname(path));
      return new FileSink(path, file);
    } catch (error) {
      await file?.close();
      throw unwritable(path, error);
    }
  }

  async write(text: string): Promise<void> {
    this.#waiting.push(text);
    this.#waitingLength += text.length;
    if (this.#waitingLength >= WRITE_BYTES) await this.#drain();
  }

  async flush(): Promise<void> {
    await this.#drain();
    await this.#guard(() => this.#file.datasync());
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  async #drain(): Promise<void> {
    const buffer = Buffer.from(this.#waiting.join(''));
    this.#waiting = [];
    this.#waitingLength = 0;
    let written = 0;
    while (written < buffer.length) {
      const result = await this.#guard(() =>
        this.#file.write(buffer, written, buffer.length - written, this.#bytes + written),
      );
      written += result.bytesWritten;
    }
    this.#bytes += written;
  }

  /**
   * Refuses work after a failure: a failed fsync may have dropped pages, and a retry would report success for them.
   */
  async #guard<T>(work: () => Promise<T>): Promise<T> {
    if (this.#failed) throw unwritable(this.#path, new Error('an earlier write failed'));
    try {
      return await work();
    } catch (error) {
      this.#failed = true;
      throw unwritable(this.#path, error);
    }
  }
}

/** A stream, such as stdout. Text can't be taken back from a stream. */
export class StreamSink implements Sink {
  readonly #stream: NodeJS.WritableStream;
  readonly #owned: boolean;
  #error: unknown;

  /** `owned`: true if `close` ends the stream; false for the process's stdout. */
  constructor(stream: NodeJS.WritableStream, owned: boolean) {
    this.#stream = stream;
    this.#owned = owned;
    stream.on('error', error => {
      this.#error = error;
    });
  }

  async write(text: string): Promise<void> {
    if (this.#error !== undefined) throw streamFailed(this.#error);
    await new Promise<void>((resolve, reject) => {
      this.#stream.write(text, error => (error ? reject(streamFailed(error)) : resolve()));
    });
  }

  async flush(): Promise<void> {}

  async close(): Promise<void> {
    if (!this.#owned || this.#error !== undefined) return;
    await new Promise<void>(resolve => this.#stream.end(resolve));
  }
}

function unwritable(path: string, error: unknown): OutputError {
  return new OutputError(
    'output_unwritable',
    `${path} can't be written (${systemReason(error)}). Fix the cause (disk space, permissions), then run the same command again: answers already paid for are kept.`,
    {cause: error},
  );
}

/** The error of a stream. If the reader closed the pipe, as `head` does, there is nothing to fix. */
function streamFailed(error: unknown): OutputError {
  const message =
    systemCode(error) === 'EPIPE'
      ? say`The reader closed the pipe (EPIPE), so the run stopped. To get all rows, write a file: ${set('output', 'FILE')}.`
      : `The output stream can't be written (${systemReason(error)}). Fix the cause, then run the same command again: it writes all rows anew.`;
  return new OutputError('output_unwritable', message, {cause: error});
}
