import {writeAtomically} from '../../disk/replace.ts';
import type {Job, Output, OutputOf} from '../../job/job.ts';
import {type Destination, keepsNothing} from './destination.ts';
import {fileDestination} from './file-destination.ts';
import {streamDestination} from './stream-destination.ts';

const destinations: {
  readonly [Kind in Output['kind']]: (output: OutputOf<Kind>, job: Job) => Destination;
} = {file: fileDestination, stream: streamDestination, rows: rowsDestination};

export function destinationOf(job: Job): Destination {
  const make: (output: never, job: Job) => Destination = destinations[job.output.kind];
  return make(job.output as never, job);
}

/** The program that gave the rows gets them back from their feed: nothing of them is written, only the summary is. */
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
