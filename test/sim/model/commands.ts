import type {Fate} from '../world/process.ts';

/** A user's possible commands, as plain data; `sequences.ts` generates them. */

/** Numbers of the values in a row: an address, that of the last login, a mailbox. */
export interface InputRow {
  readonly ip: number;
  readonly last: number;
  readonly email: number;
  /** Set for a row that can't be read. */
  readonly broken?: true;
}

/** A run with its settings. */
export interface RunSpec {
  readonly input: number;
  readonly output: number;
  readonly account: number;
  /** `file`: `runJob`, which writes a file. `rows`: `enrich`, which takes rows from a program and gives them back. */
  readonly way: 'file' | 'rows';
  readonly columns:
    | 'ip'
    | 'ip last'
    | 'email'
    | 'token'
    | 'ip email'
    | 'ip token'
    | 'ip email token'
    | 'ip email?';
  readonly store: boolean;
  readonly maxCredits?: number | undefined;
  readonly publishesAtLimit: boolean;
  readonly force: boolean;
  readonly resends: number;
  readonly maxAge: '1h' | '1d' | '30d';
  readonly concurrency: number;
  readonly rate: 'unlimited' | '5/s' | 'ip=10/s,email=10/s,verify=10/s';
  /** Credits of a call; with `apart`, each operation costs a multiple. */
  readonly cost: number;
  readonly prices: 'one' | 'apart';
  readonly rejectedCharge: 'free' | 'maybe' | 'spent';
  readonly until?: '1s' | '5s' | undefined;
}

/** A fault of some of a session's calls: of `count` calls, from number `from` on. */
export interface Fault {
  readonly from: number;
  readonly count: number;
  readonly kind:
    | 'throttled'
    | 'broken'
    | 'reset'
    | 'late'
    /** Answered just within the time that a call may take. */
    | 'slow'
    | 'refused'
    | 'garbled'
    | 'no credits'
    | 'no access'
    | 'lost way';
}

/** Events of a session: what the service and the disk do to it, and how it is ended. */
export interface Course {
  readonly faults: readonly Fault[];
  /** Average time that the service takes. */
  readonly latencyMs: number;
  readonly fate?: Fate | undefined;
  /** The disk takes no writes after a while, for a while: it is full, or broken. */
  readonly disk?:
    | {readonly code: 'ENOSPC' | 'EIO'; readonly afterMs: number; readonly seconds: number}
    | undefined;
}

export type Command =
  | {readonly do: 'run'; readonly spec: RunSpec; readonly course: Course}
  /** The last command once more; at times with other settings. */
  | {readonly do: 'again'; readonly changes: Partial<RunSpec>; readonly course: Course}
  /** A second run beside it, soon after it has begun. */
  | {
      readonly do: 'both';
      readonly other: Partial<RunSpec>;
      readonly courses: readonly [Course, Course];
      readonly apartMs: number;
    }
  | {readonly do: 'later'; readonly hours: number}
  | {
      readonly do: 'list';
      readonly input: number;
      readonly how: 'append' | 'replace';
      readonly rows: readonly InputRow[];
    };

export interface Sequence {
  readonly inputs: readonly (readonly InputRow[])[];
  readonly commands: readonly Command[];
  /** Maximum of credits a day of all runs of the first account. */
  readonly accountPerDay?: number | undefined;
}
