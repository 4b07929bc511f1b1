import {isUtf8} from 'node:buffer';
import type {InputRecord} from '../row.ts';
import {jsonRecord} from './json-record.ts';
import {CR, cutLines, LF} from './lines.ts';
import {type ReaderSettings, rejectRecord} from './reader.ts';

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
      const record = jsonRecord(bytes.subarray(start, textEnd), line, settings, sound);
      if (record === undefined) tally.blankLines++;
      // Only the last line of a file may lack its end.
      else if (found === -1 && record.type === 'reject' && record.reason === 'invalid_json')
        records.push({...record, reason: 'cut_off'});
      else records.push(record);
      start = end + 1;
    }
    yield records;
  }
}
