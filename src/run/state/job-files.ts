import {lstatSync, rmSync} from 'node:fs';
import {join} from 'node:path';
import {lockFiles} from '../../disk/lock.ts';
import {type FileId, identifyFile, isSameFile, isStreamPath, nonFileKind} from '../../disk/path.ts';
import {orThrowUnwritable, temporaryPathBeside, unwritableError} from '../../disk/replace.ts';
import {systemCode, UsageError} from '../../errors.ts';
import type {Env} from '../../job/endpoint.ts';
import type {Job} from '../../job/job.ts';
import {SPARE_SUFFIX} from '../../ledger/run/ledger-file.ts';
import {listRuleFiles} from '../../score/rules.ts';
import {type Said, say, setting} from '../../sentence.ts';
import {
  type Destination,
  partialFiles,
  type RealPaths,
  type RunFileKind,
  refuseOthersFile,
  stateToken,
  writablePath,
} from '../destination.ts';
import {listAccountFilePaths} from '../open/account.ts';

export const LEDGER_FILE = 'ledger.db';
export const DAMAGED_SUFFIX = '.damaged';
export const ledgerFiles = ['', '-wal', '-shm', DAMAGED_SUFFIX, SPARE_SUFFIX].map(
  suffix => LEDGER_FILE + suffix,
);

/** Shows that the directory's run was given up, and that the user has been told. */
export const GIVEN_UP_FILE = 'given-up';

/** Shows that the directory's run has put its output in place, without an answer: starts of the same night continue it. */
export const ENDED_FILE = 'ended';

/** Files that a run may leave beside its output. The locks are removed last. */
export const filesBeside = [GIVEN_UP_FILE, ENDED_FILE, ...partialFiles, ...lockFiles];

export const stateFiles = [...ledgerFiles, ...filesBeside];

/** A file that a job reads or writes, and the setting that names it. */
interface NamedFile {
  readonly setting: Said;
  readonly path: string;
  readonly fileId: FileId;
}

/** A file that a job writes. The output has no `kind`: `--force` decides if it replaces a file. */
interface WrittenFile extends NamedFile {
  readonly kind?: RunFileKind;
}

/**
 * Resolves the job's paths before anything is created, read or paid for. A run replaces only what a run wrote; an
 * output also what `--force` allows; and never a file that it reads.
 *
 * @throws {UsageError} if a file would be lost: two of them are the same, or something else is in a file's place;
 * {@link OutputError} for a name that the system refuses, such as one that is too long.
 */
export function resolveRealPaths(job: Job, {file: output, runDirectory}: Destination, env: Env): RealPaths {
  const {rejects, summary, state} = job.paths;
  const written = writtenFiles(job, output);
  const read = readFiles(job, env);
  const kept = keptFiles([runDirectory, state].filter(path => path !== undefined));
  for (const file of written) refuseAmong(file, [...read, ...written, ...kept]);
  for (const file of read) refuseAmong(file, kept);
  written.forEach(refuseNoFile);
  for (const {path} of written) [writablePath(path), temporaryPathBeside(path)].forEach(refuseLongName);
  for (const {path} of kept) refuseLongName(path);
  for (const {kind, path, setting} of written) if (kind !== undefined) refuseOthersFile(kind, path, setting);
  return {rejects: rejects && writablePath(rejects), summary: summary && writablePath(summary)};
}

/**
 * Removes the temporary files that a killed run of this job left beside the files that it writes.
 *
 * @throws {OutputError} if one can't be removed: the run could not write there at its end.
 */
export function removeTemporaryLeftovers(job: Job, {file}: Destination): void {
  const token = stateToken(job);
  if (token === undefined) return;
  for (const {path} of writtenFiles(job, file))
    orThrowUnwritable(path, () => rmSync(temporaryPathBeside(path, token), {force: true}));
}

function named(setting: Said, path: string): NamedFile {
  return {setting, path, fileId: identifyFile(path)};
}

function readFiles({inputs, settings, jobFile, placeOf}: Job, env: Env): NamedFile[] {
  const key = env.BULK_ENRICH_API_KEY_FILE;
  return [
    ...inputs.filter(path => path !== '-').map(path => named('the input', path)),
    ...(jobFile === undefined ? [] : [named('the job file', jobFile)]),
    ...listRuleFiles(settings.score).map(path => named(placeOf(['score']), path)),
    ...(key ? [named('BULK_ENRICH_API_KEY_FILE', key)] : []),
    ...listAccountFilePaths(env).map(path => named('the account file', path)),
  ];
}

/** The files that the job writes. Pipes and devices are left out: several settings may name the same one. */
function writtenFiles({paths, settings, placeOf}: Job, output: string | undefined): WrittenFile[] {
  const {report, metrics} = settings;
  const all: Record<RunFileKind, string | undefined> = {
    summary: paths.summary,
    rejects: paths.rejects,
    report,
    metrics,
  };
  const beside = (Object.keys(all) as RunFileKind[]).flatMap(kind => {
    const path = all[kind];
    if (path === undefined || isStreamPath(path)) return [];
    const place = settings[kind] === undefined ? say`${setting(kind)} (by default)` : placeOf([kind]);
    return [{...named(place, path), kind}];
  });
  return [...(output === undefined || isStreamPath(output) ? [] : [named('the output', output)]), ...beside];
}

/** Files in a run's own directories, which the run would overwrite. */
function keptFiles(directories: readonly string[]): NamedFile[] {
  return directories.flatMap(directory =>
    ['', ...stateFiles].map(name => {
      const file = named(`the run's state`, join(directory, name));
      // A kill while the output was put in place leaves it with two names.
      const isPartial = (partialFiles as readonly string[]).includes(name);
      return isPartial ? {...file, fileId: {...file.fileId, node: undefined}} : file;
    }),
  );
}

function refuseAmong(file: NamedFile, others: readonly NamedFile[]): void {
  const isSame = ({fileId}: NamedFile) => isSameFile(fileId, file.fileId) || fileId.path === file.fileId.path;
  const other = others.find(one => one !== file && isSame(one));
  if (other === undefined) return;
  const paths = file.path === other.path ? file.path : `${file.path} is ${other.path}`;
  throw new UsageError(
    'same_file',
    say`${file.setting} and ${other.setting} are the same file (${paths}). Give each a file of its own; nothing was sent.`,
  );
}

/** Refuses a path that is not a file: a directory, `''` (an unset variable), or `-` for anything but the output. */
function refuseNoFile({setting: place, path, fileId}: NamedFile): void {
  if (path === '-')
    throw new UsageError(
      'no_file',
      say`${place}: - is not a file. Name one, or /dev/stdout; nothing was sent.`,
    );
  const kind = nonFileKind(fileId.path);
  if (kind === undefined) return;
  const stream = place === 'the output' ? setting('output', '-') : '/dev/stdout';
  const [code, advice] =
    kind === 'a directory'
      ? (['is_directory', 'Name a file'] as const)
      : (['no_file', say`Name a file, or ${stream} and what it is redirected to`] as const);
  throw new UsageError(code, say`${place}: ${path || "''"} is ${kind}. ${advice}; nothing was sent.`);
}

/** @throws {OutputError} for a name that is longer than the file system allows. */
function refuseLongName(path: string): void {
  try {
    lstatSync(path, {throwIfNoEntry: false});
  } catch (error) {
    if (systemCode(error) === 'ENAMETOOLONG') throw unwritableError(path, error);
  }
}
