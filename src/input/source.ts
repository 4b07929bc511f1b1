import type {SettingsFor} from '../job/settings.ts';
import {type Mark, Meter} from './bytes/meter.ts';
import {fileSize, type Pipes} from './bytes/raw.ts';
import {SampleTaker} from './first-records.ts';
import {InputError} from './input-error.ts';
import {type FileSettings, type OpenFile, openFile} from './open-file.ts';
import type {Batch, InputFormat, InputPosition, InputRecord, ReadOn, ReadSoFar, ResumePoint} from './row.ts';
import {demandAgreement, type NamedFormatOf} from './same-format.ts';

export interface SourceSettings extends SettingsFor<'reading'>, Partial<Pipes> {
  /** Files, or `-` for stdin, in order. */
  readonly paths: readonly string[];
  /** Position at which a run was interrupted. Records up to there are not delivered again. */
  readonly resume?: ResumePoint | undefined;
  /** Bytes read at once; affects only the speed. */
  readonly chunkSize?: number | undefined;
}

/** The records of all inputs, in order. */
export interface Source {
  readonly format: InputFormat;
  /** The first records of the input, at most 1,000. A resume does not change them: only batches() skips records. */
  readonly sample: readonly InputRecord[];
  /** Total size of all inputs before decompression; undefined unless all are regular files. */
  readonly bytesTotal: number | undefined;
  /** Number and hash of the raw bytes read so far. It covers all bytes once batches() has ended. */
  readonly position: InputPosition;
  /** Number of records read so far. In a resumed run it includes the records of earlier sessions. */
  readonly recordsRead: number;
  /** Blank lines so far, which are not records. */
  readonly blankLines: number;
  /** Short rows that were filled up with empty fields so far. */
  readonly paddedRows: number;
  /** Notes for the user about how the inputs are read. */
  readonly notes: readonly string[];
  /**
   * Delivers the records, once.
   *
   * @throws {InputError}
   */
  batches(): AsyncIterableIterator<Batch>;
  /** Closes the files. May be called at any time, and more than once. batches() then ends without an error. */
  close(): Promise<void>;
}

const CHUNK_BYTES = 64 * 1024;

/**
 * Opens all inputs, detects their formats, and reads the sample.
 *
 * @throws {InputError}
 */
export async function openSource(settings: SourceSettings): Promise<Source> {
  const fileSettings = {
    ...settings,
    chunkSize: settings.chunkSize ?? CHUNK_BYTES,
    stdin: settings.stdin ?? process.stdin,
  };
  const reading = new FileSource(fileSettings, settings.paths, settings.resume);
  try {
    await reading.start();
    return reading;
  } catch (error) {
    await reading.close();
    throw error;
  }
}

class FileSource implements Source {
  readonly #settings: FileSettings;
  readonly #paths: readonly string[];
  readonly #done: number;
  readonly #meter: Meter;
  readonly #tally: ReadSoFar = {record: 0, blankLines: 0, padded: 0};
  readonly #sample = new SampleTaker();
  readonly #all: AsyncGenerator<Batch>;
  /** Batches that were read for the sample and are not delivered yet. */
  readonly #ahead: Batch[] = [];
  #file: OpenFile | undefined;
  /** The meter's count and hash of the bytes before `#file`. */
  #before: Mark | undefined;
  #first: NamedFormatOf | undefined;
  readonly #notes = new Set<string>();
  #bytesTotal: number | undefined;
  /**
   * On a resume: the place at which to continue once the sample is read. It is at or before the
   * first unfinished record.
   */
  readonly #readOn: ReadOn | undefined;
  /** The last known place at or before the current batch: a resume would start to read there. */
  #from: ReadOn | undefined;
  #sampled = false;
  #closed = false;

  constructor(settings: FileSettings, paths: readonly string[], resume: ResumePoint | undefined) {
    this.#settings = settings;
    this.#paths = paths;
    this.#done = resume?.record ?? 0;
    this.#readOn = resume?.from;
    this.#meter = new Meter(resume);
    this.#all = this.#readAll();
  }

  get format(): InputFormat {
    if (this.#first === undefined) throw new Error('the source was not started');
    const {format} = this.#first;
    return format.kind === 'csv' ? format : {...format, columns: this.#sample.keys};
  }

  get sample(): readonly InputRecord[] {
    return this.#sample.records;
  }

  get bytesTotal(): number | undefined {
    return this.#bytesTotal;
  }

  get position(): InputPosition {
    return this.#meter.position;
  }

  get recordsRead(): number {
    return this.#tally.record;
  }

  get blankLines(): number {
    return this.#tally.blankLines;
  }

  get paddedRows(): number {
    return this.#tally.padded;
  }

  get notes(): readonly string[] {
    return [...this.#notes];
  }

  async start(): Promise<void> {
    while (!this.#sample.full) {
      const {done, value} = await this.#all.next();
      if (done === true) break;
      this.#sample.add(value.records);
      this.#ahead.push(value);
    }
    if (this.#first === undefined) throw noRows(this.#file?.name ?? '', this.#sample.records);
    this.#sampled = true;
    this.#bytesTotal = await this.#checkOthers();
  }

  async *batches(): AsyncGenerator<Batch> {
    try {
      // On a resume, no batch is delivered before the meter has compared the input with the checkpoint.
      let unverified: Batch[] = [];
      for await (const batch of this.#inOrder()) {
        const records =
          this.#done === 0 ? batch.records : batch.records.filter(record => record.record > this.#done);
        if (records.length > 0) unverified.push({records, position: batch.position});
        if (!this.#meter.verified) continue;
        yield* unverified;
        unverified = [];
      }
      yield* unverified;
    } catch (error) {
      // After the source is closed, a reading error does not matter.
      if (!this.#closed) throw error;
    } finally {
      // A file is still open if reading stopped before its end.
      await this.#leaveFile();
      await this.close();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#closeFile();
  }

  /** Closes the file. Throws `input_changed` if the part already read was overwritten meanwhile. */
  async #leaveFile(): Promise<void> {
    try {
      const again = this.#closed ? undefined : await this.#file?.again();
      if (again !== undefined && this.#before !== undefined) await this.#meter.compare(this.#before, again);
    } finally {
      await this.#closeFile();
    }
  }

  async #closeFile(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  async *#inOrder(): AsyncGenerator<Batch> {
    for (let batch = this.#ahead.shift(); batch !== undefined; batch = this.#ahead.shift()) yield batch;
    yield* this.#all;
  }

  async *#readAll(): AsyncGenerator<Batch> {
    for (const [index, path] of this.#paths.entries()) {
      this.#before = this.#meter.mark();
      this.#file = await openFile(path, this.#settings, this.#meter, this.#tally);
      for await (const records of this.#readFile(this.#file)) {
        yield {records, position: {...this.#meter.position, from: this.#from}};
        this.#notePlace(this.#file, index);
      }
      await this.#leaveFile();
    }
    this.#meter.end();
  }

  /** Yields the file's records in groups. Throws if the file's columns are not those of the first file. */
  async *#readFile(file: OpenFile): AsyncGenerator<InputRecord[]> {
    let agreed = false;
    let unread: readonly InputRecord[] = [];
    for await (const records of file.groups) {
      agreed ||= this.#agree(file);
      if (!agreed && unread.length === 0) unread = records;
      if (records.length > 0) yield records;
    }
    if (!agreed) throw noRows(file.name, unread);
  }

  /**
   * Notes the place in the input where the next batch begins. On a resume, the reader jumps over the records
   * that are finished: their bytes are only hashed.
   */
  #notePlace(file: OpenFile, index: number): void {
    const done = this.#readOn;
    if (this.#sampled && done?.file === index && done.soFar.record > this.#tally.record) {
      file.readOn(done);
      Object.assign(this.#tally, done.soFar);
      this.#from = done;
      return;
    }
    const place = file.place();
    // While the reader does not know its place, `#from` stays at the last known place.
    if (place !== undefined) this.#from = {file: index, ...place, soFar: {...this.#tally}};
  }

  #agree(file: OpenFile): boolean {
    const format = file.format();
    if (format === undefined) return false;
    const found = {name: file.name, format};
    for (const note of file.notes) this.#notes.add(note);
    this.#first ??= found;
    demandAgreement(this.#first, found);
    return true;
  }

  /**
   * Compares all files' headers with the first file's, before any call is paid for. Returns the total size in
   * bytes; undefined if an input is not a regular file.
   */
  async #checkOthers(): Promise<number | undefined> {
    let total: number | undefined = 0;
    for (const [index, path] of this.#paths.entries()) {
      const size = path === '-' ? undefined : await this.#checkFile(path, index > 0);
      total = total === undefined || size === undefined ? undefined : total + size;
    }
    return total;
  }

  async #checkFile(path: string, compare: boolean): Promise<number | undefined> {
    const size = await fileSize(path);
    if (size === undefined || !compare) return size;
    const file = await openFile(path, this.#settings, new Meter(), {record: 0, blankLines: 0, padded: 0});
    try {
      for await (const _ of this.#readFile(file)) if (file.format() !== undefined) break;
      return size;
    } finally {
      await file.close();
    }
  }
}

/** The error for a file that shows no columns: it has neither a header nor a readable row. */
function noRows(name: string, [unread]: readonly InputRecord[]): InputError {
  if (unread?.type !== 'reject')
    return new InputError('input_empty', `${name} has only blank lines, without a header.`);
  return new InputError(
    'input_rejected',
    `${name} has no header, and none of its first rows can be read (${unread.reason}: ${unread.detail}; line ${unread.line}). Check the file, --delimiter, --encoding and --skip-lines. Nothing was sent.`,
  );
}
