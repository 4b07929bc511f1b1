import type {Job} from '../job/job.ts';
import {run} from '../run/run.ts';
import type {Session} from '../run/session.ts';
import {Stopper} from '../run/stop.ts';
import type {Said} from '../sentence.ts';
import {countAndConfirmCalls, estimateSufficientLimit} from './confirm-cost.ts';
import type {Console} from './console.ts';
import {annotateOutcome, pauseWorkflowCommands} from './github.ts';
import {watchSignals} from './signals.ts';
import type {CommandLine} from './terminal/command-line.ts';
import {renderOutcome} from './terminal/outcome.ts';
import {createStdoutRowStream} from './terminal/printable.ts';
import {showPhases, startProgress} from './terminal/progress.ts';

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
