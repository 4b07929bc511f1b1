import fc from 'fast-check';

/** A user's commands as plain data, and how fast-check generates and shrinks sequences of them. */

type Of<A> = A extends fc.Arbitrary<infer T> ? T : never;

const {constant, constantFrom, integer, boolean, oneof, record, array, tuple} = fc;

const times = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({weight, arbitrary});
const word = <const T extends string>(...words: T[]) => constantFrom(...words);
const SHRINK = {withCrossShrink: true};

/** Mostly the first of these, which is what the others shrink to. */
const mostly = <const T>(usual: T, ...others: readonly T[]): fc.Arbitrary<T> =>
  oneof(SHRINK, times(5, constant(usual)), ...others.map(value => times(1, constant(value))));

/** Once in so many times. */
const sometimes = <T>(value: fc.Arbitrary<T>, rarity: number) =>
  oneof(SHRINK, times(rarity - 1, constant(undefined)), times(1, value));

/** Numbers of the values in a row: an address, that of the last login, a mailbox. A `broken` one can't be read. */
export interface InputRow {
  readonly ip: number;
  readonly last: number;
  readonly email: number;
  readonly broken?: true;
}

const upTo = (max: number) => integer({min: 0, max});
// Few mailboxes, so that one is wanted again and again.
const readable = record({ip: upTo(14), last: upTo(14), email: oneof(upTo(2), upTo(8))});
const unreadable = constant({ip: 0, last: 0, email: 0, broken: true as const});
const row: fc.Arbitrary<InputRow> = oneof(times(12, readable), times(1, unreadable));

const rows = (min: number, max: number) => array(row, {minLength: min, maxLength: max});

/** A list of which the service refuses all but the first value. */
const refusedRows = integer({min: 10, max: 12}).map(count =>
  Array.from({length: count + 1}, (_, index) => ({ip: index === 0 ? 0 : 100 + index, last: 0, email: 0})),
);

/** A fault of some of a session's calls: of `count` calls, from number `from` on. */
export type Fault = Of<typeof fault>;

const fault = record({
  from: integer({min: 1, max: 12}),
  count: mostly(1, 2, 3, 8, 40),
  kind: word(
    // A `slow` one is answered just within the time that a call may take.
    ...(['broken', 'reset', 'late', 'slow', 'throttled', 'refused'] as const),
    ...(['garbled', 'nothing', 'no credits', 'no access', 'lost way'] as const),
  ),
});

const faults = (weights: readonly [none: number, some: number]): fc.Arbitrary<readonly Fault[]> =>
  oneof(
    SHRINK,
    times(weights[0], constant([])),
    times(weights[1], array(fault, {minLength: 1, maxLength: 3})),
  );

const how = word('kill', 'kill', 'power', 'term');
const moment = word('before', 'torn', 'after');
const afterMs = upTo(150);

/** Events of a session: what the service and the disk do to it, and how it is ended. */
export type Course = Of<typeof course>;

const course = record({
  faults: faults([3, 2]),
  /** Average time that the service takes. */
  latencyMs: mostly<number>(20, 2, 200),
  fate: sometimes(record({how, step: integer({min: 1, max: 110}), moment}), 2),
  /** The disk takes no writes after a while, for a while: it is full, or broken. */
  disk: sometimes(record({code: word('ENOSPC', 'EIO'), afterMs, seconds: constantFrom(1, 60)}), 10),
  /** The computer's clock is set meanwhile. */
  clock: sometimes(record({afterMs, seconds: constantFrom(-10, -300, 10, 300)}), 10),
});

/** A session that is cut off in the middle of its calls. */
const tornCourse: fc.Arbitrary<Course> = record({
  faults: faults([1, 2]),
  latencyMs: mostly<number>(20, 200, 400),
  fate: record({how, step: integer({min: 18, max: 70}), moment: word('before', 'after')}),
  disk: constant(undefined),
  clock: constant(undefined),
});

/** A run with its settings. */
export type RunSpec = Of<typeof spec> & {readonly fleet?: true; readonly restart?: true};

const settings = {
  input: mostly<number>(0, 1),
  output: mostly<number>(0, 0, 1),
  account: mostly<number>(0, 0, 1),
  /** `file`: `runJob`, which writes a file. `rows`: `enrich`, which takes rows from a program and gives them back. */
  way: mostly('file', 'file', 'rows'),
  columns: word(
    ...(['ip', 'ip', 'ip last', 'email', 'token'] as const),
    ...(['ip email', 'ip token', 'ip email token', 'ip email?'] as const),
  ),
  store: mostly<boolean>(true, false, false),
  maxCredits: sometimes(integer({min: 0, max: 12}), 3),
  publishesAtLimit: mostly<boolean>(false, true, true),
  force: boolean(),
  resends: mostly<number>(2, 0, 0, 1),
  maxAge: mostly('1d', '1h', '30d'),
  concurrency: constantFrom<number[]>(1, 2, 4, 8),
  rate: mostly('unlimited', '5/s', 'ip=10/s,email=10/s,verify=10/s'),
  /** Credits of a call; with `apart`, each operation costs a multiple. */
  cost: mostly<number>(1, 0.7, 0.1),
  prices: mostly('one', 'apart'),
  rejectedCharge: mostly('maybe', 'free', 'free', 'spent'),
  until: sometimes(word('1s', '5s'), 12),
};

const spec = record(settings);

/** The same command again is the usual one; the settings that differ at times are what people change. */
const changes: fc.Arbitrary<Partial<RunSpec>> = oneof(
  SHRINK,
  times(8, constant({})),
  times(2, constant({force: true})),
  times(1, record({maxCredits: settings.maxCredits, publishesAtLimit: boolean()})),
  times(1, record({resends: settings.resends, concurrency: settings.concurrency})),
  times(1, record({columns: settings.columns})),
  times(1, record({output: settings.output, account: settings.account})),
);

export type Command = Of<typeof command>;

const first = (course: fc.Arbitrary<Course>) => record({do: constant('run' as const), spec, course});
const again = (course: fc.Arbitrary<Course>) => record({do: constant('again' as const), changes, course});
/** A second run beside the other, soon after it has begun. */
const both = record({
  do: constant('both' as const),
  other: constantFrom<Partial<RunSpec>[]>({output: 1}, {output: 1}, {}, {output: 1, input: 1}),
  courses: tuple(course, course),
  apartMs: constantFrom(1, 5, 40, 200),
});
const list = record({
  do: constant('list' as const),
  input: mostly(0, 1),
  how: word('append', 'replace'),
  rows: rows(1, 4),
});

const command = oneof(
  times(4, first(course)),
  // The last command once more; at times with other settings.
  times(7, again(course)),
  times(2, both),
  times(1, record({do: constant('later' as const), hours: constantFrom(1, 12, 22, 100)})),
  times(1, record({do: constant('clock' as const), hours: constantFrom(-1, 25, -25, 8_760, -8_760)})),
  times(2, list),
);

export interface Sequence {
  readonly inputs: readonly (readonly InputRow[])[];
  readonly commands: readonly Command[];
  /** Maximum of credits a day of all runs of the first account. */
  readonly accountPerDay?: number | undefined;
  readonly fleet?: FleetSpec | undefined;
}

const accountPerDay = sometimes(oneof(integer({min: 1, max: 15}), constant(10_000)), 5);

const begun = (one: fc.Arbitrary<Command>, others: fc.Arbitrary<Command>, maxLength: number) =>
  tuple(one, array(others, {minLength: 1, maxLength})).map(([first, more]) => [first, ...more]);

/** A few days of a user. */
const mixed: fc.Arbitrary<Sequence> = record({
  inputs: tuple(oneof(times(8, rows(1, 12)), times(1, refusedRows)), rows(1, 6)),
  commands: begun(first(course), command, 4),
  accountPerDay,
});

/** One run that is cut off again and again. */
const torn: fc.Arbitrary<Sequence> = record({
  inputs: tuple(rows(3, 12), rows(1, 3)),
  commands: begun(first(tornCourse), oneof(times(3, again(tornCourse)), command), 3),
  accountPerDay,
});

export const sequence: fc.Arbitrary<Sequence> = oneof(times(2, mixed), times(1, torn));

/** Workers of a fleet, and what befalls them. */
export type FleetSpec = Of<typeof fleet>;

const trouble = record({
  /** Of the sequence's commands, and which of the workers. */
  command: integer({min: 0, max: 4}),
  worker: integer({min: 0, max: 3}),
  /** `cut`: nothing that it says reaches Redis for a while. */
  how: word('kill', 'kill', 'term', 'cut'),
  step: integer({min: 6, max: 60}),
  moment,
  seconds: constantFrom(1, 5, 20),
});

const worker = record({concurrency: constantFrom(16, 1, 4, 64), slowness: mostly<number>(1, 0.2, 5)});
const fleet = record({
  workers: array(worker, {minLength: 1, maxLength: 4}),
  /** True if news of chunks may come late, twice or never. */
  isUnsure: boolean(),
  troubles: array(trouble, {maxLength: 6}),
});

const FLEET_CONCURRENCY = 8;

/** Long lists, of distinct values mostly. The longest is for so many calls a second that chunks grow. */
const LONGEST = 400;
const more = mostly<number>(12, 0, 30, LONGEST).map(count =>
  Array.from({length: count}, (_, nth) => ({ip: 15 + (nth % 80), last: 15 + (nth % 50), email: 9 + nth})),
);
const busy = {concurrency: 256, columns: 'ip email', rate: 'unlimited'} as const;

/** A fleet goes by the clock of Redis, which no step reaches. */
function isWithoutClock(command: Command): boolean {
  const courses = command.do === 'both' ? command.courses : 'course' in command ? [command.course] : [];
  return command.do !== 'clock' && courses.every(({clock}) => clock === undefined);
}

/** The same with runs whose calls are made by a fleet. */
export const fleetSequence: fc.Arbitrary<Sequence> = record({sequence, more, fleet}).map(one => {
  const {inputs, commands, accountPerDay} = one.sequence;
  const isBusy = one.more.length === LONGEST;
  // A killed run's calls are booked by the next one, by its prices of rejections.
  const [rejectedCharge] = commands.flatMap(each => (each.do === 'run' ? [each.spec.rejectedCharge] : []));
  const widened = (given: RunSpec): RunSpec => {
    const concurrency = given.concurrency * FLEET_CONCURRENCY;
    return {...given, fleet: true, concurrency, ...(rejectedCharge && {rejectedCharge}), ...(isBusy && busy)};
  };
  return {
    inputs: [[...(inputs[0] ?? []), ...one.more], ...inputs.slice(1)],
    commands: commands.filter(isWithoutClock).map(command =>
      command.do === 'run'
        ? {
            ...command,
            spec: widened(command.spec),
            course: {...command.course, ...(isBusy && {latencyMs: 200, faults: []})},
          }
        : command,
    ),
    accountPerDay,
    fleet: isBusy
      ? {...one.fleet, workers: one.fleet.workers.slice(0, 2).map(() => ({concurrency: 64, slowness: 1}))}
      : one.fleet,
  };
});
