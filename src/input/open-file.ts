import {formatByName} from '../job/name-endings.ts';
import type {SettingsFor} from '../job/settings.ts';
import {type Said, say, set} from '../sentence.ts';
import {decompress} from './bytes/decompress.ts';
import {detectEncoding, type FoundEncoding} from './bytes/detect-encoding.ts';
import {peek} from './bytes/peek.ts';
import {type FileState, openRaw, type Pipes, type RawInput} from './bytes/raw.ts';
import {transcode} from './bytes/transcode.ts';
import {columnGroups, findTop} from './csv-top.ts';
import {InputError} from './input-error.ts';
import {refuseLog, refuseOtherKinds, refuseQuotedLines, refuseRowNames, refuseTexts} from './other-kinds.ts';
import {refuseOtherDelimiter} from './records/csv-dialect.ts';
import {CsvReader} from './records/csv-reader.ts';
import {detectKind, refuseBinary, refuseMarkup, refuseValues} from './records/detect-kind.ts';
import {JsonReader} from './records/json-reader.ts';
import {NdjsonReader} from './records/ndjson-reader.ts';
import {RECORD_BYTES, type RecordReader} from './records/record-reader.ts';
import type {InputFormat, InputRecord, ReadSoFar} from './row.ts';

/** Bytes of text read to detect a file's format. */
const SAMPLE_BYTES = 64 * 1024;

/** Settings for reading. They are the same for all files of an input. */
export interface FileSettings extends SettingsFor<'reading'>, Pipes {
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
  readonly size: number | undefined;
  /** Notes for the user about how the file is read. */
  readonly notes: readonly Said[];
  /** The records in groups: each group has the records that one chunk of text completes, and may be empty. */
  readonly groups: AsyncGenerator<InputRecord[]>;
  /** The format; undefined until the reader knows the columns. */
  format(): InputFormat | undefined;
  /** The file's state when it was opened; undefined for an input that can be read only once. */
  readonly state: FileState | undefined;
  close(): Promise<void>;
}

/**
 * Opens one file, or stdin for `-`, and detects its format. Passes each chunk of its raw bytes to `watch`.
 *
 * @throws {InputError}
 */
export async function openFile(
  path: string,
  settings: FileSettings,
  tally: ReadSoFar,
  watch: (chunk: Buffer) => void = () => {},
): Promise<OpenFile> {
  const name = path === '-' ? 'stdin' : path;
  const raw = await openRaw(path, settings.chunkSize, settings);
  try {
    const bytes = await peek(decompress(watched(raw, watch), name, settings.chunkSize), SAMPLE_BYTES);
    const encoding = detectEncoding(bytes.head, settings.encoding);
    const text = await peek(withoutEndMark(transcode(bytes.chunks, encoding)), SAMPLE_BYTES);
    if (text.head.length === 0)
      throw new InputError('input_empty', `${name} is empty, without a header. Check the export.`);
    refuseBinary(text.head, name);
    const sample = text.head.toString('utf8');
    refuseMarkup(sample, name);
    const {reader, skip, format, notes} = createReader(sample, path, name, encoding, settings, tally);
    return {
      name,
      size: raw.size,
      get notes() {
        return [...notesOn(name, encoding), ...(notes?.() ?? [])];
      },
      groups: groupsOf(text.chunks, reader, skip),
      format,
      state: raw.state,
      close: () => raw.close(),
    };
  } catch (error) {
    await raw.close();
    throw error;
  }
}

function notesOn(name: string, {guess, name: encoding, perhaps, among = []}: FoundEncoding): Said[] {
  if (guess === 'sure')
    return [
      say`${name} is not UTF-8: it is read as ${encoding} and written as UTF-8. If letters look wrong, add ${set('encoding')}.`,
    ];
  if (guess === undefined) return [];
  if (guess === 'mixed')
    return [
      say`${name} has rows in two encodings: some lines are UTF-8, and others are not. Those in UTF-8 are read, the others are rejected. No ${set('encoding')} fits both: save each part as UTF-8, and join them again.`,
    ];
  const likely =
    perhaps === undefined && among.length > 0
      ? say`It may be ${among.join(' or ')} (${set('encoding', among[0])}): compare some names before you pay`
      : perhaps === undefined
        ? say`Name its encoding (${set('encoding', 'windows-1252')}, windows-1250, shift_jis, gbk, big5, euc-kr, macintosh, cp850, …), or save it as UTF-8: iconv -f ENCODING -t utf-8`
        : say`It looks like ${perhaps}: add ${set('encoding', perhaps)}`;
  return [
    say`${name} is not all UTF-8, and its encoding can't be guessed. Such rows are rejected. ${likely}.`,
  ];
}

function noteOnQuotes(name: string, line: number | undefined): string[] {
  return line === undefined
    ? []
    : [
        `${name} has quotes inside fields that are not quoted (line ${line}): they are read as part of the text.`,
      ];
}

async function* watched(raw: RawInput, watch: (chunk: Buffer) => void): AsyncGenerator<Buffer> {
  for (let chunk = await raw.next(); chunk !== undefined; chunk = await raw.next()) {
    watch(chunk);
    yield chunk;
  }
}

/** Passes text to a reader, chunk by chunk, and yields the records in groups. Skips the first `skip` bytes. */
async function* groupsOf(
  chunks: AsyncGenerator<Buffer>,
  reader: RecordReader,
  skip: number,
): AsyncGenerator<InputRecord[]> {
  let left = skip;
  for await (const chunk of chunks) {
    const skipped = Math.min(chunk.length, left);
    left -= skipped;
    yield reader.push(chunk.subarray(skipped));
  }
  yield reader.end();
}

interface OpenedReader {
  readonly reader: RecordReader;
  /** Number of bytes at the start of the text that the reader must not get, such as title lines. */
  readonly skip: number;
  readonly format: () => InputFormat | undefined;
  /** Notes on lines that are read in another way than they are written. */
  readonly notes?: () => readonly Said[];
}

function createReader(
  sample: string,
  path: string,
  name: string,
  {name: encoding, bomBytes, perhaps, among = [], guess, isShown}: FoundEncoding,
  settings: FileSettings,
  tally: ReadSoFar,
): OpenedReader {
  const named = settings.inputFormat ?? formatByName(path);
  const {maxRecordSize = RECORD_BYTES, header} = settings;
  const bom = bomBytes > 0;
  const isUtf8Else = guess === 'mixed' || isShown === true;
  const kind = detectKind(sample, named);
  if (kind !== 'csv') {
    const Reader = kind === 'json' ? JsonReader : NdjsonReader;
    const reader = new Reader({file: name, maxRecordSize, tally, perhaps, among, isUtf8Else});
    const eol = /\r?\n/.exec(sample)?.[0] === '\r\n' ? '\r\n' : '\n';
    return {reader, skip: 0, format: () => ({kind: 'ndjson', eol, bom, encoding, perhaps, columns: []})};
  }
  if (named === undefined) refuseValues(sample, path, name);
  const delimiter = settings.delimiter ?? (named === 'tsv' ? '\t' : undefined);
  const {decides = false, skipLines = 0, padShortRows = false} = settings;
  if (header) refuseOtherKinds(sample, name);
  if (header && delimiter === undefined && skipLines === 0) refuseLog(sample, name);
  const top = findTop(sample, name, {header, delimiter, skipLines, decides});
  const {dialect, records} = top;
  if (top.header) {
    refuseQuotedLines(records, top.text, path, name);
    if (delimiter === undefined) refuseTexts(top.text, records, path, name);
    refuseRowNames(records, dialect.delimiter, path, name);
  }
  if (settings.delimiter !== undefined) refuseOtherDelimiter(top.text, settings.delimiter, name);
  const reader = new CsvReader({
    ...top,
    file: name,
    perhaps,
    among,
    isUtf8Else,
    maxRecordSize,
    tally,
    padShortRows,
  });
  const sepLine = dialect.sepLineBytes > 0 ? {sepLine: true} : {};
  const format = (): InputFormat | undefined => {
    const {layout} = reader;
    const groups = columnGroups(top, layout?.columns.length ?? 0);
    const {delimiter, eol} = dialect;
    return (
      layout && {
        kind: 'csv',
        delimiter,
        eol,
        bom,
        encoding,
        perhaps,
        ...sepLine,
        ...layout,
        ...(groups && {groups}),
      }
    );
  };
  const notes = () => [...top.notes, ...noteOnQuotes(name, reader.looseLine)];
  return {reader, skip: top.bytes + dialect.sepLineBytes, format, notes};
}

/** Ctrl-Z: DOS programs write this byte at the end of a text. */
const END = 0x1a;

/** Removes Ctrl-Z bytes at the end of the text, since they are not a row. Ctrl-Z bytes within the text stay. */
export async function* withoutEndMark(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let marks: Buffer[] = [];
  for await (const chunk of chunks) {
    let end = chunk.length;
    while (end > 0 && chunk[end - 1] === END) end -= 1;
    if (end > 0) {
      yield* marks;
      marks = [];
      yield end === chunk.length ? chunk : chunk.subarray(0, end);
    }
    if (end < chunk.length) marks.push(chunk.subarray(end));
  }
}
