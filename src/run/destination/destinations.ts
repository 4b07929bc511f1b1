import {openStream} from '../../disk/pipe.ts';
import {moveAtomically, orUnwritable, writeAtomically} from '../../disk/replace.ts';
import type {Job, Output, OutputOf} from '../../job/job.ts';
import {StreamSink} from '../../output/sink.ts';
import {type Destination, keepsNothing} from './destination.ts';
import {fileDestination} from './file-destination.ts';
import {partialPath} from './partial.ts';
import {removeObsolete, unfinishedPublishing} from './publish.ts';

const destinations: {
  readonly [Kind in Output['kind']]: (output: OutputOf<Kind>, job: Job) => Destination;
} = {file: fileDestination, stream: streamDestination, rows: rowsDestination};

export function destinationOf(job: Job): Destination {
  const make: (output: never, job: Job) => Destination = destinations[job.output.kind];
  return make(job.output as never, job);
}

/** Rows go back to the program that gave them, so only the summary is written. */
function rowsDestination(): Destination {
  return {
    ...keepsNothing,
    open: async () => ({write: async () => {}, flush: async () => undefined, close: async () => {}}),
    publish({written}, {summary}) {
      if (summary !== null && written.summary !== undefined) writeAtomically(written.summary, summary);
    },
    complete: async () => undefined,
  };
}

/** A pipe, a device or stdout: written rows can't be taken back, so only the files beside them are published. */
function streamDestination({name, to}: OutputOf<'stream'>): Destination {
  return {
    ...keepsNothing,
    open: async (_, __, stdout) =>
      to === '-'
        ? new StreamSink(stdout, false)
        : new StreamSink(
            orUnwritable(to, () => openStream(to)),
            true,
          ),
    publish(files, {rejects, obsolete, summary}) {
      const {written} = files;
      if (obsolete) removeObsolete(written);
      if (rejects !== null && written.rejects !== undefined)
        moveAtomically(partialPath(files, 'rejects', written.rejects), written.rejects);
      if (summary !== null && written.summary !== undefined) writeAtomically(written.summary, summary);
    },
    // A stream leaves no record of a publishing. If a record exists, it is another job's, and this function throws.
    complete: async files => unfinishedPublishing(files, name),
  };
}
