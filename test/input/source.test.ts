import {createHash} from 'node:crypto';
import {appendFileSync, chmodSync, cpSync, renameSync, rmSync, utimesSync, writeFileSync} from 'node:fs';
import {PassThrough} from 'node:stream';
import {gzipSync} from 'node:zlib';
import {describe, expect, it} from 'vitest';
import {openRecordSource} from '../../src/input/source.ts';
import {DEFAULTS, failureOf, fieldsOf, readAll, readBytes, streamOf, useFiles} from './reading.ts';

const write = useFiles();
const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');
const table = (rows: number, from = 1) =>
  `ip,n\n${Array.from({length: rows}, (_, i) => `192.0.2.${(from + i) % 256},${from + i}\n`).join('')}`;

const LONG_ROW = `${'x'.repeat(2_000)},1\n`;

describe('a source', () => {
  it('reads several files as one input', async () => {
    const [a, b] = [write('a.csv', table(3)), write('b.csv.gz', gzipSync(table(2, 4)))];
    const {records, bytesTotal, position} = await readAll([a, b]);
    expect(fieldsOf(records).map(([, n]) => n)).toEqual(['1', '2', '3', '4', '5']);
    expect(records.map(({record}) => record)).toEqual([1, 2, 3, 4, 5]);
    expect(records.map(({line}) => line)).toEqual([2, 3, 4, 2, 3]);
    const bytes = Buffer.concat([Buffer.from(table(3)), gzipSync(table(2, 4))]);
    expect(bytesTotal).toBe(bytes.length);
    expect(position).toEqual({bytes: bytes.length, sha256: sha256(bytes)});
  });

  it('says with each batch how far it has read', async () => {
    const text = table(20_000);
    const paths = [write('a.csv', text)];
    const source = await openRecordSource({...DEFAULTS, paths, chunkSize: 32 * 1024});
    const reached = [];
    for await (const _ of source.batches()) reached.push(source.position);
    expect(reached.length).toBeGreaterThan(5);
    for (const {bytes, sha256: hash} of reached) expect(hash).toBe(sha256(text.slice(0, bytes)));
    expect(source.position.bytes).toBe(text.length);
  });

  it('shows the first 1,000 records, and delivers them too', async () => {
    const {sample, records} = await readAll(write('a.csv', table(2_500)), {chunkSize: 10_000});
    expect(sample).toHaveLength(1_000);
    expect(records.slice(0, 1_000)).toEqual(sample);
    expect(records).toHaveLength(2_500);
  });

  it.each([
    ['one row', '"abc\n', /a\.csv has no header, and none of its first rows .* \(unclosed_quote.*line 1\)/],
    ['1,000 rows', LONG_ROW.repeat(1_000), /none of its first rows .* \(too_large.*line 1\)/],
    ['blank lines', '\n\n', /a\.csv has only blank lines/],
  ])('without a header or a readable row is refused with what is wrong: %s', async (_, text, sentence) => {
    const path = write('a.csv', text);
    const refused = {name: 'InputError', message: expect.stringMatching(sentence)};
    for (const paths of [[path], [write('first.csv', '1,2\n'), path]])
      expect(await failureOf(readAll(paths, {header: false, maxRecordSize: 1_024}))).toMatchObject(refused);
  });

  it('keeps the sample small where records are long', async () => {
    const row = `${'x'.repeat(500_000)},1\n`;
    const {sample, records} = await readAll(write('a.csv', `ip,n\n${row.repeat(20)}`));
    expect(records).toHaveLength(20);
    expect(sample).toHaveLength(17);
  });

  it('knows no total for stdin', async () => {
    expect((await readBytes(table(1))).bytesTotal).toBeUndefined();
  });

  it('can be closed while stdin says nothing', async () => {
    const stdin = new PassThrough();
    stdin.write(table(20_000));
    const source = await openRecordSource({...DEFAULTS, paths: ['-'], stdin});
    const batches = source.batches();
    await batches.next();
    const waiting = batches.next();
    await source.close();
    await source.close();
    expect(stdin.destroyed).toBe(true);
    expect((await waiting).done).toBe(true);
  });
});

describe('formats', () => {
  it.each([
    ['a.csv', '{a,b}\n', 'csv'],
    ['a.txt', '{a,b}\n', 'csv'],
    ['a.jsonl', 'oops\n{"a":1}\n', 'ndjson'],
    ['a.jsonl.gz', 'oops\n{"a":1}\n', 'ndjson'],
    ['a.txt', '{"a":1}\n', 'ndjson'],
    ['a.json', ' {"a":1}\n', 'ndjson'],
    ['a', 'x,y\n', 'csv'],
  ])('%s holding %j is %s', async (name, text, kind) => {
    expect((await readAll(write(name, text))).format.kind).toBe(kind);
  });

  it.each(['a.tab', 'a.TSV', 'a.tsv.gz'])('%s has tabs, whatever its header holds', async name => {
    const text = 'a,b\tc,d\n1,2\t3,4\n';
    const {format} = await readAll(write(name, name.endsWith('gz') ? gzipSync(text) : text));
    expect(format).toMatchObject({columns: ['a,b', 'c,d'], delimiter: '\t'});
  });

  it('takes a setting before the name', async () => {
    const {format} = await readAll(write('a.csv', '{"a":1}\n'), {inputFormat: 'ndjson'});
    expect(format.kind).toBe('ndjson');
  });
});

describe('errors', () => {
  it('a missing second file, before anything is delivered', async () => {
    const opened = openRecordSource({...DEFAULTS, paths: [write('a.csv', table(1)), 'nowhere.csv']});
    expect((await failureOf(opened)).code).toBe('input_missing');
  });

  it.skipIf(process.getuid?.() === 0)('a file without permission', async () => {
    const path = write('a.csv', table(1));
    chmodSync(path, 0);
    const {code, message} = await failureOf(readAll(path));
    expect([code, message]).toEqual(['input_unreadable', expect.stringContaining('permission')]);
  });

  it('a stream that fails', async () => {
    const stdin = new PassThrough();
    stdin.destroy(Object.assign(new Error('read EIO'), {code: 'EIO'}));
    const error = await failureOf(readAll('-', {stdin}));
    expect(error).toMatchObject({code: 'input_unreadable', cause: expect.any(Error)});
    expect(error.message).toContain('EIO');
  });

  it.each([
    ['', 'a.csv'],
    ['', 'a.ndjson'],
    ['\ufeff', 'a.csv'],
    ['\u001a', 'a.csv'],
    [gzipSync(''), 'a.csv.gz'],
  ])('no bytes: %j as %s', async (content, name) => {
    expect((await failureOf(readAll(write(name, content)))).code).toBe('input_empty');
  });

  it.each([
    [`${'\0\x01'.repeat(100)}`, 'binary'],
    ['%PDF-1.7\n', 'PDF'],
    [gzipSync(gzipSync('a,b\n1,2\n')), 'compressed twice, with gzip within'],
    [Buffer.from(`ip,n\n192.0.2.1,a\n${[...'192.0.2.2,b\r\n', ''].join('\0')}`), 'from line 3 on'],
  ])('no text: %j', async (content, word) => {
    const {code, message} = await failureOf(readAll(write('list.xlsx', content)));
    expect([code, message]).toEqual(['input_binary', expect.stringContaining(word)]);
  });

  it.each([
    ['a,b\n', 'a,c\n', 'column 2 is "b" in'],
    ['a,b\n', 'a,b,c\n', 'has 2 columns'],
    ['a,b,c\n', 'a,b\n', 'has 3 columns'],
    ['a,b\n', '{"a":1}\n', 'is NDJSON'],
  ])('headers that differ: %j and %j', async (first, second, difference) => {
    const [a, b] = [write('a', first), write('b', second)];
    const error = await failureOf(openRecordSource({...DEFAULTS, paths: [a, b]}));
    expect(error.code).toBe('input_headers_differ');
    for (const part of [a, b, difference]) expect(error.message).toContain(part);
  });

  it('headers that differ from those on stdin, before a row is delivered', async () => {
    const stdin = streamOf(Buffer.from(table(5_000)), 4_096);
    const opened = openRecordSource({...DEFAULTS, paths: ['-', write('b.csv', 'x,y\n')], stdin});
    expect((await failureOf(opened)).code).toBe('input_headers_differ');
  });

  it('headers that differ on stdin, which is looked at when its turn comes', async () => {
    const stdin = streamOf(Buffer.from('x,y\n'), 2);
    const error = await failureOf(readAll([write('a.csv', table(1)), '-'], {stdin}));
    expect(error.code).toBe('input_headers_differ');
  });
});

describe('a file that is written to', () => {
  function replace(path: string) {
    const other = `${path}.other`;
    cpSync(path, other, {preserveTimestamps: true});
    renameSync(other, path);
  }

  it.each([
    ['is appended to', (path: string) => appendFileSync(path, '192.0.2.7,last\n'), true],
    ['is written over', (path: string) => writeFileSync(path, table(20_000, 9)), true],
    ['is touched', (path: string) => utimesSync(path, new Date(0), new Date(0)), true],
    ['is replaced', replace, true],
    // It was read as it was, by the handle that was open.
    ['is removed', (path: string) => rmSync(path), false],
    ['stays as it was', () => {}, false],
  ])('tells at its end whether it %s', async (_, change, expected) => {
    const paths = [write('a.csv', table(20_000)), write('b.csv', table(20_000))];
    for (const changed of paths) {
      const source = await openRecordSource({...DEFAULTS, paths, chunkSize: 8_192});
      let records = 0;
      for await (const batch of source.batches()) {
        if (records === 0) expect(source.isChanged).toBe(false);
        records += batch.length;
        if (records > 30_000 && records - batch.length <= 30_000) change(changed);
      }
      expect([records >= 40_000, source.isChanged]).toEqual([true, expected]);
      writeFileSync(changed, table(20_000));
    }
  });
});
