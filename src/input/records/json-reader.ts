import type {InputRecord} from '../row.ts';
import {JsonPlace} from './json-place.ts';
import {makeJsonRecord} from './ndjson-reader.ts';
import {type ReaderSettings, RecordBuffer, rejectRecord} from './reader.ts';

const LF = '\n'.charCodeAt(0);

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
