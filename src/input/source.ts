import {createHash} from 'node:crypto';
import {isDeepStrictEqual} from 'node:util';
import type {Said} from '../sentence.ts';
import {resume} from './bytes/decompress.ts';
import {type FileState, fileState, isReadOnce, type PipeSettings} from './bytes/raw.ts';
import {InputError} from './input-error.ts';
import {
  charactersIn,
  type FileSettings,
  type OpenFile,
  openFile,
  SAMPLE_CHARACTERS,
  SAMPLE_RECORDS,
} from './open-file.ts';
import {jsonMembers} from './records/json-reader.ts';
import {type InputCounts, type InputDigest, type InputFormat, type InputRecord, noInput} from './row.ts';

export interface SourceSettings
  extends Omit<FileSettings, 'chunkSize' | keyof PipeSettings>,
    Partial<PipeSettings> {
  /** Files, or `-` for stdin, in order. */
  readonly paths: readonly string[];
  /** Bytes read at once; affects only the speed. */
  readonly chunkSize?: number | undefined;
}

export interface RecordSource extends Readonly<InputCounts> {
  readonly format: InputFormat;
  /** The first records of the input, at most 1,000. */
  readonly sample: readonly InputRecord[];
  /** Total size of all inputs before decompression; undefined unless all are regular files. */
  readonly bytesTotal: number | undefined;
  /** Number and hash of the raw bytes read so far. It covers all bytes once batches() has ended. */
  readonly position: InputDigest;
  /** Notes for the user about how the inputs are read. */
  readonly notes: readonly Said[];
  /** True if the records come once: from a pipe, or from a program. */
  readonly isOnce: boolean;
  /** True if a program has written to a file, or replaced it, since this source opened it. */
  readonly isChanged: boolean;
  /** Delivers the records of all inputs in order, in groups, once. @throws {InputError} */
  batches(): AsyncGenerator<readonly InputRecord[]>;
  /** Closes the files. May be called at any time, and more than once. batches() then ends without an error. */
  close(): Promise<void>;
}

const CHUNK_BYTES = 64 * 1024;

/** Opens all inputs, detects their formats, and reads the sample. @throws {InputError} */
export async function openRecordSource(settings: SourceSettings): Promise<RecordSource> {
  const fileSettings = {
    ...settings,
    chunkSize: settings.chunkSize ?? CHUNK_BYTES,
    stdin: settings.stdin ?? process.stdin,
  };
  const reading = new FileSource(fileSettings, settings.paths);
  try {
    await reading.start();
    return reading;
  } catch (error) {
    await reading.close();
    throw error;
  }
}

class FileSource implements RecordSource {
  readonly #settings: FileSettings;
  readonly #paths: readonly string[];
  readonly #hash = createHash('sha256');
  #bytes = 0;
  readonly #all = this.#readAll();
  /** Batches that were read for the sample and are not delivered yet. */
  readonly #ahead: (readonly InputRecord[])[] = [];
  readonly #opened: FileState[] = [];
  #file: OpenFile | undefined;
  #first: OpenFormat | undefined;
  /** By their words: several files may have the same. */
  readonly #notes = new Map<string, Said>();
  #closed = false;
  recordsRead = 0;
  blankLines = 0;
  paddedRows = 0;
  linesBesideHeader = 0;
  readonly sample: InputRecord[] = [];
  bytesTotal: number | undefined;

  constructor(settings: FileSettings, paths: readonly string[]) {
    this.#settings = settings;
    this.#paths = paths;
  }

  get format(): InputFormat {
    return this.#demandFirst().format;
  }

  #demandFirst(): OpenFormat {
    if (this.#first === undefined) throw new Error('the source was not started');
    return this.#first;
  }

  get position(): InputDigest {
    return {bytes: this.#bytes, sha256: this.#hash.copy().digest('hex')};
  }

  get notes(): readonly Said[] {
    return [...this.#notes.values()];
  }

  get isOnce(): boolean {
    return this.#paths.some(isReadOnce);
  }

  get isChanged(): boolean {
    return this.#opened.some(opened => {
      const now = fileState(opened.path);
      // A file that is gone was read as it was: its handle was open.
      return now !== undefined && !isDeepStrictEqual(now, opened);
    });
  }

  async start(): Promise<void> {
    let characters = 0;
    while (this.sample.length < SAMPLE_RECORDS && characters < SAMPLE_CHARACTERS) {
      const {done, value} = await this.#all.next();
      if (done === true) break;
      this.#ahead.push(value);
      for (const record of value) {
        if (this.sample.length >= SAMPLE_RECORDS || characters >= SAMPLE_CHARACTERS) break;
        this.sample.push(record);
        characters += charactersIn(record);
      }
    }
    const {name, format} = this.#demandFirst();
    if (format.kind === 'ndjson') this.#first = {name, format: {...format, columns: keysIn(this.sample)}};
    this.bytesTotal = await this.#checkOthers();
  }

  async *batches(): AsyncGenerator<readonly InputRecord[]> {
    try {
      yield* resume(this.#ahead, this.#all);
    } catch (error) {
      // After the source is closed, a reading error does not matter.
      if (!this.#closed) throw error;
    } finally {
      await this.close();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#file?.close();
  }

  async *#readAll(): AsyncGenerator<readonly InputRecord[]> {
    for (const path of this.#paths) {
      this.#file = await openFile(path, this.#settings, this, chunk => {
        this.#hash.update(chunk);
        this.#bytes += chunk.length;
      });
      if (this.#file.state !== undefined) this.#opened.push(this.#file.state);
      this.#demandAgreement(this.#file);
      for await (const records of this.#file.groups) if (records.length > 0) yield records;
      this.#file.close();
    }
  }

  /** @throws {InputError} if the file's columns are not those of the first file. */
  #demandAgreement({name, format, notes}: OpenFile): void {
    for (const note of notes) this.#notes.set(String(note), note);
    this.#first ??= {name, format};
    const difference = findDifference(this.#first, {name, format});
    if (difference === undefined) return;
    throw new InputError(
      'input_headers_differ',
      `${this.#first.name} and ${name} don't have the same columns: ${difference}. Run them one by one, or give them the same header.`,
    );
  }

  /** Compares all headers before any call is paid for. Returns the total size; undefined if an input is no regular file. */
  async #checkOthers(): Promise<number | undefined> {
    for (const [index, path] of this.#paths.entries())
      if (index > 0 && !isReadOnce(path)) await this.#checkFile(path);
    const states = this.#paths.map(path => (isReadOnce(path) ? undefined : fileState(path)));
    return states.reduce<number | undefined>(
      (sum, state) => (state && sum !== undefined ? sum + state.size : undefined),
      0,
    );
  }

  async #checkFile(path: string): Promise<void> {
    const file = await openFile(path, this.#settings, noInput());
    file.close();
    this.#demandAgreement(file);
  }
}

/** The keys of the objects in the sample, in order of first appearance. */
function keysIn(sample: readonly InputRecord[]): string[] {
  const rows = sample.filter(record => record.type === 'ndjson');
  return [...new Set(rows.flatMap(({raw}) => [...jsonMembers(raw).keys()]))];
}

type OpenFormat = Pick<OpenFile, 'name' | 'format'>;

/** A difference that keeps two inputs from going into one output, in words; undefined without one. */
function findDifference(...inputs: readonly [OpenFormat, OpenFormat]): string | undefined {
  const [a, b] = inputs.map(({format}) => format) as [InputFormat, InputFormat];
  const both = (verb: string, what: (format: InputFormat) => string) =>
    inputs.map(({name, format}) => `${name} ${verb} ${what(format)}`).join(', ');
  if (a.kind !== b.kind) return both('is', ({kind}) => kind.toUpperCase());
  if (a.kind === 'ndjson') return undefined;
  const at = a.columns.findIndex((name, i) => name !== b.columns[i]);
  if (at >= 0 && at < b.columns.length)
    return `column ${at + 1} is ${inputs.map(({name, format}) => `${JSON.stringify(format.columns[at])} in ${name}`).join(' and ')}`;
  return a.columns.length === b.columns.length
    ? undefined
    : both('has', ({columns}) => `${columns.length} columns`);
}
