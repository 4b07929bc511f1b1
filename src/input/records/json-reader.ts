import type {InputRecord} from '../row.ts';
import {jsonRecord, jsonReject} from './json-record.ts';
import type {ReaderSettings, RecordReader} from './record-reader.ts';
import {HEAD_BYTES} from './reject.ts';

const byte = (character: string) => character.charCodeAt(0);
const [LF, QUOTE, BACKSLASH, COMMA] = [byte('\n'), byte('"'), byte('\\'), byte(',')];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [byte('['), byte(']'), byte('{'), byte('}')];
const BLANKS: ReadonlySet<number | undefined> = new Set([' ', '\t', '\r', '\n'].map(byte));

/**
 * Reads a JSON array of objects, or a sequence of objects over several lines. Keeps each object's text: parsers
 * that stream JSON give only values, and a value loses the spelling of a number such as `1.0`. If an object exceeds
 * the limit, only its beginning is kept, for the reject.
 */
export class JsonReader implements RecordReader {
  readonly #settings: ReaderSettings;
  /** The kept part of the value that is being read. */
  #parts: Buffer[] = [];
  #kept = 0;
  #length = 0;
  #isOpen = false;
  #startLine = 1;
  #line = 1;
  #depth = 0;
  #inText = false;
  #escaped = false;
  #inList = false;

  constructor(settings: ReaderSettings) {
    this.#settings = settings;
  }

  push(chunk: Buffer): InputRecord[] {
    const records: InputRecord[] = [];
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      const character = chunk[at];
      if (!this.#isOpen) {
        if (!this.#begins(character)) continue;
        from = at;
      } else if (this.#depth === 0 && this.#endsScalar(character)) {
        this.#keep(chunk.subarray(from, at));
        this.#close(records);
        if (character === CLOSE_LIST) this.#inList = false;
      }
      if (!this.#isOpen) {
        if (character === LF) this.#line++;
        continue;
      }
      if (character === LF) this.#line++;
      if (!this.#closesValue(character)) continue;
      this.#keep(chunk.subarray(from, at + 1));
      this.#close(records);
    }
    if (this.#isOpen) this.#keep(chunk.subarray(from));
    return records;
  }

  end(): InputRecord[] {
    const records: InputRecord[] = [];
    const isCut = this.#depth > 0;
    const text = Buffer.concat(this.#parts);
    if (isCut)
      records.push(this.#reject(text, 'an object is not closed: the file is cut off, or a quote is missing'));
    else if (this.#isOpen) this.#close(records);
    if (this.#inList && !isCut)
      records.push(this.#reject(Buffer.alloc(0), 'the list is not closed: the file is cut off'));
    return records;
  }

  /** Reads a character between values. Returns true if a value begins with this character. */
  #begins(character: number | undefined): boolean {
    if (character === LF) this.#line++;
    if (BLANKS.has(character) || character === COMMA) return false;
    if (character === OPEN_LIST && !this.#inList) {
      this.#inList = true;
      return false;
    }
    if (character === CLOSE_LIST && this.#inList) {
      this.#inList = false;
      return false;
    }
    this.#isOpen = true;
    this.#startLine = this.#line;
    return true;
  }

  #endsScalar(character: number | undefined): boolean {
    return !this.#inText && (character === COMMA || character === CLOSE_LIST || BLANKS.has(character));
  }

  /** Reads a character of a value. Returns true if it ends an object or a list. */
  #closesValue(character: number | undefined): boolean {
    if (this.#escaped) this.#escaped = false;
    else if (this.#inText && character === BACKSLASH) this.#escaped = true;
    else if (character === QUOTE) this.#inText = !this.#inText;
    else if (this.#inText) return false;
    else if (character === OPEN_OBJECT || character === OPEN_LIST) this.#depth++;
    else if (character === CLOSE_OBJECT || character === CLOSE_LIST) {
      this.#depth = Math.max(0, this.#depth - 1);
      return this.#depth === 0;
    }
    return false;
  }

  #keep(part: Buffer): void {
    this.#length += part.length;
    const room = this.#isTooLong ? HEAD_BYTES - this.#kept : part.length;
    if (room <= 0) return;
    // Copies the bytes: otherwise one short object would keep its whole chunk in memory.
    this.#parts.push(Buffer.from(part.subarray(0, room)));
    this.#kept += Math.min(room, part.length);
  }

  get #isTooLong(): boolean {
    return this.#length > this.#settings.maxRecordSize;
  }

  #close(records: InputRecord[]): void {
    const bytes = Buffer.concat(this.#parts);
    const detail = `the object has ${this.#length} bytes; the limit is ${this.#settings.maxRecordSize}`;
    const record = this.#isTooLong
      ? jsonReject(bytes, this.#startLine, this.#settings, 'too_large', detail)
      : jsonRecord(bytes, this.#startLine, this.#settings, false);
    if (record !== undefined)
      records.push(record.type === 'ndjson' ? {...record, raw: inOneLine(record.raw)} : record);
    this.#parts = [];
    this.#kept = 0;
    this.#length = 0;
    this.#isOpen = false;
    this.#depth = 0;
    this.#inText = false;
  }

  #reject(bytes: Buffer, detail: string): InputRecord {
    const line = this.#isOpen ? this.#startLine : this.#line;
    return jsonReject(bytes.subarray(0, HEAD_BYTES), line, this.#settings, 'cut_off', detail);
  }
}

/** Removes line ends. They occur only between the parts of JSON, never within its strings. */
function inOneLine(raw: string): string {
  return raw.replace(/[ \t]*[\r\n]+[ \t]*/g, '');
}
