import {createHash} from 'node:crypto';
import {rmSync} from 'node:fs';
import {type FileHandle, open} from 'node:fs/promises';
import {dirname} from 'node:path';
import type {Transform} from 'node:stream';
import {finished} from 'node:stream/promises';
import type {FileDigest} from '../disk/digest.ts';
import {syncDirectory} from '../disk/replace.ts';
import {OutputError, systemCode, systemReason} from '../errors.ts';
import {say, setting} from '../sentence.ts';

/** Receives text. `flush`: no text follows; it writes out all of it, and a file's text is then durable. */
export interface Sink {
  /** Digest of a file as it was written, after `flush`; undefined for a stream. */
  readonly digest?: FileDigest;
  write(text: string): Promise<void>;
  flush(): Promise<void>;
  close(): Promise<void>;
}

const WRITE_BYTES = 262_144;

/** A growing file. After a failed write or fsync, all later ones fail too. */
export class FileSink implements Sink {
  readonly #path: string;
  readonly #file: FileHandle;
  readonly #compressor: Compressor | undefined;
  readonly #hash = createHash('sha256');
  #waiting: string[] = [];
  #waitingLength = 0;
  #bytes = 0;
  #failed = false;

  private constructor(path: string, file: FileHandle, compressor: Compressor | undefined) {
    this.#path = path;
    this.#file = file;
    this.#compressor = compressor;
  }

  /**
   * Creates the file at `path` anew. Never follows a link. `engine`: compresses the text.
   *
   * @throws {OutputError} if it can't be created or written.
   */
  static async create(path: string, engine?: Transform): Promise<FileSink> {
    let file: FileHandle | undefined;
    try {
      rmSync(path, {force: true});
      file = await open(path, 'wx', 0o600);
      // Syncs the new file's name in its directory: without the name, synced bytes are lost in a power cut.
      syncDirectory(dirname(path));
      return new FileSink(path, file, engine && new Compressor(engine));
    } catch (error) {
      await file?.close();
      throw unwritable(path, error);
    }
  }

  get digest(): FileDigest {
    return {bytes: this.#bytes, sha256: this.#hash.copy().digest('hex')};
  }

  async write(text: string): Promise<void> {
    this.#waiting.push(text);
    this.#waitingLength += text.length;
    if (this.#waitingLength >= WRITE_BYTES) await this.#drain(false);
  }

  async flush(): Promise<void> {
    await this.#drain(true);
    await this.#guard(() => this.#file.datasync());
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  async #drain(isLast: boolean): Promise<void> {
    const text = Buffer.from(this.#waiting.join(''));
    this.#waiting = [];
    this.#waitingLength = 0;
    const buffer = await this.#guard(async () => (await this.#compressor?.add(text, isLast)) ?? text);
    let written = 0;
    while (written < buffer.length) {
      const result = await this.#guard(() =>
        this.#file.write(buffer, written, buffer.length - written, this.#bytes + written),
      );
      written += result.bytesWritten;
    }
    this.#bytes += written;
    this.#hash.update(buffer);
  }

  /** Refuses work after a failure: a failed fsync may have dropped pages, and a retry would report success for them. */
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

/** Compresses text. Its engine gets blocks of one size, so that equal texts give equal bytes, in whatever parts they come. */
class Compressor {
  readonly #engine: Transform;
  readonly #compressed: Buffer[] = [];
  #unread = Buffer.alloc(0);

  constructor(engine: Transform) {
    this.#engine = engine;
    engine.on('data', (bytes: Buffer) => this.#compressed.push(bytes));
    // Each caller gets the error of its own call.
    engine.on('error', () => {});
  }

  /** The compressed bytes that are ready; after the last text, all that are left. */
  async add(text: Buffer, isLast: boolean): Promise<Buffer> {
    this.#unread = Buffer.concat([this.#unread, text]);
    for (; this.#unread.length >= WRITE_BYTES; this.#unread = this.#unread.subarray(WRITE_BYTES)) {
      const block = this.#unread.subarray(0, WRITE_BYTES);
      await new Promise<void>((resolve, reject) => {
        this.#engine.write(block, error => (error ? reject(error) : resolve()));
      });
    }
    if (isLast) {
      this.#engine.end(this.#unread);
      await finished(this.#engine);
    }
    return Buffer.concat(this.#compressed.splice(0));
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
      ? say`The reader closed the pipe (EPIPE), so the run stopped. To get all rows, write a file: ${setting('output', 'FILE')}.`
      : `The output stream can't be written (${systemReason(error)}). Fix the cause, then run the same command again: it writes all rows anew.`;
  return new OutputError('output_unwritable', message, {cause: error});
}
