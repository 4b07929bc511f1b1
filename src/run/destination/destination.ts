import {existsSync} from 'node:fs';
import {basename, dirname} from 'node:path';
import type {Transform} from 'node:stream';
import zlib from 'node:zlib';
import {type FileDigest, hasDigest} from '../../disk/digest.ts';
import {openStreamForWriting} from '../../disk/pipe.ts';
import {orThrowUnwritable, syncDirectory} from '../../disk/replace.ts';
import {OutputError, UsageError} from '../../errors.ts';
import {missingFileError} from '../../input/input-error.ts';
import {type Compression, readSummarizedOutput, withoutCompression} from '../../job/file-names.ts';
import type {Job} from '../../job/job.ts';
import {FileSink, type Sink, StreamSink} from '../../output/sink.ts';
import {say, set} from '../../sentence.ts';
import {type PublishOptions, partialPath, publish, type RunPaths, writablePath} from './publish.ts';

/**
 * The place that a run's rows go to. It is checked before anything is paid for, then written, then published. A file is
 * written under a temporary name, compressed if its name says so, and renamed once it is complete. Rows that go into a
 * stream, or to a program, can't be taken back, compared or replaced: only the files beside them are published.
 */
export class Destination {
  /** The output's file, if it is one. */
  readonly file: string | undefined;
  /** The run's own directory beside the file: a run must hold its lock to write the file. */
  readonly own: string | undefined;
  readonly #job: Job;
  readonly #target: string | undefined;
  readonly #compression: Compression | undefined;

  constructor(job: Job) {
    const {output} = job;
    this.#job = job;
    if (output.kind !== 'file') return;
    this.file = output.name;
    this.#compression = output.compression;
    this.#target = writablePath(output.name);
    this.own = `${this.#target}.run`;
  }

  /**
   * @throws {UsageError | OutputError | InputError} if the output can't be written, or another output's
   * summary would be overwritten.
   */
  check(): void {
    if (this.file === undefined) return;
    this.#engine();
    refuseOthersSummary(this.#job);
    refuseNowhere(this.#job, this.#target ?? this.file);
  }

  /** True if the file has this digest. If so, also makes the file safe from a power cut. */
  async holds(digest: FileDigest): Promise<boolean> {
    if (this.#target === undefined || !(await hasDigest(this.#target, digest))) return false;
    // The run that renamed the output may have been killed before the new name was durable.
    syncDirectory(dirname(this.#target));
    return true;
  }

  /** Creates the unpublished output, without rows. @throws {OutputError} */
  async open(files: RunPaths, stdout: NodeJS.WritableStream): Promise<Sink> {
    const {output} = this.#job;
    if (output.kind === 'file') return FileSink.create(partialPath(files, 'output'), this.#engine());
    if (output.kind === 'rows') return nowhere;
    const {to} = output;
    if (to === '-') return new StreamSink(stdout, false);
    const stream = orThrowUnwritable(to, () => openStreamForWriting(to));
    return new StreamSink(stream, true);
  }

  /** Compresses the output, if its name says so. */
  #engine(): Transform | undefined {
    return this.#compression && engineOf(this.#compression, this.#job.output.name);
  }

  /** Puts the run's files in place, the output last. @throws {OutputError} */
  publish(files: RunPaths, facts: PublishOptions): void {
    publish(files, this.#target, facts);
  }
}

/** Text goes nowhere: the library gives rows back to the calling program. */
const nowhere: Sink = {write: async () => {}, flush: async () => {}, close: async () => {}};

function refuseOthersSummary({output, paths: {summary}, settings}: Job): void {
  if (summary === undefined || settings.summary !== undefined) return;
  const owner = readSummarizedOutput(summary);
  if (owner !== undefined && owner !== basename(output.name))
    throw new UsageError(
      'summary_exists',
      say`${summary} is the summary of ${owner} and would be lost. Choose another file with ${set('summary')}, and with ${set('rejects')}.`,
    );
}

/** `target`: the real path, which a link may put elsewhere. */
function refuseNowhere({inputs, output}: Job, target: string): void {
  const directory = [output.name, target].map(path => dirname(path)).find(path => !existsSync(path));
  if (directory === undefined) return;
  // By default the output is beside the input. If both are in this missing directory, the input's path is wrong.
  const input = inputs.find(path => dirname(path) === directory);
  if (input !== undefined) throw missingFileError(input);
  throw new OutputError('no_directory', `The output's directory, ${directory}, does not exist.`);
}

/** Functions that create a compressor. Undefined for a compression that this version of Node lacks. */
const engines: Readonly<Record<Compression, (() => Transform) | undefined>> = {
  gzip: zlib.createGzip,
  zstd: Reflect.get(zlib, 'createZstdCompress') as (() => Transform) | undefined,
};

/** @throws {UsageError} if this version of Node can't write this compression. */
function engineOf(compression: Compression, path: string): Transform {
  const engine = engines[compression];
  if (engine !== undefined) return engine();
  const gzipped = `${withoutCompression(path)}.gz`;
  throw new UsageError(
    'output_compressed',
    say`${path} would be compressed with ${compression}, which this Node (${process.version}) can't do. Use Node >= 22.15, or gzip: ${gzipped}. Or write to a pipe (${set('output', '-')} | ${compression}); such a run can't be resumed.`,
    {flags: ['-o', gzipped]},
  );
}
