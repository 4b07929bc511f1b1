import {z} from 'zod';
import {count} from './format.ts';

const whole = z.int().min(0);
const counts = z.record(z.string(), whole);
const each = z.object({old: whole, new: whole});

/** Differences between two outputs, as `diff --json`, `score --json` and a job's summary have them. */
export const changesSchema = z.object({
  key: z
    .array(z.string())
    .describe('The columns that rows are matched by; none where both are the same rows.'),
  rows: each,
  new: whole.describe('Rows that the old output lacks.'),
  gone: whole.describe('Rows that the new output lacks.'),
  changed: whole.describe('Rows of which the risk or an answer is another.'),
  unchanged: whole,
  without_key: each.describe('Rows in which all columns of the key are empty: they are not matched.'),
  repeated: each.describe('Rows with the key of an earlier row: they are matched one by one, in order.'),
  levels: z
    .record(z.string(), counts)
    .describe('Matched rows by their old level, in there by their new one.'),
  reasons: z.object({came: counts, went: counts}).describe('Matched rows by reason.'),
  answers: counts.describe('Matched rows by the column of an answer that is another.'),
  columns: z
    .object({old: z.array(z.string()), new: z.array(z.string())})
    .describe('Result columns that one output alone has: they are not compared.'),
});

export type Changes = z.output<typeof changesSchema>;

/** Kinds of rows in a comparison. */
export const rowKinds = ['new', 'gone', 'changed', 'unchanged'] as const;
export type RowKind = (typeof rowKinds)[number];

const LEVELS = ['low', 'medium', 'high', 'unknown', 'none'];

/** The rows of a table from level to level: those levels alone that any row has or had. */
export function levelGrid(levels: Changes['levels']): {
  readonly names: readonly string[];
  readonly rows: readonly (readonly string[])[];
} {
  const names = LEVELS.filter(name =>
    Object.entries(levels).some(([from, to]) => from === name || (to[name] ?? 0) > 0),
  );
  return {names, rows: names.map(from => [from, ...names.map(to => count(levels[from]?.[to] ?? 0))])};
}
