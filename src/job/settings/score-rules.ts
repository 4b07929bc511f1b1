import {z} from 'zod';
import {strictShape} from '../setting-types.ts';

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

/** A test of rules: a row with its answers, and the result that the rules must give. */
const ruleTest = strictShape({
  name: z.string().optional(),
  row: z.record(z.string(), z.unknown()).default({}),
  answers: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
  status: z
    .record(z.string(), z.enum(['ok', 'empty', 'invalid', 'failed', 'unknown', 'skipped']))
    .default({}),
  error: z.record(z.string(), z.string()).default({}),
  shared: z.record(z.string(), z.union([z.number(), z.record(z.string(), z.number())])).default({}),
  now: z.iso.datetime({offset: true, error: 'expected a time such as 2026-01-31T02:00:00Z'}).optional(),
  score: z.int().min(0).max(100).nullable().optional(),
  level: z.enum(['low', 'medium', 'high', 'unknown']).optional(),
  reasons: z.array(reasonCode).optional(),
}).refine(
  ({score, level, reasons}) => score !== undefined || level !== undefined || reasons !== undefined,
  'expected what comes out: score, level or reasons',
);

const level = z.int('expected a whole number').min(1).max(100);

/** A job's own rules, from its `score` block or a file, in place of the default ones or (`base`) beside them. */
export const scoreRules = strictShape({
  base: z.enum(['default', 'none']).default('none'),
  levels: strictShape({medium: level.default(30), high: level.default(60)})
    .refine(({medium, high}) => medium <= high, 'expected medium to be no higher than high')
    .prefault({}),
  same_by: z.string().min(1).optional(),
  rules: z.array(scoreRule).default([]),
  shared_reasons: z.array(reasonCode).default([]),
  tests: z.array(ruleTest).default([]),
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
