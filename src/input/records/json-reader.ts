import type {InputRecord} from '../row.ts';
import {jsonRecord} from './json-record.ts';
import {HeadedBytes, type ReaderSettings, type RecordReader, rejectRecord} from './reader.ts';

const byte = (character: string) => character.charCodeAt(0);
const [LF, QUOTE, BACKSLASH] = ['\n', '"', '\\'].map(byte);
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [...'[]{}'].map(byte);
const GAPS: ReadonlySet<number | undefined> = new Set([' ', '\t', '\r', '\n', ','].map(byte));

/**
 * Reads a JSON array of objects, or a sequence of objects over several lines. Keeps each object's text: parsers
 * that stream JSON give only values, and a value loses the spelling of a number such as `1.0`. If an object exceeds
 * the limit, only its beginning is kept, for the reject.
 */
export class JsonReader implements RecordReader {
  readonly #settings: ReaderSettings;
  #records: InputRecord[] = [];
  /** The value that is being read. */
  readonly #value: HeadedBytes;
  #isOpen = false;
  #startLine = 1;
  #line = 1;
  #depth = 0;
  #inText = false;
  #escaped = false;
  #inList = false;

  constructor(settings: ReaderSettings) {
    this.#settings = settings;
    this.#value = new HeadedBytes(settings.maxRecordSize);
  }

  push(chunk: Buffer): InputRecord[] {
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      const character = chunk[at];
      if (this.#isOpen && this.#depth === 0 && this.#endsScalar(character))
        this.#close(chunk.subarray(from, at));
      if (!this.#isOpen && this.#begins(character)) from = at;
      if (character === LF) this.#line++;
      if (this.#isOpen && this.#closesValue(character)) this.#close(chunk.subarray(from, at + 1));
    }
    if (this.#isOpen) this.#value.add(chunk.subarray(from));
    return this.#records.splice(0);
  }

  end(): InputRecord[] {
    if (this.#depth > 0)
      this.#rejectCut('an object is not closed: the file is cut off, or a quote is missing');
    else {
      if (this.#isOpen) this.#close(Buffer.alloc(0));
      if (this.#inList) this.#rejectCut('the list is not closed: the file is cut off');
    }
    return this.#records.splice(0);
  }

  #endsScalar(character: number | undefined): boolean {
    return !this.#inText && (GAPS.has(character) || character === CLOSE_LIST);
  }

  /** Reads a character between values. Returns true if a value begins with this character. */
  #begins(character: number | undefined): boolean {
    if (GAPS.has(character)) return false;
    if (character === (this.#inList ? CLOSE_LIST : OPEN_LIST)) {
      this.#inList = !this.#inList;
      return false;
    }
    this.#isOpen = true;
    this.#startLine = this.#line;
    return true;
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

  #close(last: Buffer): void {
    this.#value.add(last);
    const {length} = this.#value;
    const bytes = this.#value.take();
    const {maxRecordSize} = this.#settings;
    const detail = `the object has ${length} bytes; the limit is ${maxRecordSize}`;
    const record =
      length > maxRecordSize
        ? rejectRecord(this.#settings, this.#startLine, 'too_large', detail, bytes)
        : jsonRecord(bytes, this.#startLine, this.#settings, false);
    if (record !== undefined)
      this.#records.push(record.type === 'ndjson' ? {...record, raw: inOneLine(record.raw)} : record);
    this.#isOpen = false;
    this.#depth = 0;
    this.#inText = false;
  }

  #rejectCut(detail: string): void {
    const line = this.#isOpen ? this.#startLine : this.#line;
    this.#records.push(rejectRecord(this.#settings, line, 'cut_off', detail, this.#value.take()));
  }
}

/** Removes line ends. They occur only between the parts of JSON, never within its strings. */
function inOneLine(raw: string): string {
  return raw.replace(/[ \t]*[\r\n]+[ \t]*/g, '');
}
