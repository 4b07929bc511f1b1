import type {ExitCode} from '../errors.ts';
import type {Summary} from '../report/summary.ts';
import type {Stop} from './stop.ts';

export interface RunOutcome {
  readonly exitCode: ExitCode;
  /** Undefined if the run did nothing, and no earlier session left a summary. */
  readonly summary: Summary | undefined;
  /** Set if the run ended before its input did. */
  readonly stop: Stop | undefined;
  /** True if an earlier run had done everything: this one sent and wrote nothing. */
  readonly wasComplete?: boolean;
  /** One sentence for the user. */
  readonly message: string;
  /** Rows that can't be lost: published, or in the state from which the run resumes. */
  readonly safeRows: number;
}
