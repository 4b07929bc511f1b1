import {type Stats, statSync} from 'node:fs';
import {open} from 'node:fs/promises';
import {isPipe} from '../../disk/path.ts';
import {openPipeForReading} from '../../disk/pipe.ts';
import {folderError, InputError, missingFileError} from '../input-error.ts';

export interface RawInput {
  /** @throws {InputError} */
  readonly chunks: AsyncGenerator<Buffer>;
  /** The file's state when it was opened; undefined for an input that can be read only once. */
  readonly state: FileState | undefined;
  close(): void;
}

/** A file at one moment. A program that writes to the file, or replaces it, changes this. */
export interface FileState {
  readonly path: string;
  readonly size: number;
  /** Time of the last change, in milliseconds since the epoch. */
  readonly changedAt: number;
  readonly inode: number;
}

/** Undefined if the file is missing. */
export function fileState(
  path: string,
  stats: Stats | undefined = statSync(path, {throwIfNoEntry: false}),
): FileState | undefined {
  return stats && {path, size: stats.size, changedAt: stats.mtimeMs, inode: stats.ino};
}

/** Settings for inputs that can be read only once: stdin and pipes. */
export interface PipeSettings {
  readonly stdin: NodeJS.ReadableStream;
  /** Ends the reading of stdin and of pipes. */
  readonly signal?: AbortSignal | undefined;
  /** Called with a warning if a pipe has no writer. */
  readonly warn?: ((sentence: string) => void) | undefined;
}

export function isReadOnce(path: string): boolean {
  return path === '-' || isPipe(path);
}

/** Opens stdin or a pipe. @throws {InputError} `input_unreadable` */
export function openStdinOrPipe(path: string, {stdin, signal, warn}: PipeSettings): NodeJS.ReadableStream {
  const stream = path === '-' ? stdin : openWaiting(path, warn);
  const end = () => destroy(stream);
  if (signal?.aborted === true) end();
  signal?.addEventListener('abort', end, {once: true});
  return stream;
}

function openWaiting(path: string, warn: PipeSettings['warn']): NodeJS.ReadableStream {
  try {
    const {stream, hasWriter} = openPipeForReading(path);
    if (!hasWriter) warn?.(`The run waits until a program writes to the pipe ${path}.`);
    return stream;
  } catch (error) {
    throw readError(path, error);
  }
}

/**
 * Opens an input, and passes each chunk to `watch`.
 *
 * @throws {InputError} `input_missing` or `input_unreadable`
 */
export async function openRaw(
  path: string,
  {chunkSize, ...pipes}: PipeSettings & {readonly chunkSize: number},
  watch: (chunk: Buffer) => void,
): Promise<RawInput> {
  if (isReadOnce(path)) return rawOf(path === '-' ? 'stdin' : path, openStdinOrPipe(path, pipes), watch);
  try {
    const handle = await open(path, 'r');
    const status = await handle.stat();
    const stream = handle.createReadStream({highWaterMark: chunkSize});
    if (!status.isDirectory())
      return rawOf(path, stream, watch, status.isFile() ? fileState(path, status) : undefined);
    stream.destroy();
  } catch (error) {
    throw readError(path, error);
  }
  throw folderError(path);
}

function rawOf(
  name: string,
  stream: NodeJS.ReadableStream,
  watch: (chunk: Buffer) => void,
  state?: FileState,
): RawInput {
  async function* read() {
    try {
      for await (const chunk of stream) {
        const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
        watch(bytes);
        yield bytes;
      }
    } catch (error) {
      throw readError(name, error);
    }
  }
  return {chunks: read(), state, close: () => destroy(stream)};
}

function destroy(stream: NodeJS.ReadableStream): void {
  if ('destroy' in stream && typeof stream.destroy === 'function') stream.destroy();
}

function readError(path: string, error: unknown): InputError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  if (code === 'ENOENT' || code === 'ENOTDIR') return missingFileError(path, error);
  const why = code === 'EACCES' || code === 'EPERM' ? 'you have no permission to read it' : code;
  return new InputError('input_unreadable', `${path} can't be read: ${why}.`, {cause: error});
}
