import type {Job, Output, OutputOf} from '../../job/job.ts';
import type {Destination} from './destination.ts';
import {fileDestination} from './file-destination.ts';
import {rowsDestination} from './rows-destination.ts';
import {streamDestination} from './stream-destination.ts';

const destinations: {
  readonly [Kind in Output['kind']]: (output: OutputOf<Kind>, job: Job) => Destination;
} = {file: fileDestination, stream: streamDestination, rows: rowsDestination};

export function destinationOf(job: Job): Destination {
  const make: (output: never, job: Job) => Destination = destinations[job.output.kind];
  return make(job.output as never, job);
}
