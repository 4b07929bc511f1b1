import fc from 'fast-check';
import type {Command, Course, Sequence} from '../model/commands.ts';
import {again, cutOff, distinct, fine, type Means, night, plain, sometimes} from './night.ts';

const {array, constantFrom, integer, tuple} = fc;

/** Nights whose calls may have been carried out, or are refused. */
export function doubts({specWith, rows}: Means): fc.Arbitrary<Sequence>[] {
  /** A call that may have been carried out is followed by one that surely was not, before anything is known. */
  const barred = constantFrom('refused' as const, 'throttled' as const).map(kind => ({
    from: 1,
    count: 8,
    kind,
  }));
  const doubted = night(
    rows(1, 4),
    tuple(
      specWith({...plain, resends: 2, maxCredits: undefined}),
      constantFrom('token' as const, 'ip token' as const),
      tuple(
        constantFrom([], [{from: 1, count: 1, kind: 'late' as const}]),
        barred.map(fault => ({...fault, from: 2})),
      ),
      tuple(cutOff(18, 40), cutOff(18, 45)),
      barred,
      constantFrom({}, {}, {resends: 0}),
    ).map(([one, columns, [first, then], [fate, second], fault, changes]): Command[] => [
      {
        do: 'run',
        spec: {...one, columns},
        course: {faults: first.length === 0 ? [] : [...first, then], latencyMs: 200, fate},
      },
      again({faults: [fault], latencyMs: 20, fate: second}),
      again(fine, changes),
    ]),
  );

  /** One value is in flight at each of several kills. */
  const worn = night(
    rows(1, 3),
    tuple(
      specWith({...plain, columns: 'ip', resends: 1, concurrency: 1, cache: 'none', maxCredits: undefined}),
      tuple(cutOff(13, 18), cutOff(10, 15), cutOff(10, 15)),
    ).map(([one, [first, ...others]]): Command[] => [
      {do: 'run', spec: one, course: {...fine, latencyMs: 400, fate: first}},
      ...others.map(fate => again({...fine, latencyMs: 400, fate})),
      again(fine),
    ]),
  );

  /** Values have been sent as often as they may while the service is out of order for all. */
  const held = night(
    distinct(7, 12),
    tuple(
      specWith({
        ...plain,
        columns: 'ip',
        resends: 1,
        cache: 'none',
        maxCredits: undefined,
        maxErrors: undefined,
        until: undefined,
        where: false,
      }),
      integer({min: 14, max: 40}),
      constantFrom('broken' as const, 'reset' as const),
      sometimes(cutOff(40, 90)),
    ).map(([one, count, kind, fate]): Command[] => [
      {do: 'run', spec: {...one, concurrency: 4}, course: {...fine, faults: [{from: 1, count, kind}], fate}},
      again(fine),
    ]),
  );

  /** An account is refused, or was after its answers fell due, in a run that is cut off once or twice. */
  const refusedOn = night(
    distinct(14, 22),
    tuple(
      specWith({
        ...plain,
        columns: 'ip',
        cache: 'own',
        maxAge: '1d',
        concurrency: 1,
        maxCredits: undefined,
        maxErrors: undefined,
        until: undefined,
        requireStore: false,
      }),
      constantFrom(0, 1),
      array(cutOff(30, 60), {minLength: 1, maxLength: 2}),
    ).map(([one, input, fates]): Command[] => {
      const course: Course = {faults: [{from: 1, count: 40, kind: 'denied'}], latencyMs: 200};
      return [
        {do: 'run', spec: {...one, input, output: 1}, course: fine},
        {do: 'clock', hours: 23},
        ...fates.map(
          (fate, nth): Command =>
            nth === 0
              ? {do: 'run', spec: {...one, input: 0}, course: {...course, fate}}
              : again({...course, fate}, {force: true}),
        ),
        again(course, {force: true}),
      ];
    }),
  );

  /** Answers fall due in the night in which the account is refused, or the service breaks; the next command may have another age. */
  const denied = night(
    rows(1, 14),
    tuple(
      specWith({
        ...plain,
        columns: 'ip',
        cache: 'own',
        maxAge: '1d',
        maxCredits: undefined,
        requireStore: false,
        until: undefined,
      }),
      constantFrom(20, 22, 23),
      constantFrom('denied' as const, 'broken' as const),
      constantFrom('30d' as const, '1h' as const),
    ).map(([one, hours, kind, maxAge]): Command[] => [
      {do: 'run', spec: one, course: fine},
      {do: 'clock', hours},
      again({...fine, faults: [{from: 1, count: 40, kind}]}, {force: true}),
      again(fine, {force: true, maxAge}),
    ]),
  );

  // Twice: it is nearly all that reaches what it is aimed at.
  return [doubted, worn, held, refusedOn, denied, held];
}
