import type {Operation} from '../../../src/operations/table.ts';
import type {Fault} from '../world/fault.ts';
import type {Fate} from '../world/process.ts';
import type {Dialect} from './dialects.ts';

/** A user's possible commands, as plain data; `sequences.ts` generates them. */

/** Numbers of the values in a row: an address, a mailbox, a token; `broken` is a row that can't be read. */
export interface InputRow {
  readonly ip: number;
  readonly email: number;
  readonly token: number;
  /** Of the address of the last login; the same as the first where it is left out. */
  readonly last?: number;
  readonly phone?: number;
  readonly broken?: true;
}

/**
 * How a run is started, and where its rows go: by a command into a file if left out. `dated`: into a file of each day.
 * `stdout`: through a pipe. The others are a program that has the library: `runJob` writes a file, as the command does;
 * `enrich` takes rows from the program and gives them back.
 */
export type Way = 'dated' | 'stdout' | 'runJob' | 'enrich';

/** Nothing is asked after midnight, by UTC. */
export const MIDNIGHT = '00:00 UTC';

/** A run with its settings; what is left out is as it is by default. */
export interface RunSpec {
  readonly input: number;
  readonly output: number;
  readonly state: number;
  readonly endpoint: number;
  readonly account: number;
  readonly columns:
    | 'ip last'
    | 'ip phone'
    | 'phone'
    | 'ip'
    | 'email'
    | 'token'
    | 'ip email'
    | 'ip token'
    | 'ip email token'
    | 'ip email?';
  readonly cache: 'own' | 'other' | 'none';
  readonly maxCredits?: number | undefined;
  readonly publishesAtLimit: boolean;
  readonly restart: boolean;
  readonly force: boolean;
  readonly freshBudget: boolean;
  readonly resends: number;
  readonly maxAge: '1h' | '1d' | '30d';
  readonly concurrency: number;
  readonly rate: 'unlimited' | '5/s' | 'ip=10/s,email=10/s,verify=10/s';
  readonly cost: number;
  /** `apart`: each operation has its own price. */
  readonly prices: 'one' | 'apart';
  readonly fromFile: boolean;
  readonly rejectedCharge: 'free' | 'maybe' | 'spent';
  readonly requireStore: boolean;
  readonly maxErrors?: number | undefined;
  readonly until?: '1s' | '5s' | typeof MIDNIGHT | undefined;
  readonly where: boolean;
  /** True if an answer past its age serves when no call can be made. */
  readonly stale: boolean;
  readonly offline?: true | undefined;
  /** True if workers make its calls. */
  readonly fleet?: true | undefined;
  /** True if the other list comes behind the input. */
  readonly joined?: true | undefined;
  /** True if the input comes through a pipe. */
  readonly stdin: boolean;
  /** True if it names input and output by links. */
  readonly linked: boolean;
  /** True if the output is compressed at the end. */
  readonly packed: boolean;
  readonly ndjson: boolean;
  /** True if addresses are scored. */
  readonly scored: boolean;
  /** True if it writes metrics and a report too. */
  readonly tells: boolean;
  /** True if its key is in a file, where it may be renewed. */
  readonly keyFile?: true;
  /** A file that is named where another one is already. */
  readonly clash?: 'summary' | 'rejects' | 'both' | 'output' | undefined;
  readonly way?: Way | undefined;
  /** Of a dated run: the day that `--date` says, counted back from today. */
  readonly daysAgo?: number | undefined;
  /** The day that a dated run writes the file of: known as it begins. */
  day?: string | undefined;
}

/** True for rows that leave the run as they are finished: none of them can be taken back. */
export function isStream({way}: Pick<RunSpec, 'way'>): boolean {
  return way === 'stdout' || isOfProgram({way});
}

/** True for rows that a program gives and takes. */
export function isOfProgram({way}: Pick<RunSpec, 'way'>): boolean {
  return way === 'enrich';
}

/** The settings without those that its way to run lacks. */
export function fitting(spec: RunSpec): RunSpec {
  const {way} = spec;
  if (way === undefined) return spec;
  const own = {...spec, linked: false, clash: undefined};
  if (way === 'dated') return {...own, state: 0, packed: false};
  if (way === 'stdout') return {...own, packed: false};
  const byProgram = {...own, stdin: false, fromFile: false, joined: undefined};
  if (way === 'runJob') return byProgram;
  return {
    ...byProgram,
    state: 0,
    packed: false,
    ndjson: true,
    restart: false,
    freshBudget: false,
    force: false,
    // A limit that the last rows exceed ends the run, but not the loop, which has all of them.
    maxErrors: undefined,
  };
}

/** Cost of a run's call. With prices apart, operations cost multiples of one. */
export function costOf({cost, prices}: Pick<RunSpec, 'cost' | 'prices'>, operation: Operation): number {
  const times = prices === 'one' ? 1 : {ip: 1, phone: 2, email: 3, verify: 2}[operation];
  return Math.round(cost * 1_000 * times) / 1_000;
}

/** True if the run, should it start over, has all of its limit again: a command says so with `--restart` alone. */
export function startsFresh({freshBudget, restart, fromFile}: RunSpec): boolean {
  return freshBudget && (restart || fromFile);
}

/** How a run goes: what the service does to it, and what comes over it. */
export interface Course {
  readonly faults: readonly Fault[];
  /** How long the service takes, on average. */
  readonly latencyMs: number;
  readonly fate?: Fate | undefined;
  /** The reader of a stream leaves after so many rows. */
  readonly leavesAfter?: number | undefined;
}

export type Command =
  | {readonly do: 'run'; readonly spec: RunSpec; readonly course: Course}
  | {readonly do: 'again'; readonly changes: Partial<RunSpec>; readonly course: Course}
  | {
      readonly do: 'both';
      readonly spec: RunSpec;
      /** The settings in which each of those beside it differs. */
      readonly others: readonly Partial<RunSpec>[];
      readonly courses: readonly Course[];
      readonly apartMs: number;
    }
  | {readonly do: 'clock'; readonly hours: number}
  | {readonly do: 'midnight'}
  | {
      readonly do: 'input';
      readonly input: number;
      readonly how: 'append' | 'change' | 'replace';
      readonly rows: readonly InputRow[];
    }
  | {
      readonly do: 'store';
      readonly cache: 'own' | 'other';
      readonly how: 'lock' | 'delete' | 'version' | 'damage';
      readonly seconds: number;
    }
  /** The disk takes no writes after a while, for a while: it is full, or broken. */
  | {readonly do: 'disk'; readonly how: 'ENOSPC' | 'EIO'; readonly afterMs: number; readonly seconds: number}
  /** The account's key is renewed in its file, and at the service, after a while. */
  | {readonly do: 'renewKey'; readonly account: number; readonly afterMs: number}
  /** A state's directory is moved to another disk, or back. */
  | {readonly do: 'mount'; readonly state: 1 | 2}
  | {readonly do: 'state'; readonly how: 'delete' | 'version' | 'damage'}
  /** Another program has the history's file locked for a while. */
  | {readonly do: 'history'; readonly seconds: number}
  /** Of a fleet: one more worker, and a Redis that is away, full or takes no writes after a while, for a while. */
  | {readonly do: 'worker'; readonly fate?: Fate | undefined}
  | {
      readonly do: 'redis';
      readonly how: 'away' | 'full' | 'readOnly';
      readonly afterMs: number;
      readonly seconds: number;
    };

export interface Sequence {
  readonly inputs: readonly (readonly InputRow[])[];
  readonly commands: readonly Command[];
  /** How its lists are written; plain CSV if left out. */
  readonly dialect?: Dialect | undefined;
  /** True if workers make the calls of all its runs. */
  readonly fleet: boolean;
  /** Most credits a day of all jobs of the first account at the first endpoint. */
  readonly accountPerDay?: number | undefined;
  readonly accountPerMonth?: number | undefined;
  /** Most calls a second of it, of all processes together. */
  readonly accountRate?: number | undefined;
}
