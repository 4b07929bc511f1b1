import {openStream} from '../../disk/pipe.ts';
import {moveAtomically, orUnwritable, writeAtomically} from '../../disk/replace.ts';
import type {OutputOf} from '../../job/job.ts';
import {StreamSink} from '../../output/sink.ts';
import {type Destination, keepsNothing} from './destination.ts';
import {partialPath} from './partial.ts';
import {removeObsolete, unfinishedPublishing} from './publish.ts';

/** A pipe, a device or stdout: written rows can't be taken back, so only the files beside them are published. */
export function streamDestination({name, to}: OutputOf<'stream'>): Destination {
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
    // A record in the state's directory is another job's.
    complete: async files => unfinishedPublishing(files, name),
  };
}
