import {PassThrough} from 'node:stream';
import zlib, {gzipSync} from 'node:zlib';
import {describe, expect, it} from 'vitest';
import {decompress, decompressors} from '../../src/input/bytes/decompress.ts';
import {compressions, formatByName} from '../../src/job/file-names.ts';
import {failureOf, fieldsOf, readAll, readBytes, useFiles} from './reading.ts';

const write = useFiles();
const ZSTD = Buffer.from('28b52ffd', 'hex');

async function* chunked(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function collect(chunks: AsyncIterable<Buffer>): Promise<string> {
  const all: Buffer[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all).toString();
}

describe('gzip', () => {
  it('is known by its first bytes, not by its name', async () => {
    const text = 'a,b\n1,2\n';
    for (const path of [write('a.csv', gzipSync(text)), write('a.csv.gz', text)])
      expect(fieldsOf((await readAll(path)).records)).toEqual([['1', '2']]);
  });

  it.each([1, 3, 1 << 16])('may have several members, in chunks of %i', async size => {
    const bytes = Buffer.concat([gzipSync('a,b\n1,'), gzipSync('2\n3,4\n')]);
    const {records} = await readBytes(bytes, {}, size);
    expect(fieldsOf(records).join('|')).toBe('1,2|3,4');
  });

  it.each([16, 100_000])('may be padded with %i zeros, which are a part of the input', async zeros => {
    const bytes = Buffer.concat([gzipSync('a,b\n1,2\n'), Buffer.alloc(zeros)]);
    const {records, position} = await readBytes(bytes, {}, 1_000);
    expect(records).toHaveLength(1);
    expect(position.bytes).toBe(bytes.length);
  });

  it.each([
    ['cut off', (bytes: Buffer) => bytes.subarray(0, -20)],
    ['cut off in its head', (bytes: Buffer) => bytes.subarray(0, 5)],
    ['damaged', (bytes: Buffer) => bytes.fill(0xff, 1_000)],
    ['followed by rubbish', (bytes: Buffer) => Buffer.concat([bytes, Buffer.from('rubbish')])],
  ])('that is %s is an error', async (_, spoil) => {
    const rows = Array.from({length: 5_000}, (_, i) => `${i},${i * 7919}\n`).join('');
    const path = write('list.csv.gz', spoil(gzipSync(`a,b\n${rows}`)));
    const {code, message} = await failureOf(readAll(path, {chunkSize: 1_000}));
    expect(code).toBe('input_corrupt');
    for (const part of [path, 'gzip -t']) expect(message).toContain(part);
  });
});

describe('zstd', () => {
  it('is read where there is a decompressor', async () => {
    // A stand-in that passes its input: which engine is asked is what matters here.
    const bytes = Buffer.concat([ZSTD, Buffer.from(' text')]);
    const known = {...decompressors, zstd: {...decompressors.zstd, engine: () => new PassThrough()}};
    const text = await collect(decompress(chunked(bytes, 2), 'a.zst', 10, known));
    expect(text).toBe(bytes.toString());
  });

  it.skipIf(decompressors.zstd.engine !== undefined)(
    'is refused with advice if this Node can’t decompress it',
    async () => {
      const error = await failureOf(readAll(write('a.csv.zst', Buffer.concat([ZSTD, Buffer.alloc(10)]))));
      expect(error.code).toBe('input_compression');
      expect(error.message).toContain('Node >= 24');
      expect(error.remedy.pipe).toEqual({command: 'zstd -dc', input: expect.stringMatching(/a\.csv\.zst$/)});
    },
  );

  it.runIf(decompressors.zstd.engine !== undefined)('is read by this Node', async () => {
    const compress: unknown = Reflect.get(zlib, 'zstdCompressSync');
    const bytes: Buffer = (compress as (text: string) => Buffer)('a,b\n1,2\n');
    expect(fieldsOf((await readBytes(bytes)).records)).toEqual([['1', '2']]);
    const error = await failureOf(readBytes(bytes.subarray(0, -3)));
    expect(error.code).toBe('input_corrupt');
  });
});

it.each([...compressions.keys()])('a name that ends in .tsv.%s is of a TSV file', ending => {
  expect(formatByName(`list.tsv.${ending}`)).toBe('tsv');
});
