import fc from 'fast-check';
import type {Command, Course, InputRow, RunSpec, Sequence} from '../model/commands.ts';
import type {Fate} from '../world/process.ts';

const {constant, constantFrom, integer, oneof, record} = fc;

/** What nights are made of. */
export interface Means {
  /** Settings by chance, but for these: one output, whose state is beside it, and nothing named twice. */
  readonly specWith: (fixed: Partial<RunSpec>) => fc.Arbitrary<RunSpec>;
  readonly rows: (min: number, max: number) => fc.Arbitrary<InputRow[]>;
}

/** Settings of a run that goes on with what it finds. */
export const plain = {restart: false, fromFile: false, freshBudget: false};

export const fine: Course = {faults: [], latencyMs: 20};

export const sometimes = <T>(value: fc.Arbitrary<T>) => oneof(constant(undefined), value);

export const again = (course: Course, changes: Partial<RunSpec> = {}): Command => ({
  do: 'again',
  changes,
  course,
});

export const night = (
  rows: fc.Arbitrary<InputRow[]>,
  commands: fc.Arbitrary<Command[]>,
  fleet = false,
): fc.Arbitrary<Sequence> =>
  record({inputs: rows.map(own => [own, own.slice(0, 1)]), commands, fleet: constant(fleet)});

/** Rows of so many addresses, each of its own. */
export const distinct = (min: number, max: number): fc.Arbitrary<InputRow[]> =>
  integer({min, max}).map(count =>
    Array.from({length: count}, (_, ip) => ({ip: ip + 20, email: 0, token: 0})),
  );

/** Cut off in the middle of its calls, which take a while. */
export const cutOff = (min: number, max: number): fc.Arbitrary<Fate> =>
  record({
    how: constantFrom('kill' as const, 'kill' as const, 'power' as const),
    step: integer({min, max}),
    moment: constantFrom('before' as const, 'after' as const),
  });
