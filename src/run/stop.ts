import {exitCodeOfAttempt, explainFailure} from '../client/client-error.ts';
import {onAbort} from '../client/on-abort.ts';
import {
  BulkEnrichError,
  type ErrorCode,
  type ExitCode,
  exitCodes,
  systemCode,
  toOutputError,
} from '../errors.ts';
import {InputError} from '../input/input-error.ts';
import type {Endpoint} from '../job/endpoint.ts';
import type {Job} from '../job/job.ts';
import type {Ledger} from '../ledger/run/ledger.ts';
import type {RefusalStreak, Tally} from '../ledger/run/tally.ts';
import type {StopReason} from '../lookup/call.ts';
import type {LongRefusalStreak} from '../lookup/canary.ts';
import {INVALID_TOKEN_CODE} from '../operations/operation.ts';
import {type Operation, operationNames, operations} from '../operations/table.ts';
import {formatDuration, PERHAPS_ACCOUNT, pluralize} from '../report/format.ts';
import {capitalize, type Said, say, setting} from '../sentence.ts';
import {type Counters, hasAnswers, sumFailedCells} from './counts/counters.ts';
import type {Counted, Stop} from './exit.ts';
import {RowsError, type RunIo} from './io.ts';
import {exhaustedMessage} from './open/account.ts';
import type {RunDirectory} from './state/run-directory.ts';
import type {RunIdentity} from './state/run-identity.ts';

/** Stops a run once: the first reason counts, and later ones are ignored. */
export class Stopper {
  readonly #controller = new AbortController();

  get reason(): Stop<Said> | undefined {
    return this.signal.aborted ? (this.signal.reason as Stop<Said>) : undefined;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  stop(stop: Stop<Said>): void {
    this.#controller.abort(stop);
  }

  /** Calls `listener` when the run stops, or now if it has stopped. Returns a function that removes `listener`. */
  onStop(listener: () => void): () => void {
    return onAbort(this.signal, listener);
  }

  /** Returns a child that stops with this stopper, or alone. This stopper holds no reference to a stopped child. */
  child(): Stopper {
    const child = new Stopper();
    child.onStop(this.onStop(() => this.reason && child.stop(this.reason)));
    return child;
  }

  /**
   * The result of `work`; undefined as soon as the run stops, since `work` may never end. `stopped` is a new
   * promise for each call: races with one promise that lives as long as the run would keep every result in memory.
   */
  async unlessStopped<T>(work: Promise<T>): Promise<T | undefined> {
    let forget = () => {};
    const stopped = new Promise<undefined>(resolve => {
      forget = this.onStop(() => resolve(undefined));
    });
    try {
      return await Promise.race([work, stopped]);
    } finally {
      forget();
    }
  }
}

/** The job, surroundings, state, stopper and clock of a run, which all of its stages take. */
export interface RunContext {
  readonly job: Job;
  readonly io: RunIo;
  readonly state: RunDirectory;
  readonly stopper: Stopper;
  /** Milliseconds since the epoch, from a clock that never jumps. */
  readonly clock: () => number;
}

/**
 * Returns a clock in milliseconds since the epoch that starts at `startMs` and never jumps. If the
 * computer's clock is set during a run, the run must neither send too many calls nor stand still.
 */
export function createSteadyClock(startMs: number): () => number {
  const origin = startMs - performance.now();
  return () => origin + performance.now();
}

/** Turns the reason why no more calls are made into the run's {@link Stop}. */
export function makeCallsStop(reason: StopReason, ledger: Ledger, endpoint: Endpoint): Stop<Said> {
  switch (reason.kind) {
    case 'fatal': {
      const {attempt} = reason;
      const why = explainFailure(attempt, keyVariableOf(endpoint));
      return {
        status: attempt.reason === 'credits' ? 'interrupted' : 'failed',
        ...(attempt.reason === 'mixed_answers' && {forgetsFailures: true}),
        reason: attempt.reason,
        exitCode: exitCodeOfAttempt(attempt),
        message: `${capitalize(why)}. Nothing more was sent.`,
      };
    }
    case 'refused':
      return refused(reason.operation, reason.streak, endpoint);
    case 'outage': {
      const {comeBackMs} = reason;
      return interrupted('outage', exitCodes.temporary, outageMessage(reason), comeBackMs);
    }
    case 'budget': {
      const comeBackMs = ledger.budget.exhausted?.renewsAt;
      return interrupted('budget', exitCodes.credits, budgetMessage(ledger), comeBackMs);
    }
    case 'error':
      return makeErrorStop(reason.error);
    default:
      return reason satisfies never;
  }
}

function interrupted(reason: ErrorCode, exitCode: ExitCode, message: Said, comeBackMs?: number): Stop<Said> {
  return {status: 'interrupted', reason, exitCode, message, comeBackMs};
}

function keyVariableOf(endpoint: Endpoint): string | undefined {
  return endpoint.kind === 'live' ? endpoint.keyFrom : undefined;
}

function budgetMessage(ledger: Ledger): Said {
  const {exhausted} = ledger.budget;
  if (exhausted !== undefined) return exhaustedMessage(exhausted);
  const {sessions = 1} = ledger.getMeta<RunIdentity>('run') ?? {};
  const reached = say`The credit limit (${setting('maxCredits')}) is reached: nothing more was sent.`;
  return sessions > 1
    ? say`${reached} Earlier sessions of this run count, too. Raise it; or, to begin a new count, add ${setting('restart', true)} to the command once.`
    : reached;
}

function outageMessage(outage: Extract<StopReason, {kind: 'outage'}>): Said {
  const {operation, cause, sinceMs, comeBackMs, why} = outage;
  const at = new Date(comeBackMs).toISOString();
  if (why === 'asked')
    return say`The service asks to come back at ${at} (${cause}), which exceeds ${setting('maxOutage')}.`;
  const calls = operation === undefined ? '' : ` ${operation} calls`;
  const isOfProxy = cause.startsWith('proxy_');
  const who = isOfProxy
    ? 'The proxy (HTTPS_PROXY) could not be used'
    : `The service has not answered${calls}`;
  const silent = `${who} since ${new Date(sinceMs).toISOString()} (${cause})`;
  const others =
    operation === undefined
      ? ''
      : say`, or with ${setting('publishOn', 'outage')} to write the output without these values`;
  if (why === 'too long')
    return say`${silent}, which is longer than ${setting('maxOutage')}. Try again at ${at}${others}.`;
  return say`${silent}, and all values that are left were sent as often as ${setting('resends')} allows. Try again at ${at} with a higher ${setting('resends')}; otherwise these values fail.`;
}

export function makeErrorStop(thrown: unknown): Stop<Said> {
  if (thrown instanceof RowsError)
    return {...interrupted('signal', exitCodes.interrupted, thrown.message), error: thrown};
  const error = toOutputError(thrown);
  if (error instanceof BulkEnrichError) {
    const {code: reason, exitCode, said: message} = error;
    return {status: reason === 'signal' ? 'interrupted' : 'failed', reason, exitCode, message, error};
  }
  const message = `Internal error: ${error instanceof Error ? error.message : String(error)}`;
  return {status: 'failed', reason: 'internal', exitCode: exitCodes.internal, message, error};
}

/**
 * The error of a run that was stopped while it waited for its input; undefined if no stop caused `thrown`. A stop closes
 * the input, so only errors of reading it are explained by the stop.
 */
export function findStopError({reason}: Stopper, thrown: unknown): BulkEnrichError | undefined {
  const isOfInput = thrown instanceof InputError || systemCode(thrown) === 'ERR_STREAM_PREMATURE_CLOSE';
  if (reason === undefined || !isOfInput) return undefined;
  const {reason: code, exitCode, message, error} = reason;
  return new BulkEnrichError(code, exitCode, say`${message} Nothing was sent.`, {cause: error});
}

function refused(
  operation: Operation,
  streak: Omit<LongRefusalStreak, 'isNew'>,
  endpoint: Endpoint,
): Stop<Said> {
  const key = keyVariableOf(endpoint) ?? 'BULK_ENRICH_API_KEY';
  const {isKnownToAnswer, credentials, count, code} = streak;
  const rejected = isKnownToAnswer
    ? inARow(operation, streak)
    : `All of the first ${count} ${operation} calls were rejected with ${codesOf(streak)}`;
  const again =
    'Then run the same command again: it looks the refused values up again, and uses the answers already paid for.';
  const stopped = (reason: 'credentials' | 'refused', advice: Said): Stop<Said> => ({
    status: 'failed',
    forgetsFailures: true,
    reason,
    exitCode: reason === 'refused' ? exitCodes.usage : exitCodes.credentials,
    message: say`${rejected}, so the run stopped before it spent more. Check ${advice}`,
  });
  if (streak.quota)
    return {
      ...{status: 'interrupted', forgetsFailures: true, reason: 'credits', exitCode: exitCodes.credits},
      message: say`${rejected}: the account's quota or credits are used up, and nothing more was sent. ${again}`,
    };
  if (streak.moment) {
    const message = say`${rejected}: the service has trouble that passes, and nothing more was sent. Wait some minutes. ${again}`;
    return {...interrupted('outage', exitCodes.temporary, message), forgetsFailures: true};
  }
  if (credentials && code === INVALID_TOKEN_CODE)
    return stopped(
      'credentials',
      `${key}. If it is right, these ${operations[operation].plural} are not valid. ${again}`,
    );
  if (credentials) return stopped('credentials', `${key} and what it may do. ${again}`);
  if (!isKnownToAnswer)
    return stopped('refused', `BULK_ENRICH_BASE_URL, the account and the columns. ${again}`);
  return stopped(
    'refused',
    say`the account: its credits, quota and plan. ${again} If the values really are that bad, add ${setting('maxErrors', '100%')}.`,
  );
}

function inARow(operation: Operation, streak: Omit<LongRefusalStreak, 'isNew'>): string {
  return `${streak.count} ${operation} values in a row were rejected with ${codesOf(streak)}, without an answer between them`;
}

function codesOf({code, detail, isMixed}: RefusalStreak): string {
  const told = detail === undefined ? `"${code}"` : `"${code}" (${detail})`;
  return isMixed ? `several codes, such as ${told}` : told;
}

/** The warning about values refused in a row, for a run that continues. */
export function streakWarning(operation: Operation, streak: LongRefusalStreak): string {
  return `${inARow(operation, streak)}. ${PERHAPS_ACCOUNT}`;
}

/** The warning about an operation that fails while another is answered. */
export function downWarning(operation: Operation, code: string): string {
  return `The service answers no ${operation} call (${code}), though it answers others. The run continues with the others, and tries ${operation} again now and then.`;
}

/** The warning about rejections, for a run that got no answer. */
export function rejectionsWarning(operation: Operation, count: number): string {
  return `The service rejected ${pluralize(count, `${operation} value`)}, and answered no call that was sent later. ${PERHAPS_ACCOUNT}`;
}

/**
 * The stop of a run that read all rows, if no value has an answer and the service refused some: what stops a run of many
 * values stops one of few. Undefined for other runs.
 */
export function makeNoAnswersStop(
  counters: Counters,
  tally: Tally,
  endpoint: Endpoint,
): Stop<Said> | undefined {
  if (sumFailedCells(counters) === 0 || hasAnswers(counters)) return undefined;
  return makeRefusalsStop(tally, endpoint, ({count}) => count > 0);
}

/** The stop for an operation whose last values were all refused, if `isEnough` says so. */
export function makeRefusalsStop(
  tally: Tally,
  endpoint: Endpoint,
  isEnough: (refusals: RefusalStreak) => boolean,
): Stop<Said> | undefined {
  const operation = operationNames.find(name => isEnough(tally.refusals[name].refused));
  if (operation === undefined) return undefined;
  return refused(operation, {...tally.refusals[operation].refused, isKnownToAnswer: false}, endpoint);
}

/** Name under which the ledger keeps whether the service refused the account when the last session ended. */
export const REFUSED = 'refused';

export function wasRefused(ledger: Ledger): boolean {
  return ledger.getMeta<boolean>(REFUSED) === true;
}

export function describeEndOfCalls({message}: Stop<Said>): Said {
  return say`${message} The run makes no more calls and writes the output.`;
}

export function makeDeadlineStop({settings: {until}, untilMs = 0}: Job): Stop<Said> {
  const limit =
    until !== undefined && 'afterMs' in until
      ? formatDuration(until.afterMs)
      : new Date(untilMs).toISOString();
  const message = say`The time limit (${setting('until')}, ${limit}) is reached.`;
  return interrupted('deadline', exitCodes.temporary, message);
}

export function makeLimitStop(limit: 'max_errors' | 'max_rejects', counted: Counted): Stop<Said> {
  const stop = {status: 'failed', reason: limit, counted} as const;
  if (limit === 'max_rejects')
    return {
      ...stop,
      exitCode: exitCodes.input,
      message: say`${pluralize(counted.count, 'row')} could not be read, more than ${setting('maxRejects')} allows. Check the file, its delimiter and its encoding.`,
    };
  return {
    ...stop,
    forgetsFailures: true,
    exitCode: exitCodes.limit,
    message: say`${pluralize(counted.count, 'lookup')} failed, more than ${setting('maxErrors')} allows. The next run of the same command looks these values up again.`,
  };
}
