import {isUtf8} from 'node:buffer';
import type {InputRecord} from '../row.ts';
import {jsonRecord, jsonReject} from './json-record.ts';
import {CR, LF, type LineBlock, LineBlocks} from './line-blocks.ts';
import type {ReaderSettings, RecordReader} from './record-reader.ts';

/** Reads one JSON object a line, and keeps each line's text. */
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
    const record = jsonReject(block.head, this.#line, this.#settings, 'too_large', detail);
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
      const record = jsonRecord(bytes.subarray(start, textEnd), this.#line, this.#settings, sound);
      if (record === undefined) this.#settings.tally.blankLines++;
      // Only the last line of a file may lack its end.
      else if (found === -1 && record.type === 'reject' && record.reason === 'invalid_json')
        records.push({...record, reason: 'cut_off'});
      else records.push(record);
      start = end + 1;
    }
    return records;
  }
}
