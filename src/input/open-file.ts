import {formatByName, type NamedFormat} from '../job/file-names.ts';
import type {SettingsFor} from '../job/settings.ts';
import {type Said, say, setting} from '../sentence.ts';
import {decompress, peek, resume} from './bytes/decompress.ts';
import {
  type DetectedEncoding,
  describeEncoding,
  describeEncodingFault,
  detectEncoding,
} from './bytes/detect-encoding.ts';
import {type FileState, openRaw, type PipeSettings} from './bytes/raw.ts';
import {transcode} from './bytes/transcode.ts';
import {findCsvTop, groupNamesOfColumns} from './csv-top.ts';
import {InputError} from './input-error.ts';
import {refuseOtherDelimiter} from './records/csv-dialect.ts';
import {CsvReader} from './records/csv-reader.ts';
import {readJson, readNdjson} from './records/json-reader.ts';
import {RECORD_BYTES, type ReaderSettings} from './records/reader.ts';
import type {InputCounts, InputFormat, InputRecord} from './row.ts';
import {
  type FileBeginning,
  refuseBinary,
  refuseMarkup,
  refuseShortHeader,
  refuseUndelimitedLines,
  refuseValues,
  refuseWebServerLog,
} from './unsupported-formats.ts';

/** Bytes of text read to detect a file's format. */
const SAMPLE_BYTES = 64 * 1024;

/** Settings for reading. They are the same for all files of an input. */
export interface FileSettings extends SettingsFor<'reading'>, PipeSettings {
  readonly chunkSize: number;
  /** Maximum bytes of a record, if not that of a list: of a file that a run wrote, whose rows may be larger. */
  readonly maxRecordSize?: number | undefined;
  /**
   * True if title lines may be left out, and a first line of values read as a row, with a note. Otherwise such a
   * file is refused, since a job has to say how its lists are read.
   */
  readonly decides?: boolean | undefined;
}

export interface OpenFile {
  readonly name: string;
  readonly format: InputFormat;
  /** Notes for the user about how the file is read. */
  readonly notes: readonly Said[];
  /** The records in groups: each group has the records that one chunk of text completes, and may be empty. */
  readonly groups: AsyncGenerator<InputRecord[]>;
  /** The file's state when it was opened; undefined for an input that can be read only once. */
  readonly state: FileState | undefined;
  close(): void;
}

/**
 * Opens one file, or stdin for `-`, and detects its format. Passes each chunk of its raw bytes to `watch`.
 *
 * @throws {InputError}
 */
export async function openFile(
  path: string,
  settings: FileSettings,
  tally: InputCounts,
  watch: (chunk: Buffer) => void = () => {},
): Promise<OpenFile> {
  const name = path === '-' ? 'stdin' : path;
  const {chunks, state, close} = await openRaw(path, settings, watch);
  try {
    const padding = {before: 0, after: 0};
    const plain = decompress(chunks, name, settings.chunkSize);
    const bytes = await peek(withoutPadding(plain, padding), SAMPLE_BYTES);
    const encoding = detectEncoding(bytes.head, settings.encoding);
    const text = await peek(withoutEndMark(transcode(bytes.chunks, encoding), padding), SAMPLE_BYTES);
    if (text.head.length === 0)
      throw new InputError('input_empty', `${name} is empty, without a header. Check the export.`);
    refuseBinary(text.head, name, path);
    const beginning = {path, name, text: text.head.toString('utf8')};
    refuseMarkup(beginning);
    const reader = createReader(beginning, text.chunks, encoding, settings, tally);
    const {format, groups} = await readToFormat(name, reader);
    const notes = [...describeEncoding(name, encoding), ...reader.notes(), ...describePadding(name, padding)];
    return {name, format, notes, groups, state, close};
  } catch (error) {
    close();
    throw error;
  }
}

async function* withoutStart(chunks: AsyncIterable<Buffer>, bytes: number): AsyncGenerator<Buffer> {
  let left = bytes;
  for await (const chunk of chunks) {
    yield chunk.subarray(left);
    left = Math.max(0, left - chunk.length);
  }
}

interface RecordReader extends Pick<OpenFile, 'groups'> {
  /** The format; undefined until the reader knows the columns. */
  format(): InputFormat | undefined;
  notes(): readonly Said[];
}

/** A sample with so many records, or characters, is full, so that long records don't fill the memory. */
export const SAMPLE_RECORDS = 1_000;
export const SAMPLE_CHARACTERS = 8 * 1024 * 1024;

export function charactersIn(record: InputRecord): number {
  if (record.type === 'object') return record.bytes;
  if (record.type !== 'csv') return record.raw.length;
  return record.fields.reduce((sum, field) => sum + field.length, 0);
}

/** Reads until the columns are known. @throws {InputError} if the file has neither a header nor a readable row. */
async function readToFormat(
  name: string,
  reader: RecordReader,
): Promise<Pick<OpenFile, 'format' | 'groups'>> {
  const ahead: InputRecord[][] = [];
  let format = reader.format();
  let [unread, characters] = [0, 0];
  for (; format === undefined; format = reader.format()) {
    const {done, value} = await reader.groups.next();
    if (done === true || unread >= SAMPLE_RECORDS || characters >= SAMPLE_CHARACTERS)
      throw noRows(name, ahead.flat());
    unread += value.length;
    for (const record of value) characters += charactersIn(record);
    if (value.length > 0) ahead.push(value);
  }
  return {format, groups: resume(ahead, reader.groups)};
}

function noRows(name: string, [unread]: readonly InputRecord[]): InputError {
  if (unread?.type !== 'reject')
    return new InputError('input_empty', `${name} has only blank lines, without a header.`);
  return new InputError(
    'input_rejected',
    say`${name} has no header, and none of its first rows can be read (${unread.reason}: ${unread.detail}; line ${unread.line}). Check the file, ${setting('delimiter')}, ${setting('encoding')} and ${setting('skipLines')}. Nothing was sent.`,
  );
}

/** `chunks`: the UTF-8 bytes of the file. */
function createReader(
  beginning: FileBeginning,
  chunks: AsyncIterable<Buffer>,
  encoding: DetectedEncoding,
  settings: FileSettings,
  tally: InputCounts,
): RecordReader {
  const {path, name: file, text} = beginning;
  const {maxRecordSize = RECORD_BYTES} = settings;
  const named = settings.inputFormat ?? formatByName(path);
  const kind = detectKind(text, named);
  const badBytes = describeEncodingFault(encoding);
  const reading: ReaderSettings = {file, maxRecordSize, tally, badBytes};
  const textFormat = {bom: encoding.bomBytes > 0, encoding: encoding.name, perhaps: badBytes.perhaps};
  if (kind === 'csv') return createCsvReader(beginning, chunks, named, settings, reading, textFormat);
  const guard = GUARD.exec(text)?.[0].length ?? 0;
  const eol = /\r?\n/.exec(text)?.[0] === '\r\n' ? '\r\n' : '\n';
  return {
    groups: (kind === 'json' ? readJson : readNdjson)(withoutStart(chunks, guard), reading),
    format: () => ({kind: 'ndjson', eol, ...textFormat, columns: []}),
    notes: () => [],
  };
}

/** The text that a server puts above JSON, so that no page can run it as a script. */
const GUARD = /^\)\]\}',?/;

/** `json`: an array, or objects over several lines. */
function detectKind(sample: string, format: NamedFormat | undefined): 'csv' | 'ndjson' | 'json' {
  if (format === 'csv' || format === 'tsv') return 'csv';
  // Without what programs put before JSON: record separators (RFC 7464), and a guard against scripts.
  const text = sample.replace(GUARD, '').replace(/^[\s\p{Cc}]+/u, '');
  if (/^\[\s*(?:[[{\]]|$)/.test(text) || /^\{[ \t]*\r?\n/.test(text) || LONG_LINE.test(text)) return 'json';
  return format === 'ndjson' || /^\{[ \t]*["}]/.test(text) ? 'ndjson' : 'csv';
}

/** A line of 60,000 characters or more may be all of a file, in which objects follow one another (Firehose, Kinesis). */
const LONG_LINE = /^\{[^\n]{60000}/;

function createCsvReader(
  beginning: FileBeginning,
  chunks: AsyncIterable<Buffer>,
  named: NamedFormat | undefined,
  settings: FileSettings,
  reading: ReaderSettings,
  textFormat: Pick<InputFormat, 'bom' | 'encoding' | 'perhaps'>,
): RecordReader {
  if (named === undefined) refuseValues(beginning);
  const {header, decides = false, skipLines = 0, padShortRows = false} = settings;
  const delimiter = settings.delimiter ?? (named === 'tsv' ? '\t' : undefined);
  if (header && delimiter === undefined && skipLines === 0) refuseWebServerLog(beginning);
  const top = findCsvTop(beginning, {header, delimiter, skipLines, decides});
  const {text, dialect, records} = top;
  if (top.header) {
    refuseUndelimitedLines({...beginning, text}, records, delimiter !== undefined);
    refuseShortHeader(beginning, records, dialect.delimiter);
  }
  if (settings.delimiter !== undefined) refuseOtherDelimiter(text, settings.delimiter, reading.file);
  const reader = new CsvReader({...top, ...reading, padShortRows});
  const {sepLineBytes, ...parts} = dialect;
  const sepLine = sepLineBytes > 0 ? {sepLine: true} : {};
  return {
    groups: reader.read(withoutStart(chunks, top.bytes + sepLineBytes)),
    format() {
      const {layout} = reader;
      const groups = groupNamesOfColumns(top, layout?.columns.length ?? 0);
      return layout && {kind: 'csv', ...parts, ...textFormat, ...sepLine, ...layout, ...(groups && {groups})};
    },
    notes() {
      if (reader.looseLine === undefined) return top.notes;
      const quotes = `${reading.file} has quotes inside fields that are not quoted (line ${reader.looseLine}): they are read as part of the text.`;
      return [...top.notes, quotes];
    },
  };
}

/** Numbers of NUL bytes that were left out in front of a text, and behind it so far. */
interface Padding {
  before: number;
  after: number;
}

/** Fewer NULs in front of a text may be a part of a character, in UTF-16 or UTF-32. */
const FEWEST_NULS = 8;

/** Removes NULs in front of the text: a log that was cut while a program kept it open begins with them. */
async function* withoutPadding(chunks: AsyncIterable<Buffer>, padding: Padding): AsyncGenerator<Buffer> {
  let isBegun = false;
  for await (const chunk of chunks) {
    const start = isBegun ? 0 : chunk.findIndex(byte => byte !== 0);
    if (start === -1) padding.before += chunk.length;
    else {
      const isPadding = padding.before + start >= FEWEST_NULS;
      if (!isBegun) padding.before = isPadding ? padding.before + start : 0;
      yield isPadding && !isBegun ? chunk.subarray(start) : chunk;
      isBegun = true;
    }
  }
}

/** A sentence on the NULs that were left out; none without such bytes. */
function describePadding(name: string, {before, after}: Padding): string[] {
  if (before + after === 0) return [];
  return [
    `${name} is padded with NUL bytes, as after a power cut: ${before} in front and ${after} at the end are left out.`,
  ];
}

/** Ctrl-Z: DOS programs write this byte at the end of a text. A file system pads a text with NULs after a power cut. */
const END_MARKS: ReadonlySet<number | undefined> = new Set([0x1a, 0]);

/** Removes Ctrl-Z and NUL bytes at the end of the text, since they are not a row. Those within the text stay. */
async function* withoutEndMark(chunks: AsyncIterable<Buffer>, padding: Padding): AsyncGenerator<Buffer> {
  let marks: Buffer[] = [];
  for await (const chunk of chunks) {
    let end = chunk.length;
    while (end > 0 && END_MARKS.has(chunk[end - 1])) end -= 1;
    if (end > 0) {
      yield* marks;
      marks = [];
      yield end === chunk.length ? chunk : chunk.subarray(0, end);
    }
    if (end < chunk.length) marks.push(chunk.subarray(end));
  }
  padding.after = marks.reduce((sum, mark) => sum + mark.filter(byte => byte === 0).length, 0);
}
