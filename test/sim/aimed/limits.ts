import fc from 'fast-check';
import type {Command, Sequence} from '../model/commands.ts';
import {again, cutOff, fine, type Means, night, plain, sometimes} from './night.ts';

const {array, constant, constantFrom, integer, oneof, record, tuple} = fc;

/** Nights at a limit: a run's own, or its account's. */
export function limits({specWith, rows}: Means): fc.Arbitrary<Sequence>[] {
  /** At the limit a call is in flight that turns out free, as values of a hundred and more do, and others wait. */
  const half = oneof(integer({min: 0, max: 9}), integer({min: 101, max: 109}));
  const atLimit = night(
    array(
      half.map(ip => ({ip, email: 0, token: 0})),
      {minLength: 4, maxLength: 10},
    ),
    tuple(
      specWith({...plain, columns: 'ip', publishesAtLimit: true, rejectedCharge: 'free', stale: false}),
      integer({min: 1, max: 3}),
      constantFrom(2, 3),
    ).map(([one, maxCredits, concurrency]): Command[] => [
      {do: 'run', spec: {...one, maxCredits, concurrency}, course: fine},
    ]),
  );

  /** A list whose values are due again, before others that are new, is worth more than a limit. */
  const dueAtLimit = record({
    inputs: rows(6, 10).map(own => [own, own.slice(0, 1)]),
    commands: tuple(
      specWith({
        ...plain,
        input: 0,
        columns: 'ip',
        cache: 'own',
        cost: 1,
        maxAge: '1h',
        stale: true,
        publishesAtLimit: true,
        requireStore: false,
        where: false,
      }),
      rows(2, 5),
      constantFrom(2, 4, undefined),
    ).map(([one, more, maxCredits]): Command[] => [
      {do: 'run', spec: {...one, maxCredits: undefined}, course: fine},
      {do: 'clock', hours: 24},
      {do: 'input', input: 0, how: 'append', rows: more},
      again(fine, {maxCredits, force: true}),
    ]),
    accountPerDay: constantFrom(4, 12, undefined),
    fleet: constant(false),
  });

  /** A run with a block of its account's credits goes past midnight. */
  const overMidnight = record({
    inputs: rows(4, 9).map(own => [own, own.slice(0, 1)]),
    commands: tuple(
      specWith({...plain, endpoint: 0, account: 0, columns: 'ip', cache: 'none', until: undefined}),
      constantFrom(20, 60),
      sometimes(cutOff(16, 30)),
    ).map(([one, latencyMs, fate]): Command[] => [
      {do: 'midnight'},
      {do: 'run', spec: {...one, rate: 'unlimited'}, course: {faults: [], latencyMs, fate}},
      again(fine),
    ]),
    accountPerDay: constantFrom(10_000, 10_000, undefined),
    accountPerMonth: constantFrom(undefined, 20_000),
    fleet: constant(false),
  });

  return [atLimit, dueAtLimit, overMidnight];
}
