import {execFileSync} from 'node:child_process';
import {once} from 'node:events';
import {closeSync, constants, openSync, writeSync} from 'node:fs';
import {text} from 'node:stream/consumers';
import {Worker} from 'node:worker_threads';
import {beforeEach, describe, expect, test} from 'vitest';
import {openPipeForReading, writeToPipe} from '../../src/disk/pipe.ts';
import {newDirectory} from '../support/new-directory.ts';

/** Reads a pipe that is open already, from its first byte to its end, and tells the text. */
const READER = `
  const {parentPort, workerData} = require('node:worker_threads');
  const {readSync} = require('node:fs');
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const block = Buffer.alloc(50_000);
  let text = '';
  for (;;) {
    let bytes;
    try {
      bytes = readSync(workerData, block);
    } catch {}
    if (bytes === 0 && text !== '') break;
    if (bytes > 0) text += block.toString('latin1', 0, bytes);
    else Atomics.wait(pause, 0, 0, 1);
  }
  parentPort.postMessage(text);`;

describe.skipIf(process.platform === 'win32')('a named pipe', () => {
  const at = newDirectory();
  let path: string;
  beforeEach(() => {
    path = at('pipe');
    execFileSync('mkfifo', [path]);
  });

  test('gets all of a text, also where its reader is slower', async () => {
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const thread = new Worker(READER, {eval: true, workerData: reader});
    const heard = once(thread, 'message');
    const lines = Array.from({length: 60_000}, (_, n) => `row ${n}\n`).join('');
    writeToPipe(path, lines);
    const [got] = await heard;
    expect(got === lines).toBe(true);
    closeSync(reader);
  });

  test('without a reader takes no text', () => {
    expect(() => writeToPipe(path, 'x')).toThrow(expect.objectContaining({code: 'ENXIO'}));
  });

  test('tells if a process writes to it, and is read from its first byte', async () => {
    const {stream, hasWriter} = openPipeForReading(path);
    expect(hasWriter).toBe(false);
    const silent = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    const second = openPipeForReading(path);
    expect(second.hasWriter).toBe(true);
    second.stream.destroy();
    stream.destroy();
    await Promise.all([once(stream, 'close'), once(second.stream, 'close')]);
    const third = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    writeSync(silent, 'ip\n192.0.2.1\n');
    const reading = openPipeForReading(path);
    expect(reading.hasWriter).toBe(true);
    writeSync(silent, '192.0.2.2\n');
    closeSync(silent);
    expect(await text(reading.stream)).toBe('ip\n192.0.2.1\n192.0.2.2\n');
    closeSync(third);
  });
});
