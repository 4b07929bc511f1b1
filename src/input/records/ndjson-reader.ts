import {isUtf8} from 'node:buffer';
import type {InputRecord} from '../row.ts';
import {jsonRecord} from './json-record.ts';
import {CR, LF, LineCutter, type Lines} from './lines.ts';
import {type ReaderSettings, type RecordReader, rejectRecord} from './reader.ts';

/** Reads one JSON object a line, and keeps each line's text. */
export class NdjsonReader implements RecordReader {
  readonly #settings: ReaderSettings;
  readonly #cutter: LineCutter;
  #line = 1;

  constructor(settings: ReaderSettings) {
    this.#settings = settings;
    this.#cutter = new LineCutter(LF, settings.maxRecordSize);
  }

  push(chunk: Buffer): InputRecord[] {
    return this.#cutter.push(chunk).flatMap(lines => this.#read(lines));
  }

  end(): InputRecord[] {
    return this.#cutter.end().flatMap(lines => this.#read(lines));
  }

  #read({long, bytes}: Lines): InputRecord[] {
    const records: InputRecord[] = [];
    if (long !== undefined) {
      const detail = `the line has ${long.length} bytes; the limit is ${this.#settings.maxRecordSize}`;
      records.push(rejectRecord(this.#settings, this.#line++, 'too_large', detail, long.head));
    }
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
