import {openStream} from '../../disk/pipe.ts';
import {moveAtomically, orUnwritable, writeAtomically} from '../../disk/replace.ts';
import type {Job} from '../../job/job.ts';
import {type Sink, StreamSink} from '../../output/sink.ts';
import {summaryText} from '../../report/safe-text.ts';
import type {Destination} from './destination.ts';
import {fileDestination} from './file-destination.ts';
import {partialPath} from './partial.ts';
import {removeObsolete, unfinishedPublishing} from './publish.ts';

export function destinationOf(job: Job): Destination {
  const {output} = job;
  switch (output.kind) {
    case 'file':
      return fileDestination(output, job);
    case 'stream':
      return besideRows(output.name, stdout => streamSink(output.to, stdout));
    case 'rows':
      return besideRows(output.name, () => nowhere);
    default:
      return output satisfies never;
  }
}

function streamSink(to: string, stdout: NodeJS.WritableStream): Sink {
  if (to === '-') return new StreamSink(stdout, false);
  const stream = orUnwritable(to, () => openStream(to));
  return new StreamSink(stream, true);
}

/** Writes nothing: the library gives rows back to the calling program. */
const nowhere: Sink = {write: async () => {}, flush: async () => {}, close: async () => {}};

/** A destination whose rows can't be taken back, compared or replaced: only the files beside them are published. */
function besideRows(name: string, sinkFor: (stdout: NodeJS.WritableStream) => Sink): Destination {
  return {
    writes: [],
    own: [],
    check() {},
    exists: () => false,
    holds: async () => false,
    open: async (_files, stdout) => sinkFor(stdout),
    digest: async () => null,
    publish(files, {obsolete, summary}) {
      const {written} = files;
      if (obsolete) removeObsolete(written);
      if (summary.rejects !== null && written.rejects !== undefined)
        moveAtomically(partialPath(files, 'rejects', written.rejects), written.rejects);
      if (written.summary !== undefined) writeAtomically(written.summary, summaryText(summary));
    },
    // A run with this destination records no publishing. If there is a record, it is another job's,
    // and this throws.
    complete: async files => unfinishedPublishing(files, name),
  };
}
