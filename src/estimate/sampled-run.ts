import {UsageError} from '../errors.ts';
import {isReadOnce} from '../input/bytes/raw.ts';
import {openSource} from '../input/source.ts';
import type {Job} from '../job/job.ts';
import {inCredits} from '../job/money.ts';
import {seeded} from '../job/seeded.ts';
import {priceOf} from '../layout/prices.ts';
import {isStored, type Operation, operationNames} from '../operations/table.ts';
import {exact} from '../report/run-record.ts';
import type {Summary} from '../report/summary.ts';
import type {RunIo} from '../run/io.ts';
import {withoutUnusable} from '../run/open/unusable-directories.ts';
import {limited} from '../run/rows/which-records.ts';
import {run, type Watch} from '../run/run.ts';
import type {RunOutcome} from '../run/run-outcome.ts';
import {sampleJob} from '../run/sample-job.ts';
import type {Stopper} from '../run/stop.ts';
import {makePlan, type PlanReport} from './estimate.ts';

/** Results of a sample of rows, and the forecast for all rows. */
export interface SampleReport {
  /** Number of readable rows in the input. `sampled`: number of rows in the sample. */
  readonly rows: number;
  readonly sampled: number;
  readonly outcome: RunOutcome;
  /**
   * Credits that a run over all rows would cost if there had been no sample. `expected`: with the sample's
   * cost per value. `at_most`: the plan's maximum.
   */
  readonly credits: {readonly expected: number; readonly at_most: number};
  /** `once`: credits that the sample cost. `again`: the part that a run pays again, since it is not stored. */
  readonly paid: {readonly once: number; readonly again: number};
  /** By operation: calls for all rows; share of the sample's lookups that were answered (null without lookups). */
  readonly lookups: Readonly<Record<string, {readonly calls: number; readonly answered: number | null}>>;
}

/**
 * Looks up `sample` rows chosen at random, the same ones each time, and estimates the cost of all rows. Writes no
 * output. The answer store keeps the answers, so that the next run does not pay for them again.
 */
export async function runSample(
  given: Job,
  io: RunIo,
  stopper: Stopper,
  watch?: Watch,
): Promise<SampleReport> {
  const job = withoutUnusable(given, io);
  const size = job.settings.sample ?? 0;
  if (job.inputs.some(isReadOnce))
    throw new UsageError(
      'sample_stdin',
      '--sample reads its input twice, but stdin or a pipe can be read only once. Name a file.',
    );
  // The sample's run gives the same warnings as the plan, so the plan gives none.
  const plan = await makePlan(job, {...io, warn: () => {}});
  const chosen = await chooseRows(job, io, size);
  const sample = sampleJob(job, chosen);
  try {
    const outcome = await run(sample.job, io, stopper, watch);
    const {summary} = outcome;
    const paid = {once: creditsOf(summary?.credits), again: paidAgain(job, summary)};
    return {rows: plan.rows, sampled: chosen.size, outcome, paid, ...project(job, plan, summary)};
  } finally {
    sample.close();
  }
}

/** Chooses rows by Vitter's algorithm R: all rows are equally likely, and only the chosen ones are in memory. */
async function chooseRows(job: Job, io: RunIo, size: number): Promise<ReadonlySet<number>> {
  const source = await openSource({...job.settings, paths: job.inputs, stdin: io.stdin});
  const random = seeded(SEED);
  const chosen: number[] = [];
  let rows = 0;
  try {
    for await (const {records} of limited(source, job.settings.limit)) {
      for (const {type, record} of records) {
        if (type === 'reject') continue;
        rows += 1;
        const index = rows <= size ? rows - 1 : Math.floor(random() * rows);
        if (index < size) chosen[index] = record;
      }
    }
  } finally {
    await source.close();
  }
  return new Set(chosen);
}

/** Fixed, so that a second sample of the same size has the same rows and costs nothing. */
const SEED = 20_260_101;

/**
 * Estimates calls and credits for all rows. The plan counts the distinct values. The sample shows how often
 * conditions are true, and the real cost of a value.
 */
function project(job: Job, plan: PlanReport, summary: Summary | undefined) {
  const lookups: Record<string, {calls: number; answered: number | null}> = {};
  let expected = 0;
  for (const name of operationNames) {
    const found = plan.lookups[name];
    if (found === undefined) continue;
    const seen = summary?.lookups[name];
    const asked = askedIn(seen);
    // In the summary, `skipped` also counts the cells of rows that `where` leaves out. `wanted`, the share of
    // cells that `where` keeps in the plan, takes them off.
    const {values, empty, invalid, filtered} = found;
    const wanted = 1 - filtered / Math.max(1, values - empty - invalid);
    const considered = wanted * (asked + (seen?.skipped ?? 0));
    const held = considered === 0 ? 1 : Math.min(1, asked / considered);
    // `held` and `found.calls` both cover all columns of the operation, with and without a condition.
    const calls = found.conditional === 0 ? found.calls : found.calls * held;
    lookups[name] = {
      calls: Math.round(calls),
      answered: asked === 0 || seen === undefined ? null : seen.answered / asked,
    };
    expected += calls * perValue(name, job, summary);
  }
  return {credits: {expected: exact(expected), at_most: plan.credits.at_most}, lookups};
}

/** Cells of the sample whose lookup was made, or answered from the store. */
function askedIn(seen: Summary['lookups'][string] | undefined): number {
  return seen === undefined ? 0 : seen.answered + seen.failed + seen.unknown;
}

function creditsOf(spending: Summary['credits']['by_operation'][string] | undefined): number {
  return exact((spending?.spent ?? 0) + (spending?.maybe_spent ?? 0));
}

/**
 * The sample's credits that a run pays again. Without a store, these are all credits. With a store, these are the
 * credits of verdicts, of failed lookups, and of answers that could not be stored.
 */
function paidAgain({settings}: Job, summary: Summary | undefined): number {
  if (summary === undefined) return 0;
  const {credits, store, calls, lookups} = summary;
  const all = creditsOf(credits);
  if (settings.store === false) return all;
  const notKept = operationNames.map(name => {
    const seen = lookups[name];
    const lost = seen === undefined ? 0 : seen.failed + seen.unknown - seen.rejected;
    return creditsOf(credits.by_operation[name]) * (isStored(name) ? lost / Math.max(1, askedIn(seen)) : 1);
  });
  const notStored = ((store?.not_stored ?? 0) * all) / Math.max(1, calls.total);
  const again = notKept.reduce((sum, credits) => sum + credits, notStored);
  return exact(Math.min(all, again));
}

/** Credits per value in the sample, with repeated calls; the operation's price if the sample made no call. */
function perValue(operation: Operation, job: Job, summary: Summary | undefined): number {
  const seen = summary?.lookups[operation];
  const paid = summary?.credits.by_operation[operation];
  const values = seen === undefined ? 0 : seen.calls - seen.retries;
  if (paid !== undefined && values > 0) return (paid.spent + paid.maybe_spent) / values;
  return inCredits(priceOf(job)(operation));
}
