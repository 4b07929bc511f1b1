import {basename} from 'node:path';
import {z} from 'zod';
import {priceSchema} from './money.ts';
import type {Summary} from './summary.ts';

const time = z.iso.datetime();
const whole = z.int().min(0);
const spending = z.object({calls: whole, spent: z.number(), maybe_spent: z.number()});

/**
 * One line of the history: what one session (a start or resume of a run) spent at one endpoint and account, and
 * how it ended. The sum of all lines is all spending. If a session is killed, the next session writes its line,
 * which has only the spending.
 */
export const runRecordSchema = z.object({
  run_id: z.string().describe('Identifier of the run, the same in all its lines.'),
  started_at: time,
  ended_at: time,
  job: z.string().nullable(),
  list: z.string().nullable().describe('Name of the first input, without its directory.'),
  account: z.object({endpoint: z.string(), label: z.string()}),
  price: priceSchema.optional().describe('Price of a credit at that time, if the account has one.'),
  status: z.enum(['completed', 'partial', 'interrupted', 'failed']),
  reason: z.string().describe('Reason as in the summary; cut_off for a session that was killed.'),
  exit_code: whole.nullable().describe('Null if the session was killed or started over.'),
  rows: whole.nullable().describe('Rows written by the whole run so far. Null if exit_code is null.'),
  calls: whole,
  credits: z.object({
    spent: z.number(),
    maybe_spent: z.number().describe('Less than 0 if credits in doubt before are not any more.'),
    by_operation: z.record(z.string(), spending),
  }),
  saved: z
    .number()
    .min(0)
    .nullable()
    .describe('Credits that the whole run saved. Null if exit_code is null.'),
  hit_rate: z.number().min(0).max(1).nullable().describe('Share of distinct values with a stored answer.'),
  store_trouble: z.boolean().describe('True if the answer store could not be used.'),
  drift: z.array(z.string()).describe('Names of the figures that jumped against the last runs.'),
});

export type RunRecord = z.output<typeof runRecordSchema>;

/** The `reason` in the line of a killed session, which could not report how it ended. */
const CUT_OFF = 'cut_off';

/** Fields of a session that are known at its start. */
export type RecordedSession = Pick<RunRecord, 'run_id' | 'started_at' | 'job' | 'list' | 'account' | 'price'>;

type SpentBy = RunRecord['credits']['by_operation'];

/** A session's line in the history, from the summary. `endpoint`: the name of the service that it called. */
export function recordOf(summary: Summary, endpoint: string): RunRecord {
  const {rows, lookups, credits, session, store} = summary;
  const values = Object.values(lookups);
  const distinct = values.reduce((total, each) => total + each.distinct, 0);
  const known = values.reduce((total, each) => total + each.from_store, 0);
  const {saved} = credits;
  return {
    run_id: summary.run_id,
    started_at: summary.started_at,
    ended_at: summary.finished_at,
    job: summary.job,
    list: listOf(summary.input.paths),
    account: {endpoint, label: credits.account.label},
    ...(credits.account.price && {price: credits.account.price}),
    status: summary.status,
    reason: summary.reason,
    exit_code: summary.exit_code,
    rows: rows.written,
    ...spendingOf(session.by_operation),
    saved: exact(saved.dedupe + saved.store + saved.prefilter),
    hit_rate: distinct === 0 ? null : Math.round((known / distinct) * 1e6) / 1e6,
    store_trouble: typeof store?.trouble === 'string',
    drift: summary.drift.map(({what}) => what),
  };
}

/** The line of a killed session. `ended_at` is the last known time: the session may have ended later. */
export function recordOfCutOff(facts: RecordedSession, ended_at: string, spent: SpentBy): RunRecord {
  return {
    ...facts,
    ended_at,
    status: 'interrupted',
    reason: CUT_OFF,
    exit_code: null,
    rows: null,
    ...spendingOf(spent),
    saved: null,
    hit_rate: null,
    store_trouble: false,
    drift: [],
  };
}

/**
 * Merges two lines of one session: one that it wrote itself, and perhaps a `cut_off` line that a later session
 * wrote. Calls and credits come from the `cut_off` line, and all else from the line that the session wrote itself.
 */
export function merged(first: RunRecord, second: RunRecord): RunRecord {
  const [own, after] = second.reason === CUT_OFF ? [first, second] : [second, first];
  return after.reason === CUT_OFF ? {...own, calls: after.calls, credits: after.credits} : own;
}

/**
 * True for a line that the session wrote itself. False for a `cut_off` line: a later session wrote it for
 * a killed session.
 */
export function isOwn({reason}: RunRecord): boolean {
  return reason !== CUT_OFF;
}

function spendingOf(by_operation: SpentBy) {
  const sum = (of: (each: SpentBy[string]) => number) =>
    exact(Object.values(by_operation).reduce((total, each) => total + of(each), 0));
  return {
    calls: sum(each => each.calls),
    credits: {spent: sum(each => each.spent), maybe_spent: sum(each => each.maybe_spent), by_operation},
  };
}

/** Name of the first input, without its directory; null for stdin. */
export function listOf([first]: readonly string[]): string | null {
  return first === undefined || first === '-' ? null : basename(first);
}

/** The summary for the history, with only the file name of each path. */
export function withoutPaths(summary: Summary): Summary {
  const {input, output, rejects} = summary;
  return {
    ...summary,
    input: {...input, paths: input.paths.map(path => basename(path))},
    output: {...output, path: basename(output.path)},
    rejects: rejects && {...rejects, path: rejects.path && basename(rejects.path)},
  };
}

/** Rounds a sum of credits to three decimals, as many as credits have. */
export function exact(credits: number): number {
  return Math.round(credits * 1_000) / 1_000;
}
