import fc from 'fast-check';
import type {RunSpec, Sequence} from '../model/commands.ts';
import {ages} from './ages.ts';
import {days} from './days.ts';
import {doubts} from './doubts.ts';
import {fleets} from './fleets.ts';
import {limits} from './limits.ts';
import type {Means} from './night.ts';
import {places} from './places.ts';
import {ways} from './ways.ts';

/** Sequences for what chance alone seldom brings together: each is one night of which most is left to chance. */
export function aimed(spec: fc.Arbitrary<RunSpec>, rows: Means['rows']): fc.Arbitrary<Sequence> {
  const specWith: Means['specWith'] = fixed =>
    spec.map(one => ({
      ...one,
      output: 0,
      state: 0,
      clash: undefined,
      offline: undefined,
      way: undefined,
      ...fixed,
    }));
  const means = {specWith, rows};
  return fc.oneof(...[ages, days, doubts, fleets, limits, places, ways].flatMap(nights => nights(means)));
}
