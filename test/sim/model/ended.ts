import type {Job} from '../../../src/job/job.ts';
import type {Summary} from '../../../src/report/summary.ts';
import type {RunOutcome} from '../../../src/run/run-outcome.ts';
import type {Inode} from '../world/disk.ts';
import type {Process} from '../world/process.ts';
import type {Call} from '../world/service.ts';
import type {Course, RunSpec} from './commands.ts';
import {LEFT, type Report} from './report.ts';

/** The files of the disk, by path; databases by their name alone. */
export type Snapshot = ReadonlyMap<string, Buffer>;

/**
 * How a run ended. `wrote`: it wrote its rows and put them in place. `complete`, `unpublished`: an earlier run had written
 * them, and they were in place, or this one put them there.
 */
export type End = 'killed' | 'refused' | 'stopped' | 'wrote' | NonNullable<RunOutcome['found']>;

function endOf(outcome: RunOutcome | undefined): End {
  if (outcome === undefined) return 'refused';
  return outcome.stop === undefined ? (outcome.found ?? 'wrote') : 'stopped';
}

/** A run that has ended, and what can be seen of it. */
export interface Ended {
  /** Of the sequence's runs. */
  readonly nth: number;
  readonly spec: RunSpec;
  readonly course: Course;
  readonly process: Process;
  /** When its code began, by the computer's clock. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly job: Job | undefined;
  /** Undefined where it was killed. */
  readonly code: number | undefined;
  readonly message: string;
  readonly end: End;
  /** The error that kept it from starting. */
  readonly error: {readonly code: string} | undefined;
  /** Why it stopped before its end. */
  readonly stop: string | undefined;
  readonly summary: Summary | undefined;
  readonly warnings: readonly string[];
  readonly calls: readonly Call[];
  /** How many calls the service had seen when it ended. */
  readonly callsByThen: number;
  /** The input as it stood there. */
  readonly input: string;
  /** Its bytes: `input` as the list is written. */
  readonly bytes: Buffer;
  /** When answers were stored, by key and scope, as it was before it began. */
  readonly storedBefore: ReadonlyMap<string, number>;
  readonly before: Snapshot;
  readonly after: Snapshot;
  /** Possible contents of the place: earlier ones, too, if power was cut meanwhile. */
  readonly stood: readonly Snapshot[];
  /** The part of the files that outlives a power cut. */
  readonly lasting: Snapshot;
  /** The ledger that it worked with, if it came to that. */
  readonly ledger: Inode | undefined;
  /** True if the store was usable all the time. */
  readonly storeIsSound: boolean;
  /** True if it is the first store: locked at times, but neither deleted nor damaged. */
  readonly storeIsOld: boolean;
  /** True if another program has ever had the store locked. */
  readonly storeWasLocked: boolean;
  /** True if it is the last run, which nothing limits. */
  readonly healed: boolean;
  /** Of a run that finishes the one of an earlier day first. */
  readonly isOfEarlierDay: boolean;
  /** How many calls the service had seen when it was asked to end, or its program wanted no more. */
  readonly unwantedAt: number | undefined;
  /** Something that its program got and should not have. */
  readonly odd: string | undefined;
  /** Names in the directory for temporary files. */
  readonly temporaries: readonly string[];
  /** True if no other run was active at the same time. */
  readonly isAlone: boolean;
}

/** A run's output; empty for a killed one. */
export function saidBy({killed}: Process, {job, outcome, error, crash, warnings, isLeft}: Report) {
  if (crash !== undefined && !killed) throw crash;
  const said = killed ? undefined : (outcome ?? error);
  return {
    job,
    code: said?.exitCode,
    message: said?.message ?? '',
    end: killed ? 'killed' : endOf(outcome),
    error: killed ? undefined : error,
    stop: killed ? undefined : outcome?.stop && (isLeft ? LEFT : outcome.stop.reason),
    summary: killed ? undefined : outcome?.summary,
    warnings,
  };
}
