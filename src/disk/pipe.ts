import {closeSync, constants, createWriteStream, openSync, readSync, writeSync} from 'node:fs';
import {Socket} from 'node:net';
import {systemCode} from '../errors.ts';
import {isPipe} from './path.ts';

/**
 * Flag to open pipes and devices at once, even if no process has opened the other end. Without the flag, a
 * thread waits for the other end. This wait can't be cancelled, and keeps a signal from ending the process.
 */
const AT_ONCE = constants.O_NONBLOCK ?? 0;

export interface OpenedPipe {
  readonly stream: Socket;
  /** False if no process seems to have the pipe open for writing yet. */
  readonly hasWriter: boolean;
}

/**
 * Opens a pipe for reading: a named pipe, or a pipe that this process inherited (`/dev/stdin`, `/dev/fd/3`).
 *
 * @throws the system's error.
 */
export function openPipe(path: string): OpenedPipe {
  const file = openSync(path, constants.O_RDONLY | AT_ONCE);
  const first = firstBytes(file);
  const stream = new Socket({fd: file, readable: true, writable: false});
  if (first !== undefined && first.length > 0) stream.unshift(first);
  return {stream, hasWriter: first?.length !== 0};
}

const PROBE_BYTES = 65_536;

/** The bytes in a pipe now. Empty if no process has it open for writing; undefined if a writer wrote none yet. */
function firstBytes(file: number): Buffer | undefined {
  const bytes = Buffer.alloc(PROBE_BYTES);
  try {
    return bytes.subarray(0, readSync(file, bytes));
  } catch (error) {
    if (systemCode(error) === 'EAGAIN') return undefined;
    closeSync(file);
    throw error;
  }
}

/**
 * Opens a pipe or device to write rows to.
 *
 * @throws the system's error; ENXIO for a pipe without a reader.
 */
export function openStream(path: string): NodeJS.WritableStream {
  if (!isPipe(path)) return createWriteStream(path);
  const file = openSync(path, constants.O_WRONLY | AT_ONCE);
  return new Socket({fd: file, readable: false, writable: true});
}

/** Writes all of a text to a pipe or device. Throws EAGAIN if its reader accepts nothing for 5 s. */
export function writeStream(path: string, text: string | Buffer): void {
  const file = openSync(path, constants.O_WRONLY | AT_ONCE);
  try {
    let left: Buffer = Buffer.from(text);
    for (let waited = 0; left.length > 0; ) {
      const written = writtenOf(file, left);
      left = left.subarray(written);
      if (written > 0) waited = 0;
      else if (waited >= PATIENCE_MS) throw Object.assign(new Error('no reader'), {code: 'EAGAIN'});
      else waited += wait();
    }
  } finally {
    closeSync(file);
  }
}

const PATIENCE_MS = 5_000;
const LOOK_EVERY_MS = 20;

/** Writes the bytes that a stream accepts now, and returns their number. */
function writtenOf(file: number, bytes: Buffer): number {
  try {
    return writeSync(file, bytes);
  } catch (error) {
    if (systemCode(error) === 'EAGAIN') return 0;
    throw error;
  }
}

function wait(): number {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_EVERY_MS);
  return LOOK_EVERY_MS;
}
