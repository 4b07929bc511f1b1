import {existsSync, statSync} from 'node:fs';
import {basename, dirname} from 'node:path';
import {digestFiles, hasDigest} from '../../disk/digest.ts';
import {syncPath} from '../../disk/replace.ts';
import {OutputError, StateError, UsageError} from '../../errors.ts';
import {missingFile} from '../../input/missing-file.ts';
import {summarizedOutput} from '../../job/file-names.ts';
import type {Job, OutputOf} from '../../job/job.ts';
import {FileSink} from '../../output/sink.ts';
import {say, set} from '../../sentence.ts';
import type {Destination} from './destination.ts';
import {engineOf, pack} from './pack.ts';
import {partialPath, writablePath} from './partial.ts';
import {completePublishing, publish} from './publish.ts';

/** A file: written under a temporary name, compressed if its name says so, and renamed once it is complete. */
export function fileDestination({name: path, compression}: OutputOf<'file'>, job: Job): Destination {
  const target = writablePath(path);
  const written = compression === undefined ? 'output' : 'packed';
  return {
    writes: [path],
    own: [`${target}.run`],
    check() {
      if (compression !== undefined) engineOf(compression, path);
      refuseOthersSummary(job);
      refuseNowhere(job);
    },
    exists: () => existsSync(path),
    async holds(digest) {
      if (!(await hasDigest(path, digest))) return false;
      // The run that renamed the output may have been killed before the new name was durable.
      syncPath(dirname(target));
      return true;
    },
    open: files => FileSink.create(partialPath(files, 'output', target)),
    async digest(files, watched) {
      const rows = partialPath(files, 'output', target);
      if (!existsSync(rows)) throw gone(rows);
      const partial = partialPath(files, written, target);
      if (compression !== undefined) await pack(rows, partial, engineOf(compression, path)(), watched);
      const {size} = statSync(partial);
      let read = 0;
      watched?.(() => read / Math.max(1, size));
      return digestFiles([partial], size, bytes => {
        read = bytes;
      });
    },
    publish: (files, facts) => publish(files, target, facts, written),
    complete: files => completePublishing(files, target, written),
  };
}

/** The error for a partial file that is missing when it is to be put in place. */
function gone(partial: string): StateError {
  return new StateError(
    'publish_lost',
    `${partial} is gone: its directory was moved or removed while the run wrote there, or a link leads elsewhere now. Bring it back to where it was, and run the same command again: without it, only the answer store knows what was paid for.`,
  );
}

function refuseOthersSummary({output, paths: {summary}, settings}: Job): void {
  if (summary === undefined || settings.summary !== undefined) return;
  const owner = summarizedOutput(summary);
  if (owner !== undefined && owner !== basename(output.name))
    throw new UsageError(
      'summary_exists',
      say`${summary} is the summary of ${owner} and would be lost. Choose another file with ${set('summary')}, and with ${set('rejects')}.`,
    );
}

function refuseNowhere({inputs, output}: Job): void {
  const directory = dirname(output.name);
  if (existsSync(directory)) return;
  // By default the output is beside the input. If both are in this missing directory, the input's path is wrong.
  const input = inputs.find(path => dirname(path) === directory);
  if (input !== undefined) throw missingFile(input);
  throw new OutputError('no_directory', `The output's directory, ${directory}, does not exist.`);
}
