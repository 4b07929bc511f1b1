import {formatByName} from '../job/name-endings.ts';
import type {SettingsFor} from '../job/settings.ts';
import {decompress} from './bytes/decompress.ts';
import {detectEncoding, type FoundEncoding} from './bytes/detect-encoding.ts';
import type {Meter} from './bytes/meter.ts';
import {peek} from './bytes/peek.ts';
import {openRaw, type Pipes, type RawInput} from './bytes/raw.ts';
import {transcode} from './bytes/transcode.ts';
import {InputError} from './input-error.ts';
import {detectDialect, recordsIn, refuseOtherDelimiter} from './records/csv-dialect.ts';
import {CsvReader} from './records/csv-reader.ts';
import {widthOf} from './records/delimiter.ts';
import {detectKind, refuseBinary, refuseMarkup, refuseValues} from './records/detect-kind.ts';
import {JsonReader} from './records/json-reader.ts';
import {NdjsonReader} from './records/ndjson-reader.ts';
import type {RecordReader} from './records/record-reader.ts';
import type {InputFormat, InputRecord, ReadOn, ReadSoFar} from './row.ts';
import {groupsIn, refuseLog, refuseTitle, skipLines} from './title-lines.ts';

/** Bytes of text read to detect a file's format. */
const SAMPLE_BYTES = 64 * 1024;

/** Settings for reading. They are the same for all files of an input. */
export interface FileSettings extends SettingsFor<'reading'>, Pipes {
  readonly chunkSize: number;
}

/** A place in a file's text: `text` bytes are before it, and line number `line` begins there. */
export type TextPlace = Pick<ReadOn, 'text' | 'line'>;

export interface OpenFile {
  readonly name: string;
  readonly size: number | undefined;
  /** Notes for the user about how the file is read. */
  readonly notes: readonly string[];
  /** The records in groups: each group has the records that one chunk of text completes, and may be empty. */
  readonly groups: AsyncGenerator<InputRecord[]>;
  /** The format; undefined until the reader knows the columns. */
  format(): InputFormat | undefined;
  /** The place from which the next record can be read; undefined if that place is not known. */
  place(): TextPlace | undefined;
  /** Skips ahead to `place`. The text before it yields no records. */
  readOn(place: TextPlace): void;
  /** The file's bytes from the start; undefined if no program has written to the file since it was opened. */
  again(): Promise<AsyncIterable<Buffer> | undefined>;
  close(): Promise<void>;
}

/**
 * Opens one file, or stdin for `-`, and detects its format.
 *
 * @throws {InputError}
 */
export async function openFile(
  path: string,
  settings: FileSettings,
  meter: Meter,
  tally: ReadSoFar,
): Promise<OpenFile> {
  const name = path === '-' ? 'stdin' : path;
  const raw = await openRaw(path, settings.chunkSize, settings);
  try {
    const bytes = await peek(decompress(metered(raw, meter), name, settings.chunkSize), SAMPLE_BYTES);
    const encoding = detectEncoding(bytes.head, settings.encoding);
    const text = await peek(withoutEndMark(transcode(bytes.chunks, encoding)), SAMPLE_BYTES);
    if (text.head.length === 0)
      throw new InputError('input_empty', `${name} is empty, without a header. Check the export.`);
    refuseBinary(text.head, name);
    const sample = text.head.toString('utf8');
    refuseMarkup(sample, name);
    const {reader, skip, format, looseLine} = createReader(sample, path, name, encoding, settings, tally);
    const groups = new TextGroups(text.chunks, reader, skip);
    return {
      name,
      size: raw.size,
      get notes() {
        return [...notesOn(name, encoding), ...noteOnQuotes(name, looseLine?.())];
      },
      groups: groups.read(),
      format,
      place: () => groups.place,
      readOn: place => groups.readOn(place),
      again: () => raw.again(),
      close: () => raw.close(),
    };
  } catch (error) {
    await raw.close();
    throw error;
  }
}

function notesOn(name: string, {guess, name: encoding, perhaps}: FoundEncoding): string[] {
  if (guess === 'sure')
    return [
      `${name} is not UTF-8: it is read as ${encoding} and written as UTF-8. If letters look wrong, add --encoding.`,
    ];
  if (guess === undefined) return [];
  const likely =
    perhaps === undefined
      ? 'Name its encoding (--encoding windows-1252, windows-1250, shift_jis, gbk, big5, euc-kr, macintosh, cp850, …), or save it as UTF-8: iconv -f ENCODING -t utf-8'
      : `It looks like ${perhaps}: add --encoding ${perhaps}`;
  return [`${name} is not all UTF-8, and its encoding can't be guessed. Such rows are rejected. ${likely}.`];
}

function noteOnQuotes(name: string, line: number | undefined): string[] {
  return line === undefined
    ? []
    : [
        `${name} has quotes inside fields that are not quoted (line ${line}): they are read as part of the text.`,
      ];
}

async function* metered(raw: RawInput, meter: Meter): AsyncGenerator<Buffer> {
  for (let chunk = await raw.next(); chunk !== undefined; chunk = await raw.next()) {
    meter.read(chunk);
    yield chunk;
  }
}

/** Passes text to a reader, chunk by chunk, and yields the records in groups. Skips the first `skip` bytes. */
class TextGroups {
  readonly #chunks: AsyncGenerator<Buffer>;
  readonly #reader: RecordReader;
  /** Bytes of the text received so far. */
  #came = 0;
  /** Number of bytes at the start of the text that are skipped: the reader does not get them. */
  #skipTo: number;
  /** While `readOn` skips text: number of the line at which the reader continues. Otherwise undefined. */
  #line: number | undefined;

  constructor(chunks: AsyncGenerator<Buffer>, reader: RecordReader, skip: number) {
    this.#chunks = chunks;
    this.#reader = reader;
    this.#skipTo = skip;
  }

  get place(): TextPlace | undefined {
    const {rest} = this.#reader;
    return rest && {text: this.#came - rest.bytes, line: rest.line};
  }

  readOn({text, line}: TextPlace): void {
    this.#skipTo = text;
    this.#line = line;
  }

  async *read(): AsyncGenerator<InputRecord[]> {
    for await (const chunk of this.#chunks) {
      const skipped = Math.min(chunk.length, Math.max(0, this.#skipTo - this.#came));
      this.#came += chunk.length;
      if (this.#came < this.#skipTo) continue;
      if (this.#line !== undefined) this.#reader.readOn(this.#line);
      this.#line = undefined;
      yield this.#reader.push(chunk.subarray(skipped));
    }
    yield this.#reader.end();
  }
}

interface OpenedReader {
  readonly reader: RecordReader;
  /** Number of bytes at the start of the text that the reader must not get, such as title lines. */
  readonly skip: number;
  readonly format: () => InputFormat | undefined;
  /** Number of the first line with quotes that were read as text; undefined until there is one. */
  readonly looseLine?: () => number | undefined;
}

function createReader(
  sample: string,
  path: string,
  name: string,
  {name: encoding, bomBytes, perhaps}: FoundEncoding,
  settings: FileSettings,
  tally: ReadSoFar,
): OpenedReader {
  const named = settings.inputFormat ?? formatByName(path);
  const {maxRecordSize, header} = settings;
  const bom = bomBytes > 0;
  const kind = detectKind(sample, named);
  if (kind !== 'csv') {
    const Reader = kind === 'json' ? JsonReader : NdjsonReader;
    const reader = new Reader({file: name, maxRecordSize, tally, perhaps});
    const eol = /\r?\n/.exec(sample)?.[0] === '\r\n' ? '\r\n' : '\n';
    return {reader, skip: 0, format: () => ({kind: 'ndjson', eol, bom, encoding, perhaps, columns: []})};
  }
  if (named === undefined) refuseValues(sample, path, name);
  const said = settings.delimiter ?? (named === 'tsv' ? '\t' : undefined);
  const skippedLines = settings.skipLines ?? 0;
  const skipped = skipLines(sample, skippedLines, name);
  const dialect = detectDialect(skipped.rest, said);
  if (header && said === undefined && skippedLines === 0) refuseLog(sample, name);
  if (header) refuseTitle(skipped.rest, said, name, skippedLines);
  if (settings.delimiter !== undefined) refuseOtherDelimiter(skipped.rest, settings.delimiter, name);
  const {delimiter, eol} = dialect;
  const reader = new CsvReader({
    file: name,
    perhaps,
    maxRecordSize,
    tally,
    dialect,
    header,
    width: widthOf(recordsIn(skipped.rest, dialect)),
    skippedLines,
    padShortRows: settings.padShortRows === true,
  });
  const sepLine = dialect.sepLineBytes > 0 ? {sepLine: true} : {};
  const above = header ? groupsIn(skipped.last, delimiter) : undefined;
  const format = (): InputFormat | undefined => {
    const {layout} = reader;
    const groups = above?.length === layout?.columns.length ? {groups: above} : {};
    return layout && {kind: 'csv', delimiter, eol, bom, encoding, perhaps, ...sepLine, ...layout, ...groups};
  };
  return {reader, skip: skipped.bytes + dialect.sepLineBytes, format, looseLine: () => reader.looseLine};
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
