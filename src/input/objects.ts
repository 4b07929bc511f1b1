import {createHash} from 'node:crypto';
import {isObject} from '../client/answer-fields.ts';
import {describeJsonKind} from './records/json-reader.ts';
import {RECORD_BYTES} from './records/reader.ts';
import {noInput, type ProgramRow, type Reject} from './row.ts';
import type {RecordSource} from './source.ts';

/** Makes a record of a library caller's row. Rejects anything but an object, and objects that are too large. */
export function makeObjectRecord(
  given: unknown,
  record: number,
  maxBytes = RECORD_BYTES,
): ProgramRow | Reject {
  if (!isObject(given))
    return reject(given, record, 'not_an_object', `expected an object, found ${describeJsonKind(given)}`);
  const bytes = roughSize(given, maxBytes);
  if (bytes <= maxBytes) return {type: 'object', record, line: record, value: given, bytes};
  return reject(given, record, 'too_large', `the row holds more than ${maxBytes} bytes, the limit`);
}

/**
 * The source for rows of a library caller. `first`: the first rows, if known. `all`: the rows of an array, which can be
 * read before the first call.
 */
export function createObjectSource(first: readonly unknown[], all?: readonly unknown[]): RecordSource {
  const recordOf = (row: unknown, index: number) =>
    makeObjectRecord(row, index + 1, Number.POSITIVE_INFINITY);
  const sample = first.map(recordOf);
  const rows = sample.filter(record => record.type === 'object');
  const columns = [...new Set(rows.flatMap(({value}) => readableKeys(value)))];
  return {
    format: {kind: 'ndjson', eol: '\n', bom: false, encoding: 'utf-8', columns},
    sample,
    bytesTotal: undefined,
    position: {bytes: 0, sha256: createHash('sha256').digest('hex')},
    ...noInput(),
    notes: [],
    isOnce: all === undefined,
    isChanged: false,
    async *batches() {
      for (const [index, row] of (all ?? []).entries())
        try {
          yield [recordOf(row, index)];
        } catch {
          // A getter threw. The run reports it once it takes the row.
        }
    },
    close: async () => {},
  };
}

/** The keys of an object. Without any of its own: those for which its class has a getter. */
export function readableKeys(row: object): string[] {
  const keys = Object.keys(row);
  if (keys.length > 0) return keys;
  for (let type = prototypeOf(row); type !== null && !containers.has(type); type = prototypeOf(type))
    for (const [key, {get}] of Object.entries(Object.getOwnPropertyDescriptors(type)))
      if (get !== undefined && key !== '__proto__') keys.push(key);
  return keys;
}

const prototypeOf = (value: object) => Object.getPrototypeOf(value) as object | null;

function reject(given: unknown, record: number, reason: Reject['reason'], detail: string): Reject {
  return {type: 'reject', record, line: record, file: 'rows', reason, detail, raw: '', given};
}

/** Bytes counted for each number or other small value, and bytes added for each object, list or map. */
const SMALL = 8;
const OBJECT = 64;

/** Approximate bytes of a row, counted to `most`. An object of the caller's own class counts without its content. */
function roughSize(row: object, most: number): number {
  const seen = new Set<object>([row]);
  const left: unknown[] = Object.values(row);
  let bytes = OBJECT;
  while (left.length > 0 && bytes <= most) {
    const value = left.pop();
    if (typeof value === 'string') bytes += value.length;
    else if (ArrayBuffer.isView(value)) bytes += value.byteLength;
    else bytes += SMALL;
    if (!isContainer(value) || seen.has(value)) continue;
    seen.add(value);
    bytes += OBJECT;
    for (const inner of value instanceof Map ? [...value].flat() : Object.values(value)) left.push(inner);
  }
  return bytes;
}

/** True for plain objects, lists and maps, which only hold data. Others may reference half of the program. */
function isContainer(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = prototypeOf(value);
  return prototype === null || containers.has(prototype);
}

const containers: ReadonlySet<object> = new Set([Object.prototype, Array.prototype, Map.prototype]);
