import fc from 'fast-check';
import type {Command, RunSpec, Sequence} from '../model/commands.ts';
import {again, cutOff, distinct, fine, type Means, night, plain, sometimes} from './night.ts';

const {constantFrom, integer, tuple} = fc;

/** Nights that write a file of each day. */
export function days({specWith, rows}: Means): fc.Arbitrary<Sequence>[] {
  const dated = {...plain, way: 'dated', until: undefined, maxErrors: undefined} as const;

  /** A night is cut off, and the next ones, at times cut off too, find it so. */
  const unfinished = night(
    rows(2, 8),
    tuple(
      specWith({...dated, maxCredits: undefined}),
      cutOff(20, 60),
      sometimes(cutOff(10, 80)),
      constantFrom<Partial<RunSpec>[]>({}, {stdin: true}, {restart: true}, {force: true}, {daysAgo: 1}),
      constantFrom(24, 24, 48),
    ).map(([one, fate, second, changes, hours]): Command[] => [
      {do: 'run', spec: one, course: {...fine, latencyMs: 60, fate}},
      {do: 'clock', hours},
      again({...fine, fate: second}, changes),
      {do: 'clock', hours: 24},
      again(fine, {daysAgo: undefined}),
    ]),
  );

  /** Two nights use their own limits up, and the third has none. */
  const usedUp = night(
    distinct(4, 8),
    tuple(
      specWith({...dated, columns: 'ip', publishesAtLimit: false, rejectedCharge: 'free', where: false}),
      integer({min: 1, max: 3}),
      constantFrom('own' as const, 'none' as const),
    ).map(([one, maxCredits, cache]): Command[] => [
      {do: 'run', spec: {...one, maxCredits, cache, cost: 1}, course: fine},
      {do: 'clock', hours: 24},
      again(fine),
      {do: 'clock', hours: 24},
      again(fine, {maxCredits: undefined}),
    ]),
  );

  /** A night begins before midnight, and is at times cut off after it. */
  const overMidnight = night(
    rows(3, 8),
    tuple(specWith({...dated, rate: 'unlimited'}), constantFrom(20, 60), sometimes(cutOff(16, 50))).map(
      ([one, latencyMs, fate]): Command[] => [
        {do: 'midnight'},
        {do: 'run', spec: one, course: {faults: [], latencyMs, fate}},
        again(fine),
      ],
    ),
  );

  /** A night is cut off, and the next one has its list through a pipe. */
  const piped = night(
    rows(2, 8),
    tuple(specWith({...dated, maxCredits: undefined}), cutOff(20, 60)).map(([one, fate]): Command[] => [
      {do: 'run', spec: one, course: {...fine, latencyMs: 60, fate}},
      {do: 'clock', hours: 24},
      again(fine, {stdin: true}),
    ]),
  );

  // Twice: it is nearly all that reaches what it is aimed at.
  return [unfinished, usedUp, usedUp, overMidnight, piped];
}
