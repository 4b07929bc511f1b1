import fc from 'fast-check';
import type {Command, Sequence} from '../model/commands.ts';
import {again, cutOff, distinct, fine, type Means, night, plain, sometimes} from './night.ts';

const {constant, constantFrom, integer, record, tuple} = fc;

/** Nights in which answers grow old, by clocks that are right or wrong. */
export function ages({specWith, rows}: Means): fc.Arbitrary<Sequence>[] {
  /** What was asked is started over when it is old. */
  const aged = night(
    rows(1, 6),
    tuple(
      specWith({...plain, columns: 'ip token', maxAge: '1h', maxCredits: undefined, publishesAtLimit: false}),
      cutOff(30, 70),
      constantFrom(1, 12, 100),
    ).map(([one, fate, hours]): Command[] => [
      {do: 'run', spec: one, course: {...fine, fate}},
      {do: 'clock', hours},
      again(fine, {restart: true, force: true}),
    ]),
  );

  /** What is due can't be renewed, as a gateway has lost its way; then the run is cut off, and goes on. */
  const due = night(
    rows(3, 8),
    tuple(
      specWith({
        ...plain,
        columns: 'ip',
        cache: 'own',
        maxAge: '1d',
        maxCredits: undefined,
        maxErrors: undefined,
      }),
      cutOff(20, 70),
    ).map(([one, fate]): Command[] => [
      {do: 'run', spec: one, course: fine},
      {do: 'clock', hours: 23.5},
      again({faults: [{from: 1, count: 8, kind: 'lost way'}], latencyMs: 20, fate}, {force: true}),
      again(fine, {force: true}),
    ]),
  );

  /** The clock of one run is far ahead. */
  const ahead = record({
    inputs: rows(2, 6).map(own => [own, own.slice(0, 1)]),
    commands: tuple(
      specWith({
        ...plain,
        columns: 'ip',
        cache: 'own',
        maxAge: '30d',
        maxCredits: undefined,
        maxErrors: undefined,
      }),
      constantFrom(840.5, 2000, 9600),
      constantFrom(0, 1),
    ).map(([one, hours, input]): Command[] => [
      {do: 'run', spec: one, course: fine},
      {do: 'clock', hours},
      {do: 'run', spec: {...one, input, force: true}, course: fine},
      {do: 'clock', hours: -hours},
      {do: 'run', spec: {...one, force: true}, course: fine},
    ]),
    accountPerDay: sometimes(integer({min: 2, max: 8})),
    fleet: constant(false),
  });

  /** Three nights agree on the date of the second; then the clock of one run is far behind. */
  const behind = night(
    rows(1, 6),
    tuple(
      specWith({
        ...plain,
        columns: 'ip',
        cache: 'own',
        maxAge: '30d',
        maxCredits: undefined,
        requireStore: false,
        maxErrors: undefined,
        until: undefined,
      }),
      constantFrom(2, 49, 1500),
    ).map(([one, hours]): Command[] => [
      {do: 'run', spec: one, course: fine},
      {do: 'clock', hours: 24},
      again(fine, {force: true}),
      {do: 'clock', hours: 24},
      again(fine, {force: true}),
      {do: 'clock', hours: -24 - hours},
      again(fine, {force: true}),
      {do: 'clock', hours: 24 + hours},
      again(fine, {force: true}),
    ]),
  );

  /** Answers grow older than any age that a job goes by, over nights that agree on the date. */
  const outgrown = night(
    distinct(1, 6),
    tuple(
      specWith({
        ...plain,
        columns: 'ip',
        cache: 'own',
        stale: false,
        maxCredits: undefined,
        requireStore: false,
        where: false,
        maxErrors: undefined,
        until: undefined,
      }),
      constantFrom(100, 190),
    ).map(([one, hours]): Command[] => {
      const later = {do: 'run', spec: {...one, input: 1, force: true}, course: fine} as const;
      const wait = {do: 'clock', hours} as const;
      return [{do: 'run', spec: {...one, maxAge: '1h'}, course: fine}, wait, later, wait, later, wait, later];
    }),
  );

  // Twice: these are nearly all that reaches what they are aimed at.
  return [aged, due, ahead, behind, behind, outgrown, outgrown];
}
