import {z} from 'zod';
import {strictShape} from '../values.ts';

const reasonCode = z
  .string()
  .regex(/^[A-Za-z][\w.-]{0,63}$/, 'expected a short code such as tor or email_invalid');

/** One rule: if its condition holds, its points are added to the risk, for its reason. */
const scoreRule = strictShape({
  when: z.string().min(1),
  add: z.int('expected a whole number of points').min(-100).max(100),
  reason: reasonCode,
  description: z.string().optional(),
  owner: z.string().optional(),
  // Tries a rule out: it is counted and shown, but its points are not added.
  shadow: z.boolean().optional(),
});

const NAME = 'expected a name of letters, digits and _';
const name = z.string().regex(/^[A-Za-z_]\w{0,63}$/, NAME);

const level = z.int('expected a whole number').min(1).max(100);

/**
 * A job's own rules, from its `score` block or a file. They replace the default rules, unless `base` is `default`.
 */
export const scoreRules = strictShape({
  base: z.enum(['default', 'none']).default('none'),
  levels: strictShape({medium: level.default(30), high: level.default(60)})
    .refine(({medium, high}) => medium <= high, 'expected medium to be no higher than high')
    .prefault({}),
  same_by: z.string().min(1).optional(),
  rules: z.array(scoreRule).default([]),
  shared_reasons: z.array(reasonCode).default([]),
  constants: z
    .record(
      name,
      z.union([z.number(), z.string(), z.boolean()], {error: 'expected a number, a text, or true or false'}),
    )
    .default({}),
  lists: z
    .record(
      name,
      z.union([z.array(z.string()), strictShape({file: z.string().min(1)})], {
        error: 'expected texts, or {file: PATH} of a file with one a line',
      }),
    )
    .default({}),
});

export type ScoreRules = z.output<typeof scoreRules>;
