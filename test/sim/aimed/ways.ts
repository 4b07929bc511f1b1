import fc from 'fast-check';
import type {Command, RunSpec, Sequence} from '../model/commands.ts';
import type {Fault} from '../world/fault.ts';
import {again, cutOff, distinct, fine, type Means, night, plain, sometimes} from './night.ts';

const {constantFrom, integer, tuple} = fc;

/** Rows that go through a pipe, or to a program that has the library. */
export function ways({specWith, rows}: Means): fc.Arbitrary<Sequence>[] {
  const open = {...plain, until: undefined, maxErrors: undefined, maxCredits: undefined} as const;

  /** A stream is cut off, or its reader leaves; the same list comes again, also in another way. */
  const cutShort = night(
    rows(4, 10),
    tuple(
      specWith({...open, cache: 'own', requireStore: false}),
      constantFrom('stdout', 'stdout', 'enrich'),
      sometimes(cutOff(24, 70)),
      integer({min: 1, max: 4}),
      constantFrom<Partial<RunSpec>[]>({}, {way: 'enrich'}, {way: undefined}),
    ).map(([one, way, fate, leavesAfter, changes]): Command[] => {
      const course = {...fine, latencyMs: 60, ...(fate === undefined ? {leavesAfter} : {fate})};
      return [{do: 'run', spec: {...one, way}, course}, again(fine, changes)];
    }),
  );

  /** The service is out of order for longer than a run waits, while a program has rows to enrich. */
  const outage = night(
    distinct(6, 10),
    tuple(
      specWith({...open, columns: 'ip', where: false, stale: false}),
      constantFrom('enrich'),
      constantFrom<Fault['kind'][]>('broken', 'refused'),
      integer({min: 2, max: 4}),
    ).map(([one, way, kind, from]): Command[] => [
      {do: 'run', spec: {...one, way}, course: {...fine, faults: [{from, count: 40, kind}]}},
    ]),
  );

  // Several times: these are nearly all that reaches what they are aimed at.
  return [cutShort, cutShort, cutShort, outage, outage];
}
