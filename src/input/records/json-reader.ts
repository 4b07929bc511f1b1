import {isUtf8} from 'node:buffer';
import {isObject} from '../../client/answer-fields.ts';
import type {InputRecord, RejectReason} from '../row.ts';
import {CR, cutLines, LF, type ReaderSettings, RecordBuffer, rejectRecord} from './reader.ts';

const byte = (character: string) => character.charCodeAt(0);
const [QUOTE, BACKSLASH] = ['"', '\\'].map(byte);
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [...'[]{}'].map(byte);
const GAPS: ReadonlySet<number | undefined> = new Set([...' \t\r\n,\x1e'].map(byte));

/** Reads one JSON object a line, and keeps each line's text. */
export async function* readNdjson(
  chunks: AsyncIterable<Buffer>,
  settings: ReaderSettings,
): AsyncGenerator<InputRecord[]> {
  const {maxRecordSize, tally} = settings;
  let line = 1;
  for await (const {long, bytes} of cutLines(chunks, LF, maxRecordSize)) {
    const records: InputRecord[] = [];
    if (long !== undefined) {
      const detail = `the line has ${long.length} bytes; the limit is ${maxRecordSize}`;
      records.push(rejectRecord(settings, line++, 'too_large', detail, long.head));
    }
    const isSound = isUtf8(bytes);
    for (let start = 0; start < bytes.length; line++) {
      const eolAt = bytes.indexOf(LF, start);
      const end = eolAt === -1 ? bytes.length : eolAt;
      const textEnd = end > start && bytes[end - 1] === CR ? end - 1 : end;
      for (const object of objectsIn(bytes.subarray(start, textEnd))) {
        const record = makeJsonRecord(object, line, settings, isSound);
        if (record === undefined) tally.blankLines++;
        // Only the last line of a file may lack its end.
        else if (eolAt === -1 && record.type === 'reject' && record.reason === 'invalid_json')
          records.push({...record, reason: 'cut_off'});
        else records.push(record);
      }
      start = end + 1;
    }
    yield records;
  }
}

/**
 * The texts of a line's objects: one, or several that a program wrote without a line end between them (`}{`). Without
 * what programs put around an object: a record separator (RFC 7464), a comma at the end.
 */
function objectsIn(line: Buffer): Buffer[] {
  const last = line.at(-1);
  const isPlain =
    line[0] === OPEN_OBJECT && last === CLOSE_OBJECT && !TOUCHING.some(pair => line.includes(pair));
  if (isPlain) return [line];
  const text = line.toString('latin1').replace(/^\p{Cc}+|[\s,]+$/gu, '');
  const whole = Buffer.from(text, 'latin1');
  if (!text.startsWith('{') || isJson(whole)) return [whole];
  const place = new JsonPlace();
  const parts: Buffer[] = [];
  let from = 0;
  for (const [at, character] of whole.entries()) {
    if (place.beginsAt(character)) from = at;
    if (place.endsAfter(character)) parts.push(whole.subarray(from, at + 1));
  }
  return parts.length > 1 && !place.isOpen && parts.every(isJson) ? parts : [whole];
}

/** Texts between two objects on a line. In a text these are rare, so that few lines are looked at twice. */
const TOUCHING = ['}{', '} {', '},{', '}, {', '}\x1e{'];

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString());
    return true;
  } catch {
    return false;
  }
}

/**
 * Reads a JSON array of objects, or a sequence of objects over several lines. Keeps each object's text: parsers
 * that stream JSON give only values, and a value loses the spelling of a number such as `1.0`. If an object exceeds
 * the limit, only its beginning is kept, for the reject.
 */
export async function* readJson(
  chunks: AsyncIterable<Buffer>,
  settings: ReaderSettings,
): AsyncGenerator<InputRecord[]> {
  const place = new JsonPlace();
  const value = new RecordBuffer(settings.maxRecordSize);
  let startLine = 1;
  let line = 1;
  const close = (last: Buffer): InputRecord[] => {
    value.add(last);
    const {length} = value;
    const bytes = value.take();
    if (length > settings.maxRecordSize) {
      const detail = `the object has ${length} bytes; the limit is ${settings.maxRecordSize}`;
      return [rejectRecord(settings, startLine, 'too_large', detail, bytes)];
    }
    const record = makeJsonRecord(bytes, startLine, settings, false);
    if (record === undefined) return [];
    return [record.type === 'ndjson' ? {...record, raw: inOneLine(record.raw)} : record];
  };
  for await (const chunk of chunks) {
    const records: InputRecord[] = [];
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      const character = chunk[at];
      if (place.endsBefore(character)) records.push(...close(chunk.subarray(from, at)));
      if (place.beginsAt(character)) {
        from = at;
        startLine = line;
      }
      if (character === LF) line++;
      if (place.endsAfter(character)) records.push(...close(chunk.subarray(from, at + 1)));
    }
    if (place.isOpen) value.add(chunk.subarray(from));
    yield records;
  }
  const rejectCut = (from: number, detail: string) =>
    rejectRecord(settings, from, 'cut_off', detail, value.take());
  if (place.depth > 0)
    yield [rejectCut(startLine, 'an object is not closed: the file is cut off, or a quote is missing')];
  else {
    if (place.isOpen) yield close(Buffer.alloc(0));
    if (place.isInList) yield [rejectCut(line, 'the list is not closed: the file is cut off')];
  }
}

/** Removes line ends. They occur only between the parts of JSON, never within its strings. */
function inOneLine(raw: string): string {
  return raw.replace(/[ \t]*[\r\n]+[ \t]*/g, '');
}

/** A place in a text of JSON values: between them, or in one. */
class JsonPlace {
  isOpen = false;
  isInList = false;
  depth = 0;
  #isInText = false;
  #isEscaped = false;

  /** True if this character follows a number or a word, which ends before it. */
  endsBefore(character: number | undefined): boolean {
    const ends = this.isOpen && this.depth === 0 && !this.#isInText;
    if (!ends || !(GAPS.has(character) || character === CLOSE_LIST)) return false;
    this.isOpen = false;
    return true;
  }

  /** True if a value begins with this character. */
  beginsAt(character: number | undefined): boolean {
    if (this.isOpen || GAPS.has(character)) return false;
    if (character === (this.isInList ? CLOSE_LIST : OPEN_LIST)) {
      this.isInList = !this.isInList;
      return false;
    }
    this.isOpen = true;
    return true;
  }

  /** True if this character ends an object or a list. */
  endsAfter(character: number | undefined): boolean {
    if (!this.isOpen) return false;
    if (this.#isEscaped) this.#isEscaped = false;
    else if (this.#isInText && character === BACKSLASH) this.#isEscaped = true;
    else if (character === QUOTE) this.#isInText = !this.#isInText;
    else if (this.#isInText) return false;
    else if (character === OPEN_OBJECT || character === OPEN_LIST) this.depth++;
    else if (character === CLOSE_OBJECT || character === CLOSE_LIST) {
      this.depth = Math.max(0, this.depth - 1);
      this.isOpen = this.depth > 0;
      return !this.isOpen;
    }
    return false;
  }
}

/** Makes a record of the bytes of one JSON value; undefined for blanks. `isSound`: the bytes are surely UTF-8. */
function makeJsonRecord(
  bytes: Buffer,
  line: number,
  settings: ReaderSettings,
  isSound: boolean,
): InputRecord | undefined {
  const rejected = (reason: RejectReason, detail: string) =>
    rejectRecord(settings, line, reason, detail, bytes);
  if (!isSound && !isUtf8(bytes)) return rejected('invalid_encoding', String(settings.badBytes.detail));
  const raw = bytes.toString('utf8');
  if (raw.trim() === '') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(raw);
  } catch {
    // Leaves out the message of JSON.parse: it quotes the text, which may be personal data.
    return rejected('invalid_json', `the line is not valid JSON${faultOf(raw)}`);
  }
  if (!isObject(value))
    return rejected('not_an_object', `expected a JSON object, found ${describeJsonKind(value)}`);
  return {type: 'ndjson', record: ++settings.tally.recordsRead, line, raw, value};
}

/** Parts of JSON, each from where the one before it ends. */
const PARTS =
  /[\s{}[\],:]+|"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/uy;
/** Words of other languages in place of a value. Any other word may be personal data, and is not shown. */
const WORD = /^(?:-?(?:NaN|Infinity)|None|True|False|undefined|nil|NULL|nan|inf)\b/;

/** The place and the reason of a text's fault: ` (NaN at column 34)`. */
function faultOf(text: string): string {
  PARTS.lastIndex = 0;
  let at = 0;
  while (PARTS.test(text)) at = PARTS.lastIndex;
  const unread = text.slice(at);
  const comma = /,\s*[}\]]/.exec(text)?.index;
  if (unread === '') return comma === undefined ? '' : ` (a comma before a bracket at column ${comma + 1})`;
  const places: Readonly<Record<string, string>> = {
    "'": 'a single quote',
    '"': 'a text with a line end or without its closing quote',
  };
  const what =
    WORD.exec(unread)?.[0] ?? places[unread.charAt(0)] ?? 'a character that JSON does not have there';
  return ` (${what} at column ${at + 1})`;
}

/** The kind of a value that is not an object: `null`, `an array`, `a number`. */
export function describeJsonKind(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}

/**
 * The members of a JSON object in their text form: name → text of the value. If several members have the same name,
 * the last counts, as with `JSON.parse`. `text` must be a valid JSON object.
 */
export function jsonMembers(text: string): Map<string, string> {
  const members = new Map<string, string>();
  let start = text.indexOf('{') + 1;
  let name: string | undefined;
  let depth = 1;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at);
    else if (character === '{' || character === '[') depth += 1;
    else if (depth === 1 && character === ':') {
      name = JSON.parse(text.slice(start, at)) as string;
      start = at + 1;
    } else if (depth === 1 && (character === ',' || character === '}')) {
      if (name !== undefined) members.set(name, text.slice(start, at).trim());
      name = undefined;
      start = at + 1;
    } else if (character === '}' || character === ']') depth -= 1;
  }
  return members;
}

/** The index of the closing quote of the string that begins at `from`. */
function endOfString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}
