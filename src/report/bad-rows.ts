import {z} from 'zod';
import {changesSchema} from './changes.ts';

const whole = z.int().min(0);

const badShare = z.object({
  name: z.string(),
  bad: whole.describe('Bad rows that have it.'),
  others: whole.describe('Other rows that have it.'),
  times: z
    .number()
    .nullable()
    .describe('How many times likelier a bad row is to have it than another; null if too few rows tell.'),
});

/** What `score --bad` counts: which rules and levels tell bad rows from others. */
const badRowsSchema = z.object({
  rows: z.object({bad: whole, others: whole}),
  levels: z.array(badShare),
  reasons: z.array(badShare).describe('One for each rule, in their order.'),
});

export type BadRows = z.output<typeof badRowsSchema>;
export type BadShare = z.output<typeof badShare>;

/** The form of `score --json`: the changes, and with `--bad` which rules tell. */
export const scoreSchema = changesSchema.extend({
  bad_rows: badRowsSchema
    .optional()
    .describe('With score --bad: rules and levels of bad rows and of others.'),
});

export type ScoreChanges = z.output<typeof scoreSchema>;
