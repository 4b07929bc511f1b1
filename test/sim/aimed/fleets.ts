import fc from 'fast-check';
import type {Command, Sequence} from '../model/commands.ts';
import {again, cutOff, fine, type Means, night, plain} from './night.ts';

const {array, constantFrom, integer, tuple} = fc;

/** Nights of a fleet. */
export function fleets({specWith, rows}: Means): fc.Arbitrary<Sequence>[] {
  /** A fleet's run is cut off while workers have its calls, and has the same limit in each of its sessions. */
  const limited = night(
    rows(6, 12),
    tuple(
      specWith({...plain, columns: 'ip', cost: 1, rejectedCharge: 'free'}),
      integer({min: 3, max: 6}),
      array(cutOff(20, 45), {minLength: 1, maxLength: 2}),
    ).map(([one, maxCredits, fates]): Command[] => [
      {do: 'run', spec: {...one, maxCredits}, course: {...fine, latencyMs: 400, fate: fates[0]}},
      ...fates.slice(1).map(fate => again({...fine, latencyMs: 400, fate})),
      again(fine),
    ]),
    true,
  );

  /** Redis takes no writes for a while, in the middle of a fleet's calls. */
  const refused = night(
    rows(6, 12),
    tuple(
      specWith({...plain, maxCredits: undefined}),
      constantFrom('full' as const, 'readOnly' as const),
      integer({min: 10, max: 250}),
      constantFrom(1, 8),
    ).map(([one, how, afterMs, seconds]): Command[] => [
      {do: 'redis', how, afterMs, seconds},
      {do: 'run', spec: one, course: {...fine, latencyMs: 40}},
    ]),
    true,
  );

  /** Redis goes away in the middle of a fleet's calls, at times with a command that it has done. */
  const lost = night(
    rows(6, 12),
    tuple(
      specWith({...plain, maxCredits: undefined, until: undefined}),
      integer({min: 60, max: 400}),
      constantFrom(1, 8),
      cutOff(30, 80),
      constantFrom(true, false),
    ).map(([one, afterMs, seconds, fate, isCutOff]): Command[] => [
      {do: 'redis', how: 'away', afterMs, seconds},
      {do: 'run', spec: one, course: {...fine, latencyMs: 40, ...(isCutOff && {fate})}},
      again(fine),
    ]),
    true,
  );

  /** Another endpoint or account joins a fleet that has had work for longer than a claim lasts. */
  const joined = night(
    rows(8, 12),
    tuple(
      specWith({
        ...plain,
        columns: 'ip',
        concurrency: 1,
        cache: 'none',
        maxCredits: undefined,
        until: undefined,
      }),
      constantFrom({endpoint: 1, output: 1}, {account: 1, output: 1}),
      constantFrom(5_000, 9_000, 12_000),
    ).map(([one, changes, apartMs]): Command[] => [
      {
        do: 'both',
        spec: one,
        others: [changes],
        courses: [{faults: [], latencyMs: 4_000}, fine],
        apartMs,
      },
    ]),
    true,
  );

  // Twice: it is nearly all that reaches what it is aimed at.
  return [limited, refused, lost, lost, joined, joined];
}
