import {z} from 'zod';

const points = z.record(z.string(), z.int());

/** Explanation of a row's score: a line of `explain --json`. It holds no values of the row. */
export const explanationSchema = z.object({
  row: z.int().min(1),
  score: z.number().nullable(),
  level: z.string(),
  points: points.describe('Points by reason. Their sum can be below 0 or above 100.'),
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

export type Explanation = z.output<typeof explanationSchema>;
