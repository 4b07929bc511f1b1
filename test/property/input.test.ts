import {Readable} from 'node:stream';
import {gzipSync} from 'node:zlib';
import {stringify} from 'csv-stringify/sync';
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {InputError} from '../../src/input/input-error.ts';
import type {SourceSettings} from '../../src/input/source.ts';
import {fieldsOf, type Reading, readAll, readBytes} from '../input/reading.ts';

/** Text that is full of what CSV cares about. */
const units = ['a', 'Z', '0', ' ', ',', ';', '\t', '|', '"', '\n', '\r', '\r\n', 'é', '😀', '=', '{'];
const awkward = fc.string({unit: fc.constantFrom(...units), maxLength: 8});

/** Bytes that look like a CSV of two columns, sometimes. */
const soup = fc
  .array(
    fc.constantFrom(
      ...['a,b\n', '1,2\n', '"x","y"\r\n', '"open,\n', 'in"side,\n', '"q"z,\n', '"two\nlines",2\n'],
      ...['"""",""\n', '\n', '\r\n', '  \n', 'ragged\n', 'a,b,c\n', '"', ',', '\n', 'plain,\n'],
      ...['p,q\n', '",z\n', '""', 'z"\n', 'é', '\xff', 'x'.repeat(45), '{"a":1}\n'],
    ),
    {maxLength: 40, size: 'max'},
  )
  .map(parts => Buffer.concat(parts.map(part => Buffer.from(part, part === '\xff' ? 'latin1' : 'utf8'))));

const headed = fc
  .tuple(fc.constantFrom('', 'a\n', 'a,b\n', 'a,b\n', 'a,b\n'), soup)
  .map(([header, bytes]) => Buffer.concat([Buffer.from(header), bytes]));

/** Mostly quotes that open and close somewhere: what a limit on records makes hard. */
const quoted = ['1,"x\n', 'y\n', 'long line\n', 'p,q\n', '",z\n', 'z"\n', '""', '"\n', '","', 'w"w\n', 'v'];
const quotes = fc
  .array(fc.constantFrom(...quoted), {minLength: 5, maxLength: 30, size: 'max'})
  .map(parts => Buffer.from(`a,b\n${parts.join('')}`));

/** The result of a reading, records or an error, without parts that may depend on the chunks. */
async function outcomeOf(reading: Promise<Reading>): Promise<unknown> {
  try {
    const {format, records, sample, blankLines, position} = await reading;
    return {format, records, sample, blankLines, position};
  } catch (error) {
    if (error instanceof InputError) return {code: error.code, message: error.message};
    throw error;
  }
}

function inPieces(bytes: Buffer, sizes: readonly number[]): Readable {
  const pieces: Buffer[] = [];
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] ?? 1;
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return Readable.from(pieces, {objectMode: false});
}

const pieceSizes = fc.array(fc.integer({min: 1, max: 60}), {minLength: 1, maxLength: 6});

const dialect = fc.record({
  delimiter: fc.constantFrom(',', ';', '\t', '|'),
  record_delimiter: fc.constantFrom('\n', '\r\n', '\r'),
  bom: fc.boolean(),
  quoted: fc.boolean(),
  eof: fc.boolean(),
});

const quotedWhereNeeded = {quoted_match: /[\r\n",;\t|]|^$/};

const table = fc.integer({min: 1, max: 5}).chain(width => {
  const row = fc.array(awkward, {minLength: width, maxLength: width});
  return fc.array(row, {maxLength: 30}).map(rows => ({width, rows}));
});

const TIMES = process.env.SOAK === undefined ? 8 : Number(process.env.SOAK_RUNS ?? 2_000);

/** A property of what these make: `each` times as many tries as the others. */
function property<Given extends unknown[]>(
  name: string,
  each: number,
  made: {readonly [At in keyof Given]: fc.Arbitrary<Given[At]>},
  holds: (...given: Given) => Promise<void>,
): void {
  const all = fc.tuple<Given>(...made);
  const run = fc.asyncProperty(all, given => holds(...given));
  test(name, () => fc.assert(run, {seed: 20_260, numRuns: TIMES * each}));
}

property(
  'a table written as CSV comes back equal, in any dialect and encoding, compressed or not',
  1,
  [table, dialect, pieceSizes, fc.constantFrom('utf8' as const, 'utf16le' as const), fc.boolean()],
  async ({width, rows}, options, sizes, encoding, gzip) => {
    const header = Array.from({length: width}, (_, i) => `column ${i}`);
    const text = stringify([header, ...rows], {...options, ...quotedWhereNeeded});
    const marked = encoding === 'utf16le' && !options.bom ? `\ufeff${text}` : text;
    const bytes = Buffer.from(marked, encoding);
    const stdin = inPieces(gzip ? gzipSync(bytes) : bytes, sizes);
    const {records, format} = await readAll('-', {stdin, inputFormat: 'csv'});
    expect(fieldsOf(records)).toEqual(rows);
    expect(records).toHaveLength(rows.length);
    expect(format).toMatchObject({header, bom: options.bom || encoding === 'utf16le'});
    if (width > 1) expect(format).toMatchObject({delimiter: options.delimiter});
  },
);

const settings = fc.record({
  maxRecordSize: fc.constantFrom(10, 20, 100, 100_000),
  header: fc.boolean(),
  inputFormat: fc.constantFrom(undefined, 'csv', 'csv', 'csv', 'tsv', 'ndjson'),
} satisfies {[K in keyof SourceSettings]?: unknown});
/** Settings with which quotes meet the limit. */
const narrow = fc.record({maxRecordSize: fc.integer({min: 8, max: 40}), delimiter: fc.constant(',')});

async function expectSameInPieces(bytes: Buffer, options: object, sizes: number[]): Promise<void> {
  const whole = await outcomeOf(readBytes(bytes, options, 1 << 20));
  const pieces = await outcomeOf(readAll('-', {...options, stdin: inPieces(bytes, sizes)}));
  expect(pieces).toEqual(whole);
}
property('the chunks change nothing', 5, [headed, settings, pieceSizes], expectSameInPieces);
property('nor where quotes meet the limit', 7, [quotes, narrow, pieceSizes], expectSameInPieces);

property('every line is in a row, in a reject, or blank', 3, [soup, settings], async (bytes, options) => {
  const {inputFormat = 'csv'} = options;
  const text = Buffer.concat([Buffer.from(inputFormat === 'ndjson' ? '' : 'a,b\n'), bytes]);
  const reading = await readBytes(text, {...options, inputFormat}).catch(error => {
    if (error instanceof InputError) return undefined;
    throw error;
  });
  if (reading === undefined) return;
  const {format, records, blankLines} = reading;
  const lines = text.toString().split(format.eol === '\r' ? '\r' : '\n');
  if (lines.at(-1) === '') lines.pop();
  // Each record spans the lines up to the next one's, less the blank ones between them.
  const header = format.kind === 'csv' && format.header !== undefined ? 1 : 0;
  const spanned = records.reduce((sum, record) => {
    const text = 'raw' in record ? record.raw : 'fields' in record ? record.fields.join('') : '';
    return sum + 1 + breaks(text, format.eol);
  }, 0);
  expect(header + spanned + blankLines).toBe(lines.length);
  expect(records.map(({record}) => record)).toEqual(records.map((_, i) => i + 1));
});

const bytes = fc.uint8Array({maxLength: 400});
property('random bytes are read to the end or refused', 1, [bytes, settings], async (random, options) => {
  for (const before of ['', 'a,b\n']) {
    const reading = readBytes(Buffer.concat([Buffer.from(before), random]), options, 50);
    expect(await outcomeOf(reading)).toBeTypeOf('object');
  }
});

function breaks(text: string, eol: string): number {
  return text.split(eol === '\r' ? '\r' : '\n').length - 1;
}
