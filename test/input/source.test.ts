import {createHash} from 'node:crypto';
import {chmodSync, mkdtempSync, rmdirSync, utimesSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {PassThrough} from 'node:stream';
import {gzipSync} from 'node:zlib';
import {describe, expect, it} from 'vitest';
import type {InputRecord} from '../../src/input/row.ts';
import {openSource} from '../../src/input/source.ts';
import {failureOf, fieldsOf, readAll, readBytes, streamOf, useFiles} from './reading.ts';

const write = useFiles();
const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');
const table = (rows: number, from = 1) =>
  `ip,n\n${Array.from({length: rows}, (_, i) => `192.0.2.${(from + i) % 256},${from + i}\n`).join('')}`;

describe('a source', () => {
  it('names the keys of NDJSON in the order in which they first appear', async () => {
    const {format} = await readAll(
      write('a.ndjson', '{"ip":1,"10":2,"2":3}\n{"1":4,"__proto__":5,"ip":6}\n'),
    );
    expect(format.columns).toEqual(['ip', '10', '2', '1', '__proto__']);
  });

  it('reads several files as one input', async () => {
    const [a, b] = [write('a.csv', table(3)), write('b.csv.gz', gzipSync(table(2, 4)))];
    const {records, bytesTotal, position} = await readAll([a, b]);
    expect(fieldsOf(records).map(([, n]) => n)).toEqual(['1', '2', '3', '4', '5']);
    expect(records.map(({record, line}) => [record, line])).toEqual([
      [1, 2],
      [2, 3],
      [3, 4],
      [4, 2],
      [5, 3],
    ]);
    const bytes = Buffer.concat([Buffer.from(table(3)), gzipSync(table(2, 4))]);
    expect(bytesTotal).toBe(bytes.length);
    expect(position).toEqual({bytes: bytes.length, sha256: sha256(bytes)});
  });

  it('says with each batch how far it had read', async () => {
    const text = table(20_000);
    const {batches} = await readAll(write('a.csv', text), {chunkSize: 32 * 1024});
    expect(batches.length).toBeGreaterThan(5);
    for (const {position} of batches) {
      expect(position.sha256).toBe(sha256(text.slice(0, position.bytes)));
    }
    expect(batches.at(-1)?.position.bytes).toBe(text.length);
  });

  it('shows the first 1,000 records, and delivers them too', async () => {
    const {sample, records} = await readAll(write('a.csv', table(2_500)), {chunkSize: 10_000});
    expect(sample).toHaveLength(1_000);
    expect(records.slice(0, 1_000)).toEqual(sample);
    expect(records).toHaveLength(2_500);
  });

  it.each([
    [
      'one row',
      '"abc\n',
      /a\.csv has no header, and none of its first rows can be read \(unclosed_quote.*line 1\)/,
    ],
    [
      '1,000 rows',
      `${'x'.repeat(2_000)},1\n`.repeat(1_000),
      /none of its first rows can be read \(too_large.*line 1\)/,
    ],
    ['blank lines', '\n\n', /a\.csv has only blank lines/],
  ])('without a header or a readable row is refused with what is wrong: %s', async (_, text, sentence) => {
    const failure = await failureOf(readAll(write('a.csv', text), {header: false, maxRecordSize: 1_024}));
    expect(failure).toMatchObject({name: 'InputError', message: expect.stringMatching(sentence)});
    const second = await failureOf(
      readAll([write('first.csv', '1,2\n'), write('a.csv', text)], {
        header: false,
        maxRecordSize: 1_024,
      }),
    );
    expect(second).toMatchObject({name: 'InputError', message: expect.stringMatching(sentence)});
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
    const source = await openSource({
      paths: ['-'],
      header: true,
      encoding: 'auto',
      maxRecordSize: 1024,
      stdin,
    });
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
    expect((await readAll(write(name, name.endsWith('gz') ? gzipSync(text) : text))).format).toMatchObject({
      columns: ['a,b', 'c,d'],
      delimiter: '\t',
    });
  });

  it('takes a .tsv as it says, and a setting before the name', async () => {
    expect((await readAll(write('a.tsv', 'a,b\tc,d\n'))).format.columns).toEqual(['a,b', 'c,d']);
    const {format} = await readAll(write('a.csv', '{"a":1}\n'), {inputFormat: 'ndjson'});
    expect(format.kind).toBe('ndjson');
  });
});

describe('errors', () => {
  it('a missing file', async () => {
    const error = await failureOf(readAll('nowhere/list.csv'));
    expect(error).toMatchObject({name: 'InputError', code: 'input_missing'});
    expect(error.message).toContain('nowhere/list.csv');
  });

  it('a missing second file, before anything is delivered', async () => {
    const opened = openSource({
      paths: [write('a.csv', table(1)), 'nowhere.csv'],
      header: true,
      encoding: 'auto',
      maxRecordSize: 1024,
    });
    expect((await failureOf(opened)).code).toBe('input_missing');
  });

  it('a directory', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bulk-enrich-input-'));
    const error = await failureOf(readAll(folder));
    rmdirSync(folder);
    expect(error.code).toBe('input_unreadable');
  });

  it.skipIf(process.getuid?.() === 0)('a file without permission', async () => {
    const path = write('a.csv', table(1));
    chmodSync(path, 0);
    const error = await failureOf(readAll(path));
    expect(error.code).toBe('input_unreadable');
    expect(error.message).toContain('permission');
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
    [gzipSync(''), 'a.csv.gz'],
  ])('no bytes: %j as %s', async (content, name) => {
    expect((await failureOf(readAll(write(name, content)))).code).toBe('input_empty');
  });

  it.each([
    ['PK\x03\x04\x14\0\x06\0', 'spreadsheet'],
    [`${'\0\x01'.repeat(100)}`, 'binary'],
    ['%PDF-1.7\n', 'PDF'],
  ])('no text: %j', async (content, word) => {
    const error = await failureOf(readAll(write('list.xlsx', content)));
    expect(error.code).toBe('input_binary');
    expect(error.message).toContain(word);
  });

  it.each([
    ['a,b\n', 'a,c\n', 'column 2 is "b" in'],
    ['a,b\n', 'a,b,c\n', 'has 2 columns'],
    ['a,b,c\n', 'a,b\n', 'has 3 columns'],
    ['a,b\n', '{"a":1}\n', 'is NDJSON'],
  ])('headers that differ: %j and %j', async (first, second, difference) => {
    const [a, b] = [write('a', first), write('b', second)];
    const opened = openSource({
      paths: [a, b],
      header: true,
      encoding: 'auto',
      maxRecordSize: 1024,
    });
    const error = await failureOf(opened);
    expect(error.code).toBe('input_headers_differ');
    for (const part of [a, b, difference]) expect(error.message).toContain(part);
  });

  it('headers that differ from those on stdin, before a row is delivered', async () => {
    const opened = openSource({
      paths: ['-', write('b.csv', 'x,y\n')],
      stdin: streamOf(Buffer.from(table(5_000)), 4_096),
      header: true,
      encoding: 'auto',
      maxRecordSize: 1_024,
    });
    expect((await failureOf(opened)).code).toBe('input_headers_differ');
  });

  it('headers that differ on stdin, which is looked at when its turn comes', async () => {
    const stdin = streamOf(Buffer.from('x,y\n'), 2);
    const error = await failureOf(readAll([write('a.csv', table(1)), '-'], {stdin}));
    expect(error.code).toBe('input_headers_differ');
  });
});

describe('a file that is written to while it is read', () => {
  it.each([1, 2])('is the same if only its time has changed: file %i of two', async touched => {
    const paths = [write('a.csv', table(20_000)), write('b.csv', table(20_000))];
    const source = await openSource({
      paths,
      header: true,
      encoding: 'auto',
      maxRecordSize: 1_024,
      chunkSize: 8_192,
    });
    let records = 0;
    for await (const batch of source.batches()) {
      if (records < touched * 20_000 - 5_000)
        utimesSync(paths[touched - 1] ?? '', new Date(0), new Date(records));
      records += batch.records.length;
    }
    expect(records).toBe(40_000);
  });

  it('is the same if rows are appended, and reading stops before them', async () => {
    const path = write('a.csv', table(20_000));
    const source = await openSource({
      paths: [path],
      header: true,
      encoding: 'auto',
      maxRecordSize: 1_024,
      chunkSize: 8_192,
    });
    const reading = async () => {
      for await (const _ of source.batches()) {
        writeFileSync(path, table(20_001));
        utimesSync(path, new Date(0), new Date(0));
        break;
      }
    };
    await expect(reading()).resolves.toBeUndefined();
  });
});

describe('resume', () => {
  const text = `${table(12_000)}"open\n${table(800).slice(5)}`;
  const variants = [
    ['plain', [Buffer.from(text)]],
    ['gzip', [gzipSync(text)]],
    ['several', [Buffer.from(text), gzipSync(table(3_000))]],
    ['UTF-16', [Buffer.from(`\ufeff${text}`, 'utf16le')]],
  ] as const;

  it.each(variants)('%s: resumes after a record, in chunks of any size', async (_, contents) => {
    const paths = contents.map((content, i) => write(`${i}`, content));
    const whole = await readAll(paths, {chunkSize: 4_000, maxRecordSize: 5_000});
    for (const batch of whole.batches.filter((_, i) => i % 30 === 3)) {
      const last = batch.records.at(-1)?.record ?? 0;
      // A run stores a record with the position of its own batch. The last batch may be short.
      const before = (batch.records[0]?.record ?? 0) - 1;
      for (const record of [last - 1, Math.max(before, last - 20)]) {
        const resumed = await readAll(paths, {
          chunkSize: 64 * 1024,
          maxRecordSize: 5_000,
          resume: {record, ...batch.position},
        });
        expect(resumed.records.length).toBe(whole.records.length - record);
        expect(resumed.records.slice(0, 300)).toEqual(whole.records.slice(record, record + 300));
        expect(resumed.records.at(-1)).toEqual(whole.records.at(-1));
        expect(resumed.blankLines).toBe(whole.blankLines);
        expect(resumed.sample).toEqual(whole.sample);
        expect(resumed.position).toEqual(whole.position);
      }
    }
  });

  it.each([
    ['CSV', text],
    ['NDJSON', Array.from({length: 12_000}, (_, n) => `{"ip":"198.18.0.1","n":${n}}\n\n`).join('')],
  ])('%s: what is done is hashed and not parsed again', async (_, content) => {
    const whole = await readBytes(content, {}, 16_000);
    const {records = [], position} = whole.batches.at(-3) ?? {};
    const from = position?.from;
    if (from === undefined) throw new Error('it is known where to go on');
    const record = (records[0]?.record ?? 0) + 1;
    const resume = {record, bytes: 0, sha256: '', ...position};
    const resumed = await readBytes(content, {resume}, 16_000);
    expect(resumed.records).toEqual(whole.records.slice(record));
    expect(resumed.blankLines).toBe(whole.blankLines);
    // A wrong count of earlier lines would give another line.
    const elsewhere = {...resume, from: {...from, line: from.line + 1_000_000}};
    const [first] = (await readBytes(content, {resume: elsewhere}, 16_000)).records;
    expect(first?.line).toBe((resumed.records[0]?.line ?? 0) + 1_000_000);
  });

  it('does not join the record that the sample ends in to the rows behind it', async () => {
    const long = `198.51.100.1,"${'two\nlines\n'.repeat(30)}"\n`;
    const content = `ip,n\n${long.repeat(1_500)}`;
    // Each chunk of 1,000 bytes ends within a quoted field.
    const whole = await readBytes(content, {}, 1_000);
    const batch = whole.batches.at(-9);
    const record = batch?.records.at(-1)?.record ?? 0;
    const resumed = await readBytes(
      content,
      {resume: {record, bytes: 0, sha256: '', ...batch?.position}},
      1_000,
    );
    expect(resumed.records).toEqual(whole.records.slice(record));
  });

  it('stdin: with other chunks too', async () => {
    const whole = await readBytes(text, {}, 64 * 1024);
    const batch = whole.batches[2];
    const record = (batch?.records.at(-1)?.record ?? 0) - 5;
    const resume = {record, bytes: 0, sha256: '', ...batch?.position};
    const resumed = await readBytes(text, {resume}, 1_000_000);
    expect(resumed.records).toEqual(whole.records.slice(record));
  });

  it('at the very end delivers nothing', async () => {
    const whole = await readBytes(text);
    const resume = {record: whole.records.length, ...whole.position};
    expect((await readBytes(text, {resume})).records).toEqual([]);
  });

  it.each([
    ['changed', (bytes: Buffer) => Buffer.concat([Buffer.from('IP'), bytes.subarray(2)])],
    ['changed at the last byte that counts', (bytes: Buffer) => bytes.fill('#', 99_999, 100_000)],
    ['cut off', (bytes: Buffer) => bytes.subarray(0, 99_999)],
  ])('refuses an input that was %s, before any record is delivered', async (_, change) => {
    const resume = {record: 100, bytes: 100_000, sha256: sha256(text.slice(0, 100_000))};
    expect((await readBytes(text, {resume}, 70_000)).records[0]?.record).toBe(101);

    const delivered: InputRecord[] = [];
    const reading = openSource({
      paths: ['-'],
      header: true,
      encoding: 'auto',
      maxRecordSize: 1024,
      stdin: streamOf(change(Buffer.from(text)), 8_000),
      resume,
    }).then(async source => {
      for await (const {records} of source.batches()) delivered.push(...records);
    });
    expect((await failureOf(reading)).code).toBe('input_changed');
    expect(delivered).toEqual([]);
  });

  it('accepts a change behind the checkpoint', async () => {
    const resume = {record: 100, bytes: 100_000, sha256: sha256(text.slice(0, 100_000))};
    const changed = Buffer.from(text).fill('#', 100_000, 100_001);
    expect((await readBytes(changed, {resume}, 8_000)).records[0]?.record).toBe(101);
  });
});
