import {closeSync, constants, createWriteStream, openSync, readSync, writeSync} from 'node:fs';
import {Socket} from 'node:net';
import {systemCode} from '../errors.ts';
import {isPipe} from './path.ts';

/** Without this flag, a thread waits for a pipe's other end. The wait can't be cancelled, not even by a signal. */
const AT_ONCE = constants.O_NONBLOCK ?? 0;

const PROBE_BYTES = 65_536;

/**
 * Opens a named pipe, or one that this process inherited (`/dev/stdin`, `/dev/fd/3`). `hasWriter`: false if no process
 * seems to have opened it for writing yet.
 *
 * @throws the system's error.
 */
export function openPipeForReading(path: string): {readonly stream: Socket; readonly hasWriter: boolean} {
  const file = openSync(path, constants.O_RDONLY | AT_ONCE);
  const bytes = Buffer.alloc(PROBE_BYTES);
  try {
    // Without a writer, the pipe is at its end.
    const first = unlessFull(() => readSync(file, bytes));
    const stream = new Socket({fd: file, readable: true, writable: false});
    if (first !== undefined && first > 0) stream.unshift(bytes.subarray(0, first));
    return {stream, hasWriter: first !== 0};
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/**
 * Opens a pipe or device to write rows to.
 *
 * @throws the system's error; ENXIO for a pipe without a reader.
 */
export function openStreamForWriting(path: string): NodeJS.WritableStream {
  if (!isPipe(path)) return createWriteStream(path);
  const file = openSync(path, constants.O_WRONLY | AT_ONCE);
  return new Socket({fd: file, readable: false, writable: true});
}

const PATIENCE_MS = 5_000;
const LOOK_EVERY_MS = 20;

/** Writes all of a text to a pipe or device. Throws EAGAIN if its reader accepts nothing for 5 s. */
export function writeToPipe(path: string, text: string | Buffer): void {
  const file = openSync(path, constants.O_WRONLY | AT_ONCE);
  try {
    const bytes = Buffer.from(text);
    let waited = 0;
    for (let done = 0; done < bytes.length; ) {
      const written = unlessFull(() => writeSync(file, bytes, done)) ?? 0;
      done += written;
      if (written > 0) waited = 0;
      else if (waited >= PATIENCE_MS) throw Object.assign(new Error('no reader'), {code: 'EAGAIN'});
      else {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_EVERY_MS);
        waited += LOOK_EVERY_MS;
      }
    }
  } finally {
    closeSync(file);
  }
}

/** The result of `work`; undefined if the other end of the pipe has written or read nothing. */
function unlessFull(work: () => number): number | undefined {
  try {
    return work();
  } catch (error) {
    if (systemCode(error) === 'EAGAIN') return undefined;
    throw error;
  }
}
