import {createInterface} from 'node:readline';
import {BulkEnrichError, exitCodes} from '../errors.ts';
import {isReadOnce} from '../input/bytes/raw.ts';
import type {Job} from '../job/job.ts';
import {createOperationPricer, toCredits} from '../job/settings/cost.ts';
import type {Operation} from '../operations/table.ts';
import type {RunOutcome} from '../run/exit.ts';
import {makePlan, type PlanIo, type PlanReport} from '../run/plan.ts';
import {run} from '../run/run.ts';
import type {Session} from '../run/session.ts';
import {Stopper} from '../run/stop.ts';
import type {Said} from '../sentence.ts';
import {type Console, isInteractive} from './console.ts';
import {annotateOutcome, pauseWorkflowCommands} from './github.ts';
import {watchSignals} from './signals.ts';
import type {CommandLine} from './terminal/command-line.ts';
import {breakLines} from './terminal/lines.ts';
import {describeColumns, formatForecast, sumPlanned} from './terminal/opening.ts';
import {renderOutcome} from './terminal/outcome.ts';
import {createStdoutRowStream, escapeControls, print} from './terminal/printable.ts';
import {hasBar, showPhases, startProgress} from './terminal/progress.ts';

/** Runs a job, shows its progress and result, and returns the exit code. */
export async function runJobInTerminal(job: Job, console: Console, line: CommandLine): Promise<number> {
  const stopper = new Stopper();
  const unwatch = watchSignals(stopper, console);
  /** Warnings shown before the question about the cost. The run does not repeat them. */
  const told = new Set<string>();
  try {
    const io = {
      env: process.env,
      stdin: process.stdin,
      stdout: createStdoutRowStream(),
      now: Date.now,
      random: Math.random,
      log: console.log,
      warn: (sentence: Said) => {
        if (!told.has(String(sentence))) console.warn(sentence);
      },
      phase: showPhases(console),
      counted: {},
    };
    let calls: number | undefined;
    const watch = (session: Session) => startProgress(session, console, calls);
    const mayBegin = async (begun: Job) => {
      const warn = (sentence: Said) => {
        told.add(String(sentence));
        console.warn(sentence);
      };
      calls = await countAndConfirmCalls(
        begun,
        line.flags['yes'] === true,
        console,
        stopper,
        warn,
        io.counted,
      );
    };
    const writesRows = job.output.kind === 'stream' && job.output.to === '-';
    const outcome = await pauseWorkflowCommands(writesRows, () =>
      run(job, {...io, mayBegin}, stopper, watch),
    );
    const need = await estimateSufficientLimit(job, outcome, console);
    renderOutcome({job, outcome, line, need}, console);
    await annotateOutcome(outcome, console);
    return outcome.exitCode;
  } finally {
    unwatch();
  }
}

/**
 * Counts a run's calls, for the progress bar and the question about the cost. Undefined if that is not needed or
 * possible: the input is a pipe, or lookups have conditions. Throws BulkEnrichError with exit code 130 if the user
 * does not agree to the cost.
 */
async function countAndConfirmCalls(
  job: Job,
  isAgreed: boolean,
  console: Console,
  stopper: Stopper,
  warn: (sentence: Said) => void,
  counted: NonNullable<PlanIo['counted']>,
): Promise<number | undefined> {
  const {endpoint, settings} = job;
  // Only a person who pays, and has set no limit, has to agree.
  const asks = !isAgreed && isInteractive() && endpoint.kind === 'live' && settings.maxCredits === undefined;
  if (settings.offline || !(asks || hasBar(console))) return undefined;
  // Without a question, the run itself shows warnings and errors.
  const doubts: Said[] = [];
  const plan = await planIfPossible(job, console, {
    counted,
    warn: doubt => doubts.push(doubt),
    isWanted: () => stopper.reason === undefined,
  });
  if (plan === undefined || stopper.reason !== undefined) return undefined;
  if (asks && plan.credits.at_most > 0) {
    for (const doubt of doubts) warn(doubt);
    await demandAgreement(plan, job, console);
  }
  return sumPlanned(plan, 'conditional') > 0 ? undefined : sumPlanned(plan, 'calls');
}

/** Undefined if the plan can't be made: the run itself reports the error. */
async function planIfPossible(
  job: Job,
  console: Console,
  caller: Pick<PlanIo, 'warn' | 'isWanted' | 'counted'>,
): Promise<PlanReport | undefined> {
  if (job.inputs.some(isReadOnce)) return undefined;
  const io = {env: process.env, stdin: process.stdin, now: Date.now, phase: showPhases(console)};
  return makePlan(job, {...io, ...caller}).catch(() => undefined);
}

/** Shows the columns to look up and the cost of the run, and asks the user to agree. */
async function demandAgreement(plan: PlanReport, {settings}: Job, console: Console): Promise<void> {
  console.say(breakLines(`Looking up ${describeColumns(plan.columns, settings.defaultCountry)}.`));
  if (await askUser(`${formatForecast(plan, 'live')}. Continue?`)) return;
  throw new BulkEnrichError('declined', exitCodes.interrupted, 'Cancelled. Nothing was sent.');
}

/** The `--max-credits` that all rows need, after a run stopped at a lower one. Undefined if it can't be counted. */
async function estimateSufficientLimit(
  job: Job,
  {stop, summary}: RunOutcome<Said>,
  console: Console,
): Promise<number | undefined> {
  const isOwnLimit = stop?.reason === 'budget' && stop.comeBackMs === undefined;
  if (!isOwnLimit || console.quiet) return undefined;
  const plan = await planIfPossible(job, console, {warn: () => {}});
  if (plan === undefined) return undefined;
  const {spent, maybe_spent: maybe, by_operation: byOperation} = summary.credits;
  const price = createOperationPricer(job);
  let need = spent + maybe;
  for (const [name, {calls}] of Object.entries(plan.lookups) as [Operation, {calls: number}][]) {
    need += calls * toCredits(price(name));
    // With --no-store the plan counts all calls, also those that a resume does not repeat.
    if (job.settings.store === false) need -= byOperation[name]?.spent ?? 0;
  }
  return need;
}

/** Asks a yes-or-no question at the terminal. True for yes; Enter, and the end of the input, mean no. */
async function askUser(question: string): Promise<boolean> {
  const prompt = createInterface({input: process.stdin, output: process.stderr});
  prompt.setPrompt(escapeControls(`${question} [y/N] `));
  try {
    prompt.prompt();
    for await (const line of prompt) {
      const answer = line.trim().toLowerCase();
      if (['', 'y', 'yes', 'n', 'no'].includes(answer)) return answer.startsWith('y');
      print('stderr', 'Please answer y or n.\n');
      prompt.prompt();
    }
    return false;
  } finally {
    prompt.close();
  }
}
