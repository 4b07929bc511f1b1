import fc from 'fast-check';
import type {Fault} from '../world/fault.ts';
import type {Fate} from '../world/process.ts';

/** What a user may do, as plain data: generated, shrunk and shown by fast-check. */

/** Numbers of the values in a row: an address, a mailbox, a token; `broken` is a row that can't be read. */
export interface InputRow {
  readonly ip: number;
  readonly email: number;
  readonly token: number;
  readonly broken?: true;
}

/** A run with its settings; what is left out is as it is by default. */
export interface RunSpec {
  readonly input: number;
  readonly output: number;
  readonly state: number;
  readonly endpoint: number;
  readonly account: number;
  readonly columns: 'ip' | 'email' | 'token' | 'ip email' | 'ip token' | 'ip email token' | 'ip email?';
  readonly cache: 'own' | 'other' | 'none';
  readonly maxCredits?: number | undefined;
  readonly perDay?: number | undefined;
  readonly publishesAtLimit: boolean;
  readonly restart: boolean;
  readonly force: boolean;
  readonly freshBudget: boolean;
  readonly resend: 'always' | 'never';
  readonly maxResends: number;
  readonly maxAge: '1h' | '1d' | '30d';
  readonly concurrency: number;
  readonly rate: 'unlimited' | '5/s' | 'ip=10/s,email=10/s,verify=10/s';
  readonly cost: number;
  readonly fromFile: boolean;
  readonly rejectedCharge: 'free' | 'maybe' | 'spent';
  readonly requireStore: boolean;
  readonly maxErrors?: number | undefined;
  readonly maxDuration?: string | undefined;
  readonly where: boolean;
  /** Whether workers make its calls. */
  readonly fleet?: true | undefined;
  /** A file that is named where another one is already. */
  readonly clash?: 'summary' | 'rejects' | 'both' | 'output' | undefined;
}

/** How a run goes: what the service does to it, and what comes over it. */
export interface Course {
  readonly faults: readonly Fault[];
  readonly fate?: Fate | undefined;
}

export type Command =
  | {readonly do: 'run'; readonly spec: RunSpec; readonly course: Course}
  | {readonly do: 'again'; readonly changes: Partial<RunSpec>; readonly course: Course}
  | {
      readonly do: 'both';
      readonly spec: RunSpec;
      readonly changes: Partial<RunSpec>;
      readonly courses: readonly [Course, Course];
      readonly apartMs: number;
    }
  | {readonly do: 'clock'; readonly hours: number}
  | {readonly do: 'midnight'}
  | {
      readonly do: 'input';
      readonly input: number;
      readonly how: 'append' | 'change' | 'replace';
      readonly rows: readonly InputRow[];
    }
  | {
      readonly do: 'store';
      readonly cache: 'own' | 'other';
      readonly how: 'lock' | 'delete' | 'version' | 'damage';
      readonly seconds: number;
    }
  | {readonly do: 'state'; readonly how: 'delete' | 'version' | 'damage'}
  /** Of a fleet: one more worker, and a Redis that is away or takes no writes after a while, for a while. */
  | {readonly do: 'worker'; readonly fate?: Fate | undefined}
  | {readonly do: 'redis'; readonly how: 'away' | 'full'; readonly afterMs: number; readonly seconds: number};

export interface Sequence {
  readonly inputs: readonly (readonly InputRow[])[];
  readonly commands: readonly Command[];
  /** Whether all of its runs have their calls made by workers. */
  readonly fleet: boolean;
}

const {constant, constantFrom, integer, boolean, oneof, record, array} = fc;

/** Mostly the first of these. */
function mostly<const T>(usual: T, ...others: readonly T[]): fc.Arbitrary<T> {
  return oneof(
    {weight: 5, arbitrary: constant(usual)},
    ...others.map(value => ({weight: 1, arbitrary: constant(value)})),
  );
}

/** Once in so many times. */
const sometimes = <T>(value: fc.Arbitrary<T>, rarity: number) =>
  oneof({weight: rarity - 1, arbitrary: constant(undefined)}, {weight: 1, arbitrary: value});

const row = oneof(
  {
    weight: 12,
    arbitrary: record({
      ip: integer({min: 0, max: 14}),
      email: integer({min: 0, max: 8}),
      token: integer({min: 0, max: 8}),
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
  ...(['broken', 'reset', 'late', 'throttled', 'refused', 'garbled', 'no credits', 'no access'] as const),
];

const fault = record({
  from: integer({min: 1, max: 12}),
  count: mostly(1, 2, 3, 8),
  kind: constantFrom(...faultKinds),
});

const fate: fc.Arbitrary<Fate> = record({
  how: constantFrom('kill' as const, 'kill' as const, 'power' as const, 'term' as const),
  step: integer({min: 1, max: 110}),
  moment: constantFrom('before' as const, 'torn' as const, 'after' as const),
});

const course: fc.Arbitrary<Course> = record({
  faults: oneof(
    {weight: 3, arbitrary: constant([])},
    {weight: 2, arbitrary: array(fault, {minLength: 1, maxLength: 3})},
  ),
  fate: sometimes(fate, 2),
});

const settings: {readonly [Name in keyof Omit<RunSpec, 'fleet'>]-?: fc.Arbitrary<RunSpec[Name]>} = {
  input: mostly(0, 1),
  output: mostly(0, 0, 1),
  state: mostly(0, 0, 1, 2),
  endpoint: mostly(0, 0, 1),
  account: mostly(0, 0, 1),
  columns: constantFrom(
    ...(['ip', 'ip', 'ip', 'ip email', 'ip token', 'token', 'ip email token', 'ip email?', 'email'] as const),
  ),
  cache: mostly('own' as const, 'none', 'none', 'other'),
  maxCredits: sometimes(integer({min: 0, max: 12}), 3),
  perDay: sometimes(integer({min: 1, max: 15}), 6),
  publishesAtLimit: mostly(false, true),
  restart: mostly(false, true),
  force: boolean(),
  freshBudget: mostly(false, false, true),
  resend: mostly('always' as const, 'never', 'never'),
  maxResends: mostly(2, 0, 1),
  maxAge: mostly('1d' as const, '1h', '30d'),
  concurrency: constantFrom(1, 2, 3, 4),
  rate: mostly('unlimited' as const, '5/s', 'ip=10/s,email=10/s,verify=10/s'),
  cost: mostly(1, 0.7),
  fromFile: mostly(false, true),
  rejectedCharge: mostly('maybe' as const, 'free', 'spent'),
  requireStore: mostly(false, false, false, true),
  maxErrors: sometimes(integer({min: 0, max: 3}), 8),
  maxDuration: sometimes(constantFrom('1s', '5s'), 12),
  where: mostly(false, false, true),
  clash: sometimes(
    constantFrom('summary' as const, 'rejects' as const, 'both' as const, 'output' as const),
    40,
  ),
};

const spec = record(settings) as fc.Arbitrary<RunSpec>;

/** The same command again, mostly just that. */
const changes = oneof(
  {weight: 4, arbitrary: constant({})},
  {weight: 1, arbitrary: constant({restart: true})},
  {weight: 1, arbitrary: constant({force: true})},
  {weight: 1, arbitrary: constant({restart: true, force: true})},
  {weight: 1, arbitrary: constant({restart: true, freshBudget: true})},
  {
    weight: 1,
    arbitrary: record({endpoint: settings.endpoint, account: settings.account, restart: boolean()}),
  },
  {weight: 1, arbitrary: record({maxCredits: settings.maxCredits, resend: settings.resend})},
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
      changes: oneof(
        constant({}),
        constant({state: 1}),
        constant({output: 1}),
        constant({output: 1, input: 1}),
      ),
      courses: fc.tuple(course, course),
      apartMs: constantFrom(0, 5, 40, 200),
    }),
  },
  {
    weight: 1,
    arbitrary: record({do: constant('clock' as const), hours: constantFrom(1, 12, 24, 100, -1, -24, 2000)}),
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
  {
    weight: 1,
    arbitrary: record({
      do: constant('state' as const),
      how: constantFrom('delete' as const, 'version' as const, 'damage' as const),
    }),
  },
);

const alone: fc.Arbitrary<Sequence> = record({
  inputs: fc.tuple(
    oneof({weight: 8, arbitrary: rows(1, 12)}, {weight: 1, arbitrary: refusedRows}),
    rows(1, 6),
  ),
  commands: array(command, {minLength: 2, maxLength: 12}),
  fleet: constant(false),
});

/** What a fleet's workers and Redis go through while it works on one output. */
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
      course,
    }),
  },
  {weight: 2, arbitrary: record({do: constant('worker' as const), fate: sometimes(fate, 2)})},
  {
    weight: 2,
    arbitrary: record({
      do: constant('redis' as const),
      how: constantFrom('away' as const, 'full' as const),
      afterMs: integer({min: 0, max: 150}),
      seconds: constantFrom(1, 8),
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
      record({do: constant('run' as const), spec, course}),
      array(fleetCommand, {minLength: 1, maxLength: 9}),
    )
    .map(([first, others]) => [first, ...others]),
  fleet: constant(true),
});

export const sequence: fc.Arbitrary<Sequence> = oneof(
  {weight: 9, arbitrary: alone},
  {weight: 1, arbitrary: together},
);
