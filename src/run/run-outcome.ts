import type {ExitCode} from '../errors.ts';
import type {Summary} from '../report/summary.ts';
import type {Stop} from './stop.ts';

/** How a run ended. */
export interface RunOutcome {
  readonly exitCode: ExitCode;
  /** Undefined where the run could do nothing, and had no summary of an earlier session either. */
  readonly summary: Summary | undefined;
  /** Why it stopped before its end. */
  readonly stop: Stop | undefined;
  /** True if an earlier run had done all of it: this one read the list at most, and sent and wrote nothing. */
  readonly wasComplete?: boolean;
  /** One sentence for a person. */
  readonly message: string;
  /** Rows that are where nothing can happen to them: published, or in the state that the run goes on from. */
  readonly safeRows: number;
}
