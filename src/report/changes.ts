import {z} from 'zod';
import {formatCount} from './format.ts';
import {counts, whole} from './summary.ts';

const oldAndNew = z.object({old: whole, new: whole});

/** Differences between two outputs, in the form of `diff --json`, `score --json` and a job's summary. */
export const changesSchema = z.object({
  key: z
    .array(z.string())
    .describe('Columns by which rows are matched. Empty if both outputs have the same rows.'),
  rows: oldAndNew,
  new: whole.describe('Rows that are not in the old output.'),
  gone: whole.describe('Rows that are not in the new output.'),
  changed: whole.describe('Rows with another risk or answer.'),
  unchanged: whole,
  without_key: oldAndNew.describe('Rows with an empty key. They are not matched.'),
  repeated: oldAndNew.describe('Rows with the key of an earlier row. They are matched in order.'),
  levels: z.record(z.string(), counts).describe('Matched rows by old level, then by new level.'),
  reasons: z.object({came: counts, went: counts}).describe('Matched rows by reason.'),
  answers: counts.describe('Matched rows by the answer column that changed.'),
  columns: z
    .object({old: z.array(z.string()), new: z.array(z.string())})
    .describe('Result columns that only one output has. They are not compared.'),
});

export type Changes = z.output<typeof changesSchema>;

const badShare = z.object({
  name: z.string(),
  bad: whole.describe('Bad rows that have it.'),
  others: whole.describe('Other rows that have it.'),
  times: z
    .number()
    .nullable()
    .describe('A bad row is so many times likelier to have it than another; null if too few rows tell.'),
});

/** The form of `score --json`: the changes; with `--bad` also which rules are likelier to hold for bad rows. */
export const scoreChangesSchema = changesSchema.extend({
  bad_rows: z
    .object({
      rows: z.object({bad: whole, others: whole}),
      levels: z.array(badShare),
      reasons: z.array(badShare).describe('One for each rule, in their order.'),
    })
    .optional()
    .describe('With --bad: levels and rules of bad rows and of others.'),
});

export type ScoreChanges = z.output<typeof scoreChangesSchema>;
export type BadRowsComparison = NonNullable<ScoreChanges['bad_rows']>;
export type BadRowFrequency = z.output<typeof badShare>;

const LEVELS = ['low', 'medium', 'high', 'unknown', 'none'];

/** A table of row counts: old levels go down, new levels go across. It has only the levels that occur. */
export function levelGrid(levels: Changes['levels']): {
  readonly names: readonly string[];
  readonly rows: readonly (readonly string[])[];
} {
  const names = LEVELS.filter(name =>
    Object.entries(levels).some(([from, to]) => from === name || (to[name] ?? 0) > 0),
  );
  return {names, rows: names.map(from => [from, ...names.map(to => formatCount(levels[from]?.[to] ?? 0))])};
}

/** Explanation of a row's score: a line of `explain --json`. It holds no values of the row. */
export const scoreExplanationSchema = z.object({
  row: z.int().min(1),
  score: z.number().nullable(),
  level: z.string(),
  points: z.record(z.string(), z.int()).describe('Points by reason. Their sum can be below 0 or above 100.'),
  missing: z.array(z.string()),
  rules: z
    .array(
      z.object({
        reason: z.string(),
        add: z.int(),
        when: z.string(),
        description: z.string().optional(),
        owner: z.string().optional(),
        shadow: z.boolean().optional(),
        reads: z.array(z.string()).describe('Fields and columns that the rule read.'),
      }),
    )
    .describe('Rules that were true, from the summary beside the output.'),
  next: z
    .array(
      z.object({
        level: z.string(),
        points: z.int().describe('Points to add; below 0, points to take off.'),
        rules: z.array(z.string()).describe('Reasons of rules of which one alone would change the level.'),
      }),
    )
    .describe('Changes that would lead to the next level up or down.'),
});

export type ScoreExplanation = z.output<typeof scoreExplanationSchema>;
