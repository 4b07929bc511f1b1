import {createHash} from 'node:crypto';
import {closeSync, constants, existsSync, lstatSync, openSync, readSync, rmSync, statSync} from 'node:fs';
import {basename, dirname, join, resolve} from 'node:path';
import type {Transform} from 'node:stream';
import zlib from 'node:zlib';
import {type FileDigest, hasDigest} from '../disk/digest.ts';
import {resolveWritePath} from '../disk/path.ts';
import {openStreamForWriting} from '../disk/pipe.ts';
import {
  moveFile,
  orThrowUnwritable,
  prepareReplacement,
  replaceFile,
  syncDirectory,
  temporaryPathBeside,
} from '../disk/replace.ts';
import {OutputError, StateError, systemCode, systemReason, UsageError} from '../errors.ts';
import {missingFileError} from '../input/input-error.ts';
import {type Compression, readSummarizedOutput, withoutCompression} from '../job/file-names.ts';
import type {Job} from '../job/job.ts';
import {FileSink, type Sink, StreamSink} from '../output/sink.ts';
import {summaryJson} from '../report/format.ts';
import type {Summary} from '../report/summary.ts';
import {type Said, say, setting} from '../sentence.ts';

/**
 * The place that a run's rows go to. It is checked before anything is paid for, then written, then published. A file is
 * written under a temporary name, compressed if its name says so, and renamed once it is complete. Rows that go into a
 * stream, or to a program, can't be taken back, compared or replaced: only the files beside them are published.
 */
export class Destination {
  readonly file: string | undefined;
  /** The run's own directory beside the file: a run must hold its lock to write the file. */
  readonly runDirectory: string | undefined;
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
    this.runDirectory = `${this.#target}.run`;
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

  #engine(): Transform | undefined {
    return this.#compression && engineOf(this.#compression, this.#job.output.name);
  }

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
      say`${summary} is the summary of ${owner} and would be lost. Choose another file with ${setting('summary')}, and with ${setting('rejects')}.`,
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
    say`${path} would be compressed with ${compression}, which this Node (${process.version}) can't do. Use Node >= 22.15, or gzip: ${gzipped}. Or write to a pipe (${setting('output', '-')} | ${compression}); such a run can't be resumed.`,
    {flags: ['-o', gzipped]},
  );
}

/** Files that a run writes beside its output, with the beginning by which the next run recognizes each. */
const beginnings = {
  summary: /^\{\s*"schema_version": ?\d/,
  rejects: /^\{"file":"(?:[^"\\]|\\.)*","line":\d+,"row":\d+,"reason":"/,
  report: /^(?:<!doctype html>\n)?<!-- bulk-enrich report -->/,
  metrics: /^# HELP bulk_enrich_/,
} as const;

export type RunFileKind = keyof typeof beginnings;

/** A path of a list may have 4,096 bytes, and each may be escaped in six characters. */
const LONGEST_BEGINNING = 32_768;

/** True if a run wrote the file at `path`, or if it is empty. A run may replace or remove only such a file. */
export function isRunFile(kind: RunFileKind, path: string): boolean {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const head = Buffer.alloc(LONGEST_BEGINNING);
    const bytes = readSync(file, head);
    return bytes === 0 || beginnings[kind].test(head.toString('utf8', 0, bytes));
  } catch {
    return false;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** True if a run may write the path: no file would be lost but one that a run wrote. */
export function mayWrite(kind: RunFileKind, path: string): boolean {
  return statSync(path, {throwIfNoEntry: false})?.isFile() !== true || isRunFile(kind, path);
}

/** @throws {UsageError} if a run would replace a file that no run wrote. `place`: the setting that names it. */
export function refuseOthersFile(kind: RunFileKind, path: string, place: Said = say`${setting(kind)}`): void {
  if (mayWrite(kind, path)) return;
  throw new UsageError(
    'file_exists',
    say`${place}: ${path} exists, is not a run's ${kind}, and would be lost. Choose another path, or move it away.`,
  );
}

/** Places of a run's files until they are published. */
export interface RunPaths {
  readonly directory: string;
  /** Directory of the unpublished files: beside the output, so that each can be renamed; else the state's. */
  readonly partials: string;
  readonly written: RealPaths;
}

/** The real paths of a run's files, found from the job's paths and never from saved data. */
export interface RealPaths {
  readonly rejects: string | undefined;
  readonly summary: string | undefined;
}

export type PartialFileKind = 'output' | 'rejects';

export const partialFiles = ['output.partial', 'rejects.partial'];

export function partialPath({partials}: Pick<RunPaths, 'partials'>, name: PartialFileKind): string {
  return join(partials, `${name}.partial`);
}

/** Part of the names of temporary files outside of the state's directory, unique to it: see `temporaryPathBeside`. */
function tokenOf(directory: string): string {
  return createHash('sha256').update(resolve(directory)).digest('hex').slice(0, 16);
}

/** The same for the job's state; undefined for a job without one. */
export function stateToken({paths: {state}}: Job): string | undefined {
  return state === undefined ? undefined : tokenOf(state);
}

/** @throws {OutputError | UsageError} like {@link resolveWritePath}. */
export function writablePath(path: string): string {
  return orThrowUnwritable(path, () => resolveWritePath(path));
}

export function outputExistsError(name: string): UsageError {
  return new UsageError(
    'output_exists',
    say`${name} exists. Replace it with ${setting('force', true)} (known answers are not paid for again), or choose another output with ${setting('output')}.`,
  );
}

export interface PublishOptions {
  /** True if no file had the output's name when the run started, and none may be replaced. */
  readonly isNew: boolean;
  /** True if the last run's rejects are to be removed, since this run has none. */
  readonly obsolete: boolean;
  /** Its digests say what is complete. */
  readonly summary: Summary;
}

/**
 * Puts a run's files in place. The output is last: once it is visible, the others must be in place. After a kill at any
 * point, the next run makes the files again from its ledger; if the output is in place, it only does what follows.
 * `output`: where the rows go; undefined if they went into a stream.
 *
 * @throws {OutputError} if a file or its directory can't be written; {@link StateError} if an unpublished file is gone;
 * {@link UsageError} if another program has put a file in a place since the run started.
 */
function publish(
  files: RunPaths,
  output: string | undefined,
  {isNew, obsolete, summary}: PublishOptions,
): void {
  const {rejects, summary: place} = files.written;
  const beside = (path: string) => temporaryPathBeside(path, tokenOf(files.directory));
  const waiting = [
    ...(summary.rejects === null || rejects === undefined ? [] : [{name: 'rejects', to: rejects} as const]),
    ...(output === undefined ? [] : [{name: 'output', to: output} as const]),
  ];
  const lost = waiting.map(({name}) => partialPath(files, name)).find(path => !existsSync(path));
  if (lost !== undefined)
    throw new StateError(
      'publish_lost',
      `${lost} is gone: its directory was moved or removed while the run wrote there, or a link leads elsewhere now. Bring it back to where it was, and run the same command again: without it, only the answer store knows what was paid for.`,
    );
  // A directory can't be replaced with --force either: the move tells.
  const isTaken = (path: string) => lstatSync(path, {throwIfNoEntry: false})?.isDirectory() === false;
  if (isNew && output !== undefined && isTaken(output)) throw outputExistsError(summary.output.path);
  if (place !== undefined) refuseOthersFile('summary', place);
  if (rejects !== undefined) refuseOthersFile('rejects', rejects);
  let placed = '';
  try {
    for (const {name, to} of waiting) {
      placed = to;
      prepareReplacement(partialPath(files, name), to);
    }
    if (obsolete && rejects !== undefined) rmSync(rejects, {force: true});
    if (place !== undefined) {
      placed = place;
      replaceFile(place, summaryJson(summary), {beside: beside(place)});
    }
    for (const {name, to} of waiting) {
      placed = to;
      // Each is durable before the next is visible.
      moveFile(partialPath(files, name), to, beside(to), isNew && name === 'output');
    }
  } catch (error) {
    if (isNew && placed === output && systemCode(error) === 'EEXIST')
      throw outputExistsError(summary.output.path);
    const reason = systemReason(error);
    const where = reason.startsWith(placed) ? reason : `${placed}: ${reason}`;
    throw new OutputError(
      'publish_failed',
      `The output can't be put in place (${where}). Fix the cause, then run the same command again: it makes no calls.`,
      {cause: error},
    );
  }
}
