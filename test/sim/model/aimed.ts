import fc from 'fast-check';
import type {Command, Course, InputRow, RunSpec, Sequence} from './commands.ts';

/** Sequences for what chance alone seldom brings together: each is one night of which most is left to chance. */

const {constant, constantFrom, integer, oneof, record, array, tuple} = fc;

const sometimes = <T>(value: fc.Arbitrary<T>) => oneof(constant(undefined), value);

const fine: Course = {faults: [], latencyMs: 20};

const again = (course: Course, changes: Partial<RunSpec> = {}): Command => ({do: 'again', changes, course});

const night = (rows: fc.Arbitrary<InputRow[]>, commands: fc.Arbitrary<Command[]>, fleet = false) =>
  record({inputs: rows.map(own => [own, own.slice(0, 1)]), commands, fleet: constant(fleet)});

/** Cut off in the middle of its calls, which take a while. */
const cutOff = (min: number, max: number) =>
  record({
    how: constantFrom('kill' as const, 'kill' as const, 'power' as const),
    step: integer({min, max}),
    moment: constantFrom('before' as const, 'after' as const),
  });

export function aimed(
  spec: fc.Arbitrary<RunSpec>,
  rows: (min: number, max: number) => fc.Arbitrary<InputRow[]>,
): fc.Arbitrary<Sequence> {
  const specWith = (fixed: Partial<RunSpec>) =>
    spec.map(
      one =>
        ({...one, output: 0, state: 0, clash: undefined, offline: undefined, ...fixed}) satisfies RunSpec,
    );
  const plain = {restart: false, fromFile: false, freshBudget: false};

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

  /** The store is locked while a run, for minutes, saves what it has come to, and is then cut off. */
  const locked = night(
    integer({min: 20, max: 24}).map(count =>
      Array.from({length: count}, (_, ip) => ({ip: ip + 20, email: 0, token: 0})),
    ),
    tuple(
      specWith({
        ...plain,
        columns: 'ip',
        cache: 'own',
        concurrency: 1,
        maxCredits: undefined,
        maxErrors: undefined,
        until: undefined,
        requireStore: false,
      }),
      cutOff(105, 130),
    ).map(([one, fate]): Command[] => [
      {do: 'run', spec: {...one, input: 1, output: 1}, course: fine},
      {do: 'store', cache: 'own', how: 'lock', seconds: 200},
      {do: 'run', spec: {...one, input: 0}, course: {...fine, latencyMs: 4_000, fate}},
    ]),
  );

  /** Old answers are bought again by a restart. */
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

  /** A gateway's fault prevents renewals of due answers; then the run is killed, and resumes. */
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
        maxErrors: undefined,
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

  /** A run is cut off before the store has its answers, and its output is begun anew for another account or endpoint. */
  const takenOver = night(
    rows(4, 10),
    tuple(
      specWith({...plain, cache: 'own', maxCredits: undefined, requireStore: false, until: undefined}),
      cutOff(30, 80),
      constantFrom({account: 1}, {endpoint: 1}),
      sometimes(constant<Command>({do: 'store', cache: 'own', how: 'lock', seconds: 60})),
    ).map(([one, fate, other, lock]): Command[] => [
      ...(lock === undefined ? [] : [lock]),
      {do: 'run', spec: {...one, account: 0, endpoint: 0}, course: {...fine, fate}},
      again(fine, {...other, restart: true}),
      again(fine, {account: 0, endpoint: 0, restart: true, force: true}),
    ]),
  );

  /** An account is refused, or was after its answers fell due, in a run that is cut off once or twice. */
  const refusedOn = night(
    integer({min: 14, max: 22}).map(count =>
      Array.from({length: count}, (_, ip) => ({ip: ip + 20, email: 0, token: 0})),
    ),
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

  /** Answers grow older than any age that a job goes by, over nights that agree on the date. */
  const outgrown = night(
    rows(1, 6),
    tuple(
      specWith({
        ...plain,
        columns: 'ip',
        cache: 'own',
        stale: false,
        maxCredits: undefined,
        requireStore: false,
      }),
      constantFrom(190, 400),
    ).map(([one, hours]): Command[] => {
      const later = {do: 'run', spec: {...one, input: 1, force: true}, course: fine} as const;
      const wait = {do: 'clock', hours} as const;
      return [{do: 'run', spec: {...one, maxAge: '1h'}, course: fine}, wait, later, wait, later, wait, later];
    }),
  );

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

  /** An attempt with rows that can't be read is cut off, and started over once its list is repaired. */
  const repaired = record({
    inputs: rows(2, 6).map(own => [
      [{ip: 0, email: 0, token: 0, broken: true as const}, ...own],
      own.slice(0, 1),
    ]),
    commands: tuple(
      specWith({...plain, columns: 'ip', concurrency: 1, maxErrors: undefined}),
      cutOff(22, 45),
      rows(1, 4),
    ).map(([one, fate, own]): Command[] => [
      {do: 'run', spec: one, course: {...fine, latencyMs: 60, fate}},
      {do: 'input', input: 0, how: 'replace', rows: own.map(({broken: _, ...row}) => row)},
      again(fine, {restart: true, force: true}),
    ]),
    fleet: constant(false),
  });

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

  /** The state's directory is moved to another disk, or back, between a kill and the session after it. */
  const moved = night(
    rows(1, 6),
    tuple(
      specWith({...plain, columns: 'ip', state: 1, packed: false}),
      cutOff(20, 60),
      sometimes(cutOff(5, 60)),
    ).map(([one, fate, second]): Command[] => [
      {do: 'run', spec: {...one, state: 1}, course: {...fine, fate}},
      {do: 'mount', state: 1},
      again({...fine, fate: second}),
      again(fine),
    ]),
  );

  /** Two endpoints or accounts have the same list and output in turn, each starting over what the other left. */
  const inTurn = night(
    rows(2, 8),
    tuple(
      specWith({...plain, endpoint: 0, account: 0, maxCredits: undefined}),
      constantFrom({endpoint: 1}, {account: 1}),
      tuple(cutOff(18, 50), cutOff(18, 50), sometimes(cutOff(18, 50))),
      constantFrom('own' as const, 'none' as const),
    ).map(([one, other, [first, second, third], cache]): Command[] => [
      {do: 'run', spec: {...one, cache}, course: {...fine, latencyMs: 60, fate: first}},
      again({...fine, latencyMs: 60, fate: second}, {...other, restart: true}),
      again({...fine, latencyMs: 60, fate: third}, {endpoint: 0, account: 0, restart: true}),
      again(fine, {...other, restart: true, force: true}),
    ]),
  );

  /** Values have been sent as often as they may while the service is out of order for all. */
  const held = night(
    rows(5, 10),
    tuple(
      specWith({
        ...plain,
        columns: 'ip',
        resends: 1,
        cache: 'none',
        maxCredits: undefined,
        maxErrors: undefined,
      }),
      integer({min: 7, max: 14}),
      constantFrom('broken' as const, 'reset' as const),
      sometimes(cutOff(25, 60)),
    ).map(([one, count, kind, fate]): Command[] => [
      {do: 'run', spec: {...one, concurrency: 4}, course: {...fine, faults: [{from: 1, count, kind}], fate}},
      again(fine),
    ]),
  );

  return oneof(
    held,
    outgrown,
    overMidnight,
    repaired,
    joined,
    moved,
    inTurn,
    atLimit,
    doubted,
    limited,
    refused,
    locked,
    aged,
    dueAtLimit,
    due,
    ahead,
    behind,
    denied,
    worn,
    takenOver,
    refusedOn,
  );
}
