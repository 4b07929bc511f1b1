import {isUtf8} from 'node:buffer';
import type {InputRecord, NdjsonRow, RejectReason} from '../row.ts';
import {JsonPlace} from './json-place.ts';
import {CR, cutLines, LF, type ReaderSettings, rejectRecord} from './reader.ts';

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
    const sound = isUtf8(bytes);
    for (let start = 0; start < bytes.length; line++) {
      const found = bytes.indexOf(LF, start);
      const end = found === -1 ? bytes.length : found;
      const textEnd = end > start && bytes[end - 1] === CR ? end - 1 : end;
      const parts = objectsIn(bytes.subarray(start, textEnd));
      if (parts.length === 0) tally.blankLines++;
      for (const part of parts) {
        const record = makeJsonRecord(part, line, settings, sound);
        if (record === undefined) tally.blankLines++;
        // Only the last line of a file may lack its end.
        else if (found === -1 && record.type === 'reject' && record.reason === 'invalid_json')
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
  const isPlain = line[0] === OPEN && last === CLOSE && !TOUCHING.some(pair => line.includes(pair));
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

const [OPEN, CLOSE] = [...'{}'].map(brace => brace.charCodeAt(0));
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

/** Makes a record of the bytes of one JSON value; undefined for blanks. `sound`: the bytes are surely UTF-8. */
export function makeJsonRecord(
  bytes: Buffer,
  line: number,
  settings: ReaderSettings,
  sound: boolean,
): InputRecord | undefined {
  const rejected = (reason: RejectReason, detail: string) =>
    rejectRecord(settings, line, reason, detail, bytes);
  if (!sound && !isUtf8(bytes)) return rejected('invalid_encoding', String(settings.badBytes.detail));
  const raw = bytes.toString('utf8');
  if (raw.trim() === '') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(raw);
  } catch {
    // Leaves out the message of JSON.parse: it quotes the text, which may be personal data.
    return rejected('invalid_json', `the line is not valid JSON${faultOf(raw)}`);
  }
  if (!isJsonObject(value))
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
  const rest = text.slice(at);
  const comma = /,\s*[}\]]/.exec(text)?.index;
  if (rest === '' && comma !== undefined) return ` (a comma before a bracket at column ${comma + 1})`;
  if (rest === '') return '';
  const what =
    WORD.exec(rest)?.[0] ??
    (rest.startsWith("'")
      ? 'a single quote'
      : rest.startsWith('"')
        ? 'a text with a line end or without its closing quote'
        : 'a character that JSON does not have there');
  return ` (${what} at column ${at + 1})`;
}

export function isJsonObject(value: unknown): value is NdjsonRow['value'] {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The kind of a value that is not an object, for a message: `null`, `an array`, `a number`. */
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
  let at = afterBlanks(text, text.indexOf('{') + 1);
  while (text[at] === '"') {
    const nameEnd = endOfString(text, at);
    const name = JSON.parse(text.slice(at, nameEnd)) as string;
    const start = afterBlanks(text, afterBlanks(text, nameEnd) + 1);
    const end = endOfValue(text, start);
    members.set(name, text.slice(start, end).trimEnd());
    at = text[end] === ',' ? afterBlanks(text, end + 1) : end;
  }
  return members;
}

function afterBlanks(text: string, from: number): number {
  let at = from;
  while (/\s/.test(text[at] ?? '')) at += 1;
  return at;
}

/** The index after the closing quote of the string that begins at `from`. */
function endOfString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

/** The index of the comma or brace that ends the member whose value begins at `from`. */
function endOfValue(text: string, from: number): number {
  let depth = 0;
  let at = from;
  while (at < text.length) {
    const character = text[at];
    if (character === '"') {
      at = endOfString(text, at);
      continue;
    }
    if (depth === 0 && (character === ',' || character === '}')) return at;
    if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    at += 1;
  }
  return at;
}
