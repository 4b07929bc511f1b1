import fc from 'fast-check';
import {aimed} from '../aimed/aimed.ts';
import type {Fault} from '../world/fault.ts';
import type {Fate} from '../world/process.ts';
import {type Command, type Course, MIDNIGHT, type RunSpec, type Sequence} from './commands.ts';
import {dialects} from './dialects.ts';

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
      // Few, so that one is wanted again and again.
      email: oneof(integer({min: 0, max: 2}), integer({min: 0, max: 8})),
      token: integer({min: 0, max: 8}),
      last: integer({min: 0, max: 14}),
      phone: integer({min: 0, max: 7}),
    }),
  },
  {weight: 1, arbitrary: constant({ip: 0, email: 0, token: 0, broken: true as const})},
);

const rows = (min: number, max: number) => array(row, {minLength: min, maxLength: max});

/** A list of which the service knows nothing but the first: as a night's list whose good values are known. */
const refusedRows = integer({min: 10, max: 12}).map(count =>
  Array.from({length: count + 1}, (_, index) => ({ip: index === 0 ? 0 : 100 + index, email: 0, token: 0})),
);

const faultKinds: readonly Fault['kind'][] = [
  ...([
    'broken',
    'reset',
    'late',
    'slow',
    'throttled',
    'refused',
    'garbled',
    'no credits',
    'no access',
    'lost way',
  ] as const),
  'denied',
];

const fault = record({
  from: integer({min: 1, max: 12}),
  count: mostly(1, 2, 3, 8, 40),
  kind: constantFrom(...faultKinds),
});

const fate: fc.Arbitrary<Fate> = record({
  how: constantFrom('kill' as const, 'kill' as const, 'power' as const, 'term' as const),
  step: integer({min: 1, max: 110}),
  moment: constantFrom('before' as const, 'torn' as const, 'after' as const),
});

const course: fc.Arbitrary<Course> = record({
  faults: oneof(
    {withCrossShrink: true},
    {weight: 3, arbitrary: constant([])},
    {weight: 2, arbitrary: array(fault, {minLength: 1, maxLength: 3})},
  ),
  latencyMs: mostly(20, 2, 200),
  fate: sometimes(fate, 2),
  leavesAfter: sometimes(integer({min: 1, max: 8}), 6),
});

const settings: {
  readonly [Name in keyof Omit<RunSpec, 'fleet' | 'keyFile' | 'day' | 'daysAgo'>]-?: fc.Arbitrary<
    RunSpec[Name]
  >;
} = {
  input: mostly(0, 1),
  output: mostly(0, 0, 1),
  state: mostly(0, 0, 1, 2),
  endpoint: mostly(0, 0, 1),
  account: mostly(0, 0, 1),
  columns: constantFrom(
    ...([
      'ip',
      'ip',
      'ip',
      'ip email',
      'ip token',
      'token',
      'ip email token',
      'ip email?',
      'ip email?',
      'email',
      'ip last',
      'ip phone',
      'phone',
    ] as const),
  ),
  cache: mostly('own' as const, 'none', 'none', 'other'),
  maxCredits: sometimes(integer({min: 0, max: 12}), 3),
  publishesAtLimit: mostly(false, true, true),
  restart: mostly(false, true),
  force: boolean(),
  freshBudget: mostly(false, false, true),
  resends: mostly(2, 0, 0, 1),
  maxAge: mostly('1d' as const, '1h', '30d'),
  concurrency: constantFrom(1, 2, 4, 8),
  rate: mostly('unlimited' as const, '5/s', 'ip=10/s,email=10/s,verify=10/s'),
  cost: mostly(1, 0.7, 0.1),
  prices: mostly('one' as const, 'apart'),
  fromFile: mostly(false, true),
  rejectedCharge: mostly('maybe' as const, 'free', 'free', 'spent'),
  requireStore: mostly(false, false, false, true),
  maxErrors: sometimes(integer({min: 0, max: 3}), 8),
  until: tuple(
    sometimes(constantFrom('1s' as const, '5s'), 12),
    sometimes(constant(MIDNIGHT as typeof MIDNIGHT), 8),
  ).map(([length, midnight]) => midnight ?? length),
  where: mostly(false, false, true),
  stale: mostly(false, true),
  offline: sometimes(constant(true as const), 25),
  joined: sometimes(constant(true as const), 12),
  stdin: mostly(false, false, true),
  linked: mostly(false, true),
  packed: mostly(false, true),
  ndjson: mostly(false, true),
  scored: mostly(false, true),
  tells: mostly(false, true),
  clash: sometimes(
    constantFrom('summary' as const, 'rejects' as const, 'both' as const, 'output' as const),
    40,
  ),
  way: sometimes(constantFrom(...(['dated', 'stdout', 'runJob', 'enrich'] as const)), 10),
};

const spec = record(settings) as fc.Arbitrary<RunSpec>;

/** The same command again, mostly just that. */
const changes = oneof(
  {withCrossShrink: true},
  {weight: 4, arbitrary: constant({})},
  {weight: 1, arbitrary: constant({restart: true})},
  {weight: 1, arbitrary: constant({force: true})},
  {weight: 1, arbitrary: constant({restart: true, force: true})},
  {weight: 1, arbitrary: constant({restart: true, freshBudget: true})},
  {
    weight: 1,
    arbitrary: record({endpoint: settings.endpoint, account: settings.account, restart: boolean()}),
  },
  {weight: 1, arbitrary: record({maxCredits: settings.maxCredits, resends: settings.resends})},
  {weight: 1, arbitrary: record({state: settings.state, cache: settings.cache})},
);

const command: fc.Arbitrary<Command> = oneof(
  {weight: 5, arbitrary: record({do: constant('run' as const), spec, course})},
  {weight: 7, arbitrary: record({do: constant('again' as const), changes, course})},
  {
    weight: 1,
    arbitrary: record({
      do: constant('both' as const),
      spec,
      others: array(
        oneof(constant({}), constant({state: 1}), constant({output: 1}), constant({output: 1, input: 1})),
        {minLength: 1, maxLength: 2},
      ),
      courses: fc.tuple(course, course, course),
      apartMs: constantFrom(0, 5, 40, 200),
    }),
  },
  {
    weight: 1,
    arbitrary: record({
      do: constant('clock' as const),
      hours: constantFrom(1, 12, 22, 24, 100, -1, -24, 2000, -2000),
    }),
  },
  {weight: 1, arbitrary: record({do: constant('midnight' as const)})},
  {
    weight: 2,
    arbitrary: record({
      do: constant('input' as const),
      input: mostly(0, 1),
      how: constantFrom('append' as const, 'append' as const, 'change' as const, 'replace' as const),
      rows: rows(1, 4),
    }),
  },
  {
    weight: 1,
    arbitrary: record({
      do: constant('store' as const),
      cache: mostly('own' as const, 'other'),
      how: constantFrom(
        'lock' as const,
        'lock' as const,
        'delete' as const,
        'version' as const,
        'damage' as const,
      ),
      seconds: constantFrom(1, 6, 60),
    }),
  },
  {weight: 1, arbitrary: record({do: constant('history' as const), seconds: constantFrom(1, 6, 60)})},
  {
    weight: 1,
    arbitrary: record({do: constant('mount' as const), state: constantFrom(1 as const, 2 as const)}),
  },
  {
    weight: 1,
    arbitrary: record({
      do: constant('disk' as const),
      how: constantFrom('ENOSPC' as const, 'EIO' as const),
      afterMs: integer({min: 0, max: 150}),
      seconds: constantFrom(1, 60),
    }),
  },
  {
    weight: 1,
    arbitrary: record({
      do: constant('state' as const),
      how: constantFrom('delete' as const, 'version' as const, 'damage' as const),
    }),
  },
);

/** Mostly few: what takes many is found by many sequences as well, and each costs as much as its runs. */
const someOf = (commands: fc.Arbitrary<Command>, fewest: number) =>
  oneof(
    {withCrossShrink: true},
    {weight: 5, arbitrary: array(commands, {minLength: fewest, maxLength: fewest + 2})},
    {weight: 1, arbitrary: array(commands, {minLength: fewest + 3, maxLength: fewest + 10})},
  );

/** Few, that are soon spent; or many, of which runs take blocks. */
const accountPerDay = sometimes(oneof(integer({min: 1, max: 15}), constant(10_000)), 5);

const accountPerMonth = sometimes(oneof(integer({min: 3, max: 20}), constant(10_000)), 8);

const alone: fc.Arbitrary<Sequence> = record({
  inputs: fc.tuple(
    oneof({weight: 8, arbitrary: rows(1, 12)}, {weight: 1, arbitrary: refusedRows}),
    rows(1, 6),
  ),
  commands: someOf(command, 2),
  accountPerDay,
  accountPerMonth,
  accountRate: sometimes(integer({min: 2, max: 9}), 5),
  dialect: sometimes(constantFrom(...dialects), 3),
  fleet: constant(false),
});

/** A session that is cut off in the middle of its calls. */
const tornCourse: fc.Arbitrary<Course> = record({
  faults: oneof(
    {withCrossShrink: true},
    {weight: 1, arbitrary: constant([])},
    {weight: 2, arbitrary: array(fault, {minLength: 1, maxLength: 3})},
  ),
  latencyMs: mostly(20, 200, 400),
  fate: record({
    how: constantFrom('kill' as const, 'kill' as const, 'power' as const, 'term' as const),
    step: integer({min: 18, max: 70}),
    moment: constantFrom('before' as const, 'after' as const),
  }),
});

const torn = oneof(
  {weight: 3, arbitrary: record({do: constant('again' as const), changes, course: tornCourse})},
  {weight: 1, arbitrary: command},
);

/** One run that is cut off again and again, with a little of the world's in between: most of what lasts is seen then. */
const night: fc.Arbitrary<Sequence> = record({
  inputs: fc.tuple(rows(3, 12), rows(1, 3)),
  commands: fc
    .tuple(
      record({do: constant('run' as const), spec, course: tornCourse}),
      array(torn, {minLength: 1, maxLength: 3}),
    )
    .map(([first, others]) => [first, ...others]),
  accountPerDay,
  dialect: sometimes(constantFrom(...dialects), 3),
  fleet: constant(false),
});

/** The same of a fleet's run, soon after calls that are sent again: what became of the first of them is with Redis still. */
const tornFleetCourse: fc.Arbitrary<Course> = record({
  faults: array(
    record({
      from: integer({min: 1, max: 4}),
      count: integer({min: 1, max: 2}),
      kind: mostly('refused' as const, 'broken', 'reset'),
    }),
    {minLength: 1, maxLength: 1},
  ),
  latencyMs: constantFrom(20, 200, 400),
  fate: record({
    how: constant('kill' as const),
    step: integer({min: 20, max: 45}),
    moment: constantFrom('before' as const, 'after' as const),
  }),
});

/** Events of a fleet's workers and Redis while it works on one output. */
const fleetCommand: fc.Arbitrary<Command> = oneof(
  {
    weight: 6,
    arbitrary: record({
      do: constant('again' as const),
      changes: oneof(
        constant({}),
        constant({force: true}),
        constant({restart: true, force: true}),
        record({maxCredits: settings.maxCredits}),
      ),
      course: oneof(course, tornFleetCourse),
    }),
  },
  {weight: 2, arbitrary: record({do: constant('worker' as const), fate: sometimes(fate, 2)})},
  {
    weight: 2,
    arbitrary: record({
      do: constant('redis' as const),
      how: constantFrom('away' as const, 'full' as const, 'readOnly' as const),
      afterMs: integer({min: 0, max: 150}),
      // Longer than a run has patience, at times.
      seconds: constantFrom(1, 8, 60),
    }),
  },
  {
    weight: 1,
    arbitrary: record({
      do: constant('input' as const),
      input: constant(0),
      how: constant('append' as const),
      rows: rows(1, 4),
    }),
  },
);

const together: fc.Arbitrary<Sequence> = record({
  inputs: fc.tuple(rows(1, 12), rows(1, 1)),
  commands: fc
    .tuple(
      record({do: constant('run' as const), spec, course: oneof(course, tornFleetCourse)}),
      someOf(fleetCommand, 1),
    )
    .map(([first, others]) => [first, ...others]),
  fleet: constant(true),
});

export const sequence: fc.Arbitrary<Sequence> = oneof(
  {weight: 12, arbitrary: alone},
  {weight: 4, arbitrary: night},
  {weight: 4, arbitrary: together},
  {weight: 9, arbitrary: aimed(spec, rows)},
);
