import {lstatSync, statSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {lockFiles} from '../../disk/lock.ts';
import {type FileId, fileIdOf, isLink, isSameFile, isStream, notFile} from '../../disk/path.ts';
import {UsageError} from '../../errors.ts';
import type {Job} from '../../job/job.ts';
import {isAddress} from '../../job/monitoring/metrics-address.ts';
import {SPARE} from '../../ledger/ledger-file.ts';
import {isRejectsFile} from '../../output/rejects.ts';
import type {Destination} from '../destination/destination.ts';
import {PROBE, partialNames, type WrittenPaths, writablePath} from '../destination/partial.ts';
import {RECORD} from '../destination/publish.ts';

export const LEDGER = 'ledger.db';
/** Suffix of the name that an unreadable ledger gets. */
export const UNREADABLE = '.damaged';
export const ledgerFiles = ['', '-wal', '-shm', UNREADABLE, SPARE].map(suffix => LEDGER + suffix);

/** All files that a run may leave in its directories. The record of a publishing and the locks are removed last. */
export const stateFiles = [
  ...ledgerFiles,
  ...partialNames.map(name => `${name}.partial`),
  PROBE,
  `${RECORD}.new`,
  RECORD,
  ...lockFiles,
];

/** A file that a job reads or writes, and the setting that names it. */
interface NamedFile {
  readonly setting: string;
  readonly path: string;
  readonly fileId: FileId;
}

/**
 * Resolves the job's paths before anything is created, read or paid for.
 *
 * @throws {UsageError} if a file would be lost: two of them are the same, or something else is in a file's place.
 */
export function writtenPathsOf(job: Job, {writes, own}: Destination): WrittenPaths {
  const {rejects, summary, state} = job.paths;
  const written = writtenFiles(job, writes);
  const read = readFiles(job);
  const kept = keptFiles(state === undefined ? own : [...own, state]);
  for (const file of written) refuseAmong(file, [...read, ...written, ...kept]);
  for (const file of read) refuseAmong(file, kept);
  written.forEach(refuseNoFile);
  written.forEach(refuseForeignLink);
  refuseOthers(rejects);
  return {rejects: rejects && writablePath(rejects), summary: summary && writablePath(summary)};
}

function named(setting: string, path: string): NamedFile {
  return {setting, path, fileId: fileIdOf(path)};
}

function readFiles({inputs, settings, jobFile, placeOf}: Job): NamedFile[] {
  const {score} = settings;
  return [
    ...inputs.filter(path => path !== '-').map(path => named('the input', path)),
    ...(jobFile === undefined ? [] : [named('the job file', jobFile)]),
    ...(typeof score === 'string' && score !== 'default' && score !== 'none'
      ? [named(placeOf(['score']), score)]
      : []),
  ];
}

/** The files that the job writes. Pipes and devices are left out: several settings may name the same one. */
function writtenFiles({paths, settings, placeOf}: Job, writes: readonly string[]): NamedFile[] {
  const {report, changes, calls} = settings;
  const metrics = isAddress(settings.metrics) ? undefined : settings.metrics;
  const all = {
    summary: paths.summary,
    rejects: paths.rejects,
    report,
    metrics,
    calls,
    changes: changes?.file,
  };
  const beside = Object.entries(all).map(([name, path]) => {
    const given = settings[name as keyof typeof all] !== undefined;
    return [given ? placeOf([name]) : `--${name} (by default)`, path] as const;
  });
  return [...writes.map(path => ['the output', path] as const), ...beside].flatMap(([setting, path]) =>
    path === undefined || isStream(path) ? [] : [named(setting, path)],
  );
}

/** Files in a run's own directories, which the run would overwrite. */
function keptFiles(directories: readonly string[]): NamedFile[] {
  return directories.flatMap(directory =>
    ['', ...stateFiles].map(name => named(`the run's state`, join(directory, name))),
  );
}

function refuseAmong(file: NamedFile, others: readonly NamedFile[]): void {
  const other = others.find(one => one !== file && isSameFile(one.fileId, file.fileId));
  if (other === undefined) return;
  const paths = file.path === other.path ? file.path : `${file.path} is ${other.path}`;
  throw new UsageError(
    'same_file',
    `${file.setting} and ${other.setting} are the same file (${paths}). Give each a file of its own; nothing was sent.`,
  );
}

/** Refuses a path that is not a file: a directory, `''` (an unset variable), or `-` for anything but the output. */
function refuseNoFile({setting, path, fileId}: NamedFile): void {
  if (path === '-')
    throw new UsageError(
      'no_file',
      `${setting}: - is not a file. Name one, or /dev/stdout; nothing was sent.`,
    );
  const kind = notFile(fileId.path);
  if (kind === undefined) return;
  const stream = setting === 'the output' ? '-o -' : '/dev/stdout';
  const [code, advice] =
    kind === 'a directory'
      ? (['is_directory', 'Name a file'] as const)
      : (['no_file', `Name a file, or ${stream} and what it is redirected to`] as const);
  throw new UsageError(code, `${setting}: ${path || "''"} is ${kind}. ${advice}; nothing was sent.`);
}

/**
 * Refuses a link that another user made in a directory that everybody may write to: the link may be a trap. Linux
 * refuses such links by default, too. Links of the directory's owner are allowed.
 */
function refuseForeignLink({setting, path}: NamedFile): void {
  if (!isLink(path)) return;
  const link = lstatSync(path);
  const directory = statSync(dirname(path));
  const open = (directory.mode & 0o1002) === 0o1002;
  if (open && link.uid !== process.geteuid?.() && link.uid !== directory.uid)
    throw new UsageError(
      'foreign_link',
      `${setting}: ${path} is a symbolic link that another user (uid ${link.uid}) made, in a directory that everybody can write to. Give the path of the file that it points to.`,
    );
}

/** Refuses to replace a file that is not a file of rejected rows. */
function refuseOthers(rejects: string | undefined): void {
  if (
    rejects !== undefined &&
    statSync(rejects, {throwIfNoEntry: false})?.isFile() &&
    !isRejectsFile(rejects)
  )
    throw new UsageError(
      'rejects_exist',
      `${rejects} exists, is not a file of rejected rows, and would be lost. Choose another file with --rejects, or move it away.`,
    );
}
