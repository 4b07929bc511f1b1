import {z} from 'zod';

const points = z.record(z.string(), z.int());

/** Parts of a row's score: a line of `explain --json`. It holds no values of the row. */
export const explanationSchema = z.object({
  row: z.int().min(1),
  score: z.number().nullable(),
  level: z.string(),
  points: points.describe('By reason, before the sum is kept between 0 and 100.'),
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
        reads: z.array(z.string()).describe('The fields and columns that it went by.'),
      }),
    )
    .describe('The rules that held, as the summary beside the output has them.'),
  next: z
    .array(
      z.object({
        level: z.string(),
        points: z.int().describe('How many points more, or fewer where it is below 0.'),
        rules: z
          .array(z.string())
          .describe('Reasons of rules that would do it alone, if they held or did not.'),
      }),
    )
    .describe('What would have to be different for the next level up or down.'),
});

export type Explanation = z.output<typeof explanationSchema>;
