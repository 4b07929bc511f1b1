import type {ExitCode} from '../errors.ts';
import type {Summary} from '../report/summary.ts';
import type {Stop} from './stop.ts';

export interface RunOutcome<Message = string> {
  readonly exitCode: ExitCode;
  readonly summary: Summary;
  /** Set if the run ended before its input did. */
  readonly stop: Stop<Message> | undefined;
  /** Set if an earlier run had written all rows, and this run sent nothing. */
  readonly found?: 'complete';
  /** One sentence for the user. */
  readonly message: Message;
  /** True if answers that were paid for could not be written, so that the next run may pay for them again. */
  readonly lostAnswers?: boolean;
}
