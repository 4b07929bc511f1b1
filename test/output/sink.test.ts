import {mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import {type FileHandle, open} from 'node:fs/promises';
import {PassThrough, Writable} from 'node:stream';
import zlib, {createGzip, gunzipSync} from 'node:zlib';
import {afterEach, describe, expect, test, vi} from 'vitest';
import {digestFiles} from '../../src/disk/digest.ts';
import {inputHeaderLine} from '../../src/output/csv-line.ts';
import {writeWholeFile} from '../../src/output/earlier/whole-file.ts';
import {FileSink, StreamSink} from '../../src/output/sink.ts';
import {newDirectory} from '../support/new-directory.ts';
import {csvInput, ndjsonInput} from './formats.ts';

const within = newDirectory();

const at = (name: string) => within(name);
const read = (name: string) => readFileSync(at(name), 'utf8');

async function written(name: string, ...texts: readonly string[]) {
  return await writtenBy(await FileSink.create(at(name)), texts);
}

async function writtenBy(sink: FileSink, texts: readonly string[]) {
  try {
    for (const text of texts) await sink.write(text);
    await sink.flush();
    return sink.digest;
  } finally {
    await sink.close();
  }
}

describe('a file of rows', () => {
  test('is for its owner alone, and takes the place of an earlier one', async () => {
    writeFileSync(at('out.csv'), 'longer than what follows\n');
    await written('out.csv', 'ü\n', '1\n');
    expect(read('out.csv')).toBe('ü\n1\n');
    expect(statSync(at('out.csv')).mode & 0o777).toBe(0o600);
  });

  test('is no link: what a link names is never written to', async () => {
    writeFileSync(at('other'), 'mine and mine\n');
    symlinkSync(at('other'), at('out.csv'));
    await written('out.csv', 'a\n');
    expect([read('other'), read('out.csv')]).toEqual(['mine and mine\n', 'a\n']);
  });
});

const packings = [
  ['gzip', createGzip, gunzipSync],
  ['zstd', Reflect.get(zlib, 'createZstdCompress'), Reflect.get(zlib, 'zstdDecompressSync')],
] as const;

test.each(packings.filter(([, engine]) => engine !== undefined))(
  'a file in %s has equal bytes for equal texts, in whatever parts they come, and their digest',
  async (_, engine, unpack) => {
    const text = Array.from({length: 60_000}, (_, row) => `192.0.2.${row % 250},${row * 7_919}ü\n`).join('');
    const inParts = (size: number) =>
      Array.from({length: Math.ceil(text.length / size)}, (_, n) => text.slice(n * size, (n + 1) * size));
    const files: Buffer[] = [];
    for (const parts of [[text], inParts(100_000), inParts(777), [text, '']]) {
      const digest = await writtenBy(await FileSink.create(at('out'), engine()), parts);
      expect(digest).toEqual(await digestFiles([at('out')]));
      files.push(readFileSync(at('out')));
    }
    expect(files.map(file => file.equals(files[0] as Buffer))).toEqual([true, true, true, true]);
    expect(unpack(files[0] as Buffer).toString()).toBe(text);
  },
);

/** The prototype of file handles, so that a test can replace methods. */
async function handles(): Promise<FileHandle> {
  await using handle = await open(at('any'), 'w');
  return Object.getPrototypeOf(handle) as FileHandle;
}

describe('a disk', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test('that takes a part of a text at a time gets the rest, too', async () => {
    const prototype = await handles();
    const write = prototype.write as (...args: unknown[]) => Promise<{bytesWritten: number}>;
    vi.spyOn(prototype, 'write').mockImplementation(function (this: FileHandle, ...args: unknown[]) {
      const [buffer, from, length, to] = args;
      return write.call(this, buffer, from, Math.min(Number(length), 3), to) as never;
    });
    await written('out.csv', 'aü\n', 'b,c,d\n');
    expect(read('out.csv')).toBe('aü\nb,c,d\n');
  });

  test('that failed once is not asked again: what it dropped would seem to be written', async () => {
    const prototype = await handles();
    const sink = await FileSink.create(at('out.csv'));
    const full = Object.assign(new Error('EIO: i/o error'), {code: 'EIO'});
    vi.spyOn(prototype, 'datasync').mockRejectedValueOnce(full);
    await sink.write('a\n');
    for (let times = 0; times < 2; times += 1)
      await expect(sink.flush()).rejects.toMatchObject({code: 'output_unwritable'});
    await sink.close();
  });
});

describe('a stream of rows', () => {
  test('is ended only by the run that opened it', async () => {
    for (const owned of [true, false]) {
      const stream = new PassThrough();
      const sink = new StreamSink(stream, owned);
      await sink.write('a\n');
      expect(await sink.flush()).toBeUndefined();
      const closed = sink.close();
      stream.resume();
      await closed;
      expect(stream.writableEnded).toBe(owned);
    }
  });

  test.each([
    ['EPIPE', 'The reader closed the pipe'],
    ['ENOSPC', "stream can't be written (ENOSPC, no space left). Fix the cause, then run the same"],
  ])('that fails with %s fails for good', async (code, said) => {
    const failure = Object.assign(new Error(code), {code});
    const sink = new StreamSink(new Writable({write: (_, __, done) => done(failure)}), true);
    const refused = {code: 'output_unwritable', message: expect.stringContaining(said)};
    for (const text of ['a\n', 'b\n']) await expect(sink.write(text)).rejects.toMatchObject(refused);
    await sink.close();
  });
});

describe('a whole file', () => {
  test('takes the place of the last one only when it is complete', async () => {
    writeFileSync(at('changes.csv'), 'before\n');
    async function* texts() {
      yield 'a\n';
      expect(read('changes.csv')).toBe('before\n');
      yield 'b\n';
    }
    await writeWholeFile(at('changes.csv'), texts());
    expect([readdirSync(within()), read('changes.csv')]).toEqual([['changes.csv'], 'a\nb\n']);
  });

  test('that ends early leaves the last one, and nothing beside it', async () => {
    writeFileSync(at('changes.csv'), 'before\n');
    function* texts() {
      yield 'a\n';
      throw new Error('stop');
    }
    await expect(writeWholeFile(at('changes.csv'), texts())).rejects.toThrow('stop');
    expect([readdirSync(within()), read('changes.csv')]).toEqual([['changes.csv'], 'before\n']);
  });

  test('is written in the directory of a run, so the next one removes what a kill left, and two at once are refused', async () => {
    mkdirSync(at('changes.csv.run'), {mode: 0o700});
    writeFileSync(at('changes.csv.run/output.partial'), 'left by a kill');
    async function* texts() {
      yield 'a\n';
      await expect(writeWholeFile(at('changes.csv'), [])).rejects.toMatchObject({code: 'locked'});
    }
    await writeWholeFile(at('changes.csv'), texts());
    expect([readdirSync(within()), read('changes.csv')]).toEqual([['changes.csv'], 'a\n']);
  });

  test('leaves the state of an unfinished run', async () => {
    mkdirSync(at('changes.csv.run'), {mode: 0o700});
    writeFileSync(at('changes.csv.run/ledger.db'), '');
    await writeWholeFile(at('changes.csv'), ['a\n']);
    expect(readdirSync(at('changes.csv.run'))).toContain('ledger.db');
  });

  test('that can’t be written is named as the user named it', async () => {
    const path = at('missing/changes.csv');
    const message = expect.stringContaining(`${path} can't be written`);
    const refused = {code: 'output_unwritable', message};
    await expect(writeWholeFile(path, ['a\n'])).rejects.toMatchObject(refused);
    expect(readdirSync(within())).toEqual([]);
  });
});

describe('rejected rows', () => {
  test('have the header as the list has it', () => {
    const input = csvInput(['IP', 'IP', 'a;b'], {columns: ['IP', 'IP#2', 'a;b'], delimiter: ';'});
    expect(inputHeaderLine(input)).toBe('IP;IP;"a;b"\n');
    expect(inputHeaderLine(csvInput(['column_1'], {header: undefined}))).toBe('');
    expect(inputHeaderLine(ndjsonInput(['ip']))).toBe('');
  });
});
