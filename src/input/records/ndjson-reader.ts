import {isUtf8} from 'node:buffer';
import type {InputRecord, NdjsonRow, RejectReason} from '../row.ts';
import {type LineBlock, LineBlocks} from './line-blocks.ts';
import type {ReaderSettings, RecordReader} from './record-reader.ts';
import {ENCODING_DETAIL, reject} from './reject.ts';

const LF = 0x0a;
const CR = 0x0d;

/** Reads one JSON object a line, and keeps each line's text as it came. */
export class NdjsonReader implements RecordReader {
  readonly #settings: ReaderSettings;
  readonly #blocks: LineBlocks;
  #line = 1;

  constructor(settings: ReaderSettings) {
    this.#settings = settings;
    this.#blocks = new LineBlocks(LF, settings.maxRecordSize);
  }

  push(chunk: Buffer): InputRecord[] {
    return this.#blocks.push(chunk).flatMap(block => this.#read(block));
  }

  end(): InputRecord[] {
    return this.#blocks.end().flatMap(block => this.#read(block));
  }

  #read(block: LineBlock): InputRecord[] {
    if (block.kind === 'lines') return this.#readLines(block.bytes);
    const detail = `the line has ${block.length} bytes; the limit is ${this.#settings.maxRecordSize}`;
    const record = this.#reject('too_large', detail, block.head);
    this.#line++;
    return [record];
  }

  #readLines(bytes: Buffer): InputRecord[] {
    const records: InputRecord[] = [];
    const sound = isUtf8(bytes);
    for (let start = 0; start < bytes.length; this.#line++) {
      const found = bytes.indexOf(LF, start);
      const end = found === -1 ? bytes.length : found;
      const textEnd = end > start && bytes[end - 1] === CR ? end - 1 : end;
      const record = this.#readLine(bytes.subarray(start, textEnd), sound);
      if (record === undefined) this.#settings.tally.blankLines++;
      else records.push(record);
      start = end + 1;
    }
    return records;
  }

  #readLine(line: Buffer, sound: boolean): InputRecord | undefined {
    if (!sound && !isUtf8(line)) return this.#reject('invalid_encoding', ENCODING_DETAIL, line);
    const raw = line.toString('utf8');
    if (raw.trim() === '') return undefined;
    let value: unknown;
    try {
      value = JSON.parse(raw);
    } catch {
      // Not the parser's message: it quotes the text, which may be personal data.
      return this.#reject('invalid_json', 'the line is not valid JSON', line);
    }
    if (!isObject(value)) {
      return this.#reject('not_an_object', `expected a JSON object, found ${kindOf(value)}`, line);
    }
    return {type: 'ndjson', record: ++this.#settings.tally.record, line: this.#line, raw, value};
  }

  #reject(reason: RejectReason, detail: string, bytes: Buffer): InputRecord {
    const {file, tally} = this.#settings;
    return reject({record: ++tally.record, line: this.#line, file}, reason, detail, bytes);
  }
}

function isObject(value: unknown): value is NdjsonRow['value'] {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}
