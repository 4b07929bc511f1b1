import {lstatSync, statSync} from 'node:fs';
import {basename, dirname, join} from 'node:path';
import {lockFiles} from '../../disk/lock.ts';
import {type Identity, identityOf, isSameFile, isStream, realPath} from '../../disk/path.ts';
import {OutputError, systemReason, UsageError} from '../../errors.ts';
import {summarizedOutput} from '../../job/file-names.ts';
import type {Job} from '../../job/job.ts';
import {isRejectsFile} from '../../output/rejects.ts';

/** Where a run's files really are, by the paths that the job names: nothing that is read from a disk says it. */
export interface Places {
  readonly output: string | undefined;
  readonly rejects: string | undefined;
  readonly summary: string | undefined;
  /** The output's own directory, beside it: whoever has its lock may write the output. */
  readonly own: string | undefined;
}

export const LEDGER = 'ledger.db';
/** What its name ends with once a ledger that can't be read was renamed. */
export const UNREADABLE = '.damaged';
export const ledgerFiles = ['', '-wal', '-shm', UNREADABLE].map(suffix => LEDGER + suffix);

/** All that a run may leave in its directories; the record of a publishing and the locks go last. */
export const stateFiles = [
  ...ledgerFiles,
  'output.partial',
  'rejects.partial',
  'publish.json.new',
  'publish.json',
  ...lockFiles,
] as const;

/** A file that a job reads or writes, and the setting that names it. */
interface Named {
  readonly setting: string;
  readonly path: string;
  readonly identity: Identity;
}

/**
 * Finds out what the job's paths really are, before anything is made, read or paid for.
 *
 * @throws {UsageError} when a file would be lost: two of them are one, or something else is in a file's place.
 */
export function placesOf(job: Job): Places {
  const {output, rejects, summary} = job.paths;
  const target = real(output);
  const own = target === undefined ? undefined : `${target}.run`;
  const written = writtenFiles(job);
  const others = [...readFiles(job), ...written, ...keptFiles([own, job.paths.state])];
  for (const file of written) {
    const other = others.find(one => one !== file && isSameFile(one.identity, file.identity));
    if (other !== undefined) throw collision(file, other);
    refuseForeignLink(file);
  }
  refuseOthers(job);
  return {output: target, rejects: real(rejects), summary: real(summary), own};
}

/** @throws {OutputError} where nothing can be written. */
function real(path: string | undefined): string | undefined {
  try {
    // What a stream's links lead to has no name that could be written to.
    return path === undefined || isStream(path) ? path : realPath(path);
  } catch (error) {
    throw new OutputError('output_unwritable', `${path} can't be written (${systemReason(error)}).`, {
      cause: error,
    });
  }
}

function named(setting: string, path: string): Named {
  return {setting, path, identity: identityOf(path)};
}

function readFiles({inputs, settings, jobFile, placeOf}: Job): Named[] {
  const {score} = settings;
  return [
    ...inputs.filter(path => path !== '-').map(path => named('the input', path)),
    ...(jobFile === undefined ? [] : [named('the job file', jobFile)]),
    ...(typeof score === 'string' && score !== 'default' && score !== 'none'
      ? [named(placeOf(['score']), score)]
      : []),
  ];
}

/** A pipe or a device may be named as often as one likes. */
function writtenFiles({paths, settings, placeOf}: Job): Named[] {
  const {report, metrics} = settings;
  const all = {summary: paths.summary, rejects: paths.rejects, report, metrics};
  const beside = Object.entries(all).map(([name, path]) => {
    const given = settings[name as keyof typeof all] !== undefined;
    return [given ? placeOf([name]) : `--${name} (by default)`, path] as const;
  });
  return [['the output', paths.output] as const, ...beside].flatMap(([setting, path]) =>
    path === undefined || isStream(path) ? [] : [named(setting, path)],
  );
}

/** What a run keeps in its directories, which it would take for its own. */
function keptFiles(directories: readonly (string | undefined)[]): Named[] {
  return directories.flatMap(directory =>
    directory === undefined
      ? []
      : ['', ...stateFiles].map(name => named(`the run's state`, join(directory, name))),
  );
}

function collision(file: Named, other: Named): UsageError {
  const paths = file.path === other.path ? file.path : `${file.path} is ${other.path}`;
  return new UsageError(
    'same_file',
    `${file.setting} and ${other.setting} are one file (${paths}), and one would be lost. Give each a file of its own; nothing was sent.`,
  );
}

/** As Linux does by default: in a directory that everybody writes to, a link may be somebody's trap. */
function refuseForeignLink({setting, path}: Named): void {
  const link = lstatSync(path, {throwIfNoEntry: false});
  if (link?.isSymbolicLink() !== true) return;
  const directory = statSync(dirname(path));
  const open = (directory.mode & 0o1002) === 0o1002;
  if (open && link.uid !== process.geteuid?.() && link.uid !== directory.uid)
    throw new UsageError(
      'foreign_link',
      `${setting}: ${path} is a link of another user (uid ${link.uid}) in a directory that everybody can write to. Name the file itself.`,
    );
}

/** Files that another output has, or that this program never wrote. */
function refuseOthers({paths: {output, summary, rejects}, settings}: Job): void {
  if (
    rejects !== undefined &&
    statSync(rejects, {throwIfNoEntry: false})?.isFile() &&
    !isRejectsFile(rejects)
  )
    throw new UsageError(
      'rejects_exist',
      `${rejects} is there, and is no file of rejected rows: it would be lost. Name another with --rejects, or move it away.`,
    );
  if (output === undefined || summary === undefined || settings.summary !== undefined) return;
  const owner = summarizedOutput(summary);
  if (owner !== undefined && owner !== basename(output))
    throw new UsageError(
      'summary_exists',
      `${summary} is the summary of ${owner}: it would be lost. Name another with --summary, and with --rejects.`,
    );
}
