import fc from 'fast-check';
import type {Command, Course, Fault, RunSpec, Sequence} from './commands.ts';

/** Sequences of commands, as fast-check generates and shrinks them. */

const {constant, constantFrom, integer, boolean, oneof, record, array, tuple} = fc;

/** Mostly the first of these, which is what the others shrink to. */
function mostly<const T>(usual: T, ...others: readonly T[]): fc.Arbitrary<T> {
  return oneof(
    {withCrossShrink: true},
    {weight: 5, arbitrary: constant(usual)},
    ...others.map(value => ({weight: 1, arbitrary: constant(value)})),
  );
}

/** Once in so many times. */
const sometimes = <T>(value: fc.Arbitrary<T>, rarity: number) =>
  oneof(
    {withCrossShrink: true},
    {weight: rarity - 1, arbitrary: constant(undefined)},
    {weight: 1, arbitrary: value},
  );

const row = oneof(
  {
    weight: 12,
    arbitrary: record({
      ip: integer({min: 0, max: 14}),
      last: integer({min: 0, max: 14}),
      // Few, so that one is wanted again and again.
      email: oneof(integer({min: 0, max: 2}), integer({min: 0, max: 8})),
    }),
  },
  {weight: 1, arbitrary: constant({ip: 0, last: 0, email: 0, broken: true as const})},
);

const rows = (min: number, max: number) => array(row, {minLength: min, maxLength: max});

/** A list of which the service refuses all but the first value. */
const refusedRows = integer({min: 10, max: 12}).map(count =>
  Array.from({length: count + 1}, (_, index) => ({ip: index === 0 ? 0 : 100 + index, last: 0, email: 0})),
);

const fault: fc.Arbitrary<Fault> = record({
  from: integer({min: 1, max: 12}),
  count: mostly(1, 2, 3, 8, 40),
  kind: constantFrom(
    ...(['broken', 'reset', 'late', 'slow', 'throttled', 'refused'] as const),
    ...(['garbled', 'no credits', 'no access', 'lost way'] as const),
  ),
});

const faults = (weights: readonly [none: number, some: number]) =>
  oneof(
    {withCrossShrink: true},
    {weight: weights[0], arbitrary: constant([])},
    {weight: weights[1], arbitrary: array(fault, {minLength: 1, maxLength: 3})},
  );

const how = constantFrom('kill' as const, 'kill' as const, 'power' as const, 'term' as const);

const course: fc.Arbitrary<Course> = record({
  faults: faults([3, 2]),
  latencyMs: mostly(20, 2, 200),
  fate: sometimes(
    record({
      how,
      step: integer({min: 1, max: 110}),
      moment: constantFrom('before' as const, 'torn' as const, 'after' as const),
    }),
    2,
  ),
  disk: sometimes(
    record({
      code: constantFrom('ENOSPC' as const, 'EIO' as const),
      afterMs: integer({min: 0, max: 150}),
      seconds: constantFrom(1, 60),
    }),
    10,
  ),
});

/** A session that is cut off in the middle of its calls. */
const tornCourse: fc.Arbitrary<Course> = record({
  faults: faults([1, 2]),
  latencyMs: mostly(20, 200, 400),
  fate: record({
    how,
    step: integer({min: 18, max: 70}),
    moment: constantFrom('before' as const, 'after' as const),
  }),
});

const settings: {readonly [Name in keyof RunSpec]-?: fc.Arbitrary<RunSpec[Name]>} = {
  input: mostly(0, 1),
  output: mostly(0, 0, 1),
  account: mostly(0, 0, 1),
  way: mostly('file' as const, 'file', 'rows'),
  columns: constantFrom(
    ...(['ip', 'ip', 'ip last', 'email', 'token'] as const),
    ...(['ip email', 'ip token', 'ip email token', 'ip email?'] as const),
  ),
  store: mostly(true, false, false),
  maxCredits: sometimes(integer({min: 0, max: 12}), 3),
  publishesAtLimit: mostly(false, true, true),
  force: boolean(),
  resends: mostly(2, 0, 0, 1),
  maxAge: mostly('1d' as const, '1h', '30d'),
  concurrency: constantFrom(1, 2, 4, 8),
  rate: mostly('unlimited' as const, '5/s', 'ip=10/s,email=10/s,verify=10/s'),
  cost: mostly(1, 0.7, 0.1),
  prices: mostly('one' as const, 'apart'),
  rejectedCharge: mostly('maybe' as const, 'free', 'free', 'spent'),
  until: sometimes(constantFrom('1s' as const, '5s'), 12),
};

const spec: fc.Arbitrary<RunSpec> = record(settings);

/** The same command again is the usual one; the settings that differ at times are what people change. */
const changes: fc.Arbitrary<Partial<RunSpec>> = oneof(
  {withCrossShrink: true},
  {weight: 8, arbitrary: constant({})},
  {weight: 2, arbitrary: constant({force: true})},
  {weight: 1, arbitrary: record({maxCredits: settings.maxCredits, publishesAtLimit: boolean()})},
  {weight: 1, arbitrary: record({resends: settings.resends, concurrency: settings.concurrency})},
  {weight: 1, arbitrary: record({columns: settings.columns})},
  {weight: 1, arbitrary: record({output: settings.output, account: settings.account})},
);

const command: fc.Arbitrary<Command> = oneof(
  {weight: 4, arbitrary: record({do: constant('run' as const), spec, course})},
  {weight: 7, arbitrary: record({do: constant('again' as const), changes, course})},
  {
    weight: 1,
    arbitrary: record({
      do: constant('both' as const),
      other: oneof(constant({}), constant({output: 1}), constant({output: 1, input: 1})),
      courses: tuple(course, course),
      apartMs: constantFrom(1, 5, 40, 200),
    }),
  },
  {weight: 1, arbitrary: record({do: constant('later' as const), hours: constantFrom(1, 12, 22, 100)})},
  {
    weight: 2,
    arbitrary: record({
      do: constant('list' as const),
      input: mostly(0, 1),
      how: constantFrom('append' as const, 'replace' as const),
      rows: rows(1, 4),
    }),
  },
);

const first = (courses: fc.Arbitrary<Course>) =>
  record({do: constant('run' as const), spec, course: courses});
const again = record({do: constant('again' as const), changes, course: tornCourse});

const accountPerDay = sometimes(oneof(integer({min: 1, max: 15}), constant(10_000)), 5);

/** A few days of a user. */
const mixed: fc.Arbitrary<Sequence> = record({
  inputs: tuple(oneof({weight: 8, arbitrary: rows(1, 12)}, {weight: 1, arbitrary: refusedRows}), rows(1, 6)),
  commands: tuple(first(course), array(command, {minLength: 1, maxLength: 4})).map(([one, more]) => [
    one,
    ...more,
  ]),
  accountPerDay,
});

/** One run that is cut off again and again. */
const torn: fc.Arbitrary<Sequence> = record({
  inputs: tuple(rows(3, 12), rows(1, 3)),
  commands: tuple(
    first(tornCourse),
    array(oneof({weight: 3, arbitrary: again}, command), {minLength: 1, maxLength: 3}),
  ).map(([one, more]) => [one, ...more]),
  accountPerDay,
});

export const sequence: fc.Arbitrary<Sequence> = oneof(
  {weight: 2, arbitrary: mixed},
  {weight: 1, arbitrary: torn},
);
