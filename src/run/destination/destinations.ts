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
