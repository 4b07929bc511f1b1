import {PassThrough, Readable} from 'node:stream';
import {pino} from 'pino';
import {BulkEnrichError, exitCodes} from '../../../src/errors.ts';
import {runSample} from '../../../src/estimate/sampled-run.ts';
import {type Job, resolveJob} from '../../../src/job/job.ts';
import {checkSettings, placeIn} from '../../../src/job/parse.ts';
import {run} from '../../../src/run/run.ts';
import type {RunOutcome} from '../../../src/run/run-outcome.ts';
import {Stopper} from '../../../src/run/stop.ts';
import type {Asker, Service} from '../world/service.ts';
import type {World} from '../world/world.ts';
import type {RunSpec} from './commands.ts';
import {isOfObjects} from './dialects.ts';
import {environmentOf, inputNames, outputName, settingsOf} from './places.ts';

/** Some calls last longer. */
const GRACE_MS = 2_000;

const log = pino({level: 'silent'});

/** Settings that were read before, by their text: the same ones come again, soon or never. */
const MOST_READ = 100;
const read = new Map<string, ReturnType<typeof checkSettings>>();

function settingsRead(given: Record<string, unknown>): ReturnType<typeof checkSettings> {
  const text = JSON.stringify(given);
  const found = read.get(text) ?? checkSettings(undefined, given);
  if (read.size >= MOST_READ) read.clear();
  read.set(text, found);
  return found;
}

/** A run's result so far. A killed one reports nothing more. */
export interface Report {
  job?: Job;
  outcome?: RunOutcome;
  error?: BulkEnrichError;
  /** An error that is not the user's. */
  crash?: unknown;
  readonly warnings: string[];
}

/** The command, as `bulk-enrich run` would be called with these settings, and with `--sample` if there is one. */
export async function runCommand(
  spec: RunSpec & {readonly sample?: number},
  input: Buffer,
  asker: Asker,
  service: Service,
  world: World,
  report: Report,
): Promise<void> {
  const stopper = new Stopper();
  asker.process.onTerm = () =>
    stopper.stop({
      status: 'interrupted',
      reason: 'signal',
      exitCode: exitCodes.terminated,
      message: 'Interrupted by SIGTERM.',
    });
  try {
    const {sample} = spec;
    const given = {
      ...settingsOf(spec),
      ...(isOfObjects(input) && {inputFormat: 'ndjson', outputFormat: spec.ndjson ? 'ndjson' : 'csv'}),
      ...(sample !== undefined && {sample}),
    };
    const env = environmentOf(spec);
    const {name: _, input: __, output: ___, ...settings} = settingsRead(given);
    const files = {inputs: inputNames(spec), output: outputName(spec)};
    const job = resolveJob(
      {
        ...files,
        settings,
        fromFile: spec.fromFile,
        restartsNow: spec.restart,
        placeOf: placeIn(undefined, given),
      },
      env,
      false,
    );
    report.job = job;
    const io = {
      env,
      stdin: Readable.from([input]),
      stdout: new PassThrough(),
      now: () => world.wallMs,
      random: world.random,
      log,
      warn: (sentence: string) => report.warnings.push(sentence),
      transport: service.transportFor(() => asker),
      graceMs: GRACE_MS,
    };
    if (sample !== undefined) await runSample(job, io, stopper);
    else report.outcome = await run(job, io, stopper);
  } catch (error) {
    if (error instanceof BulkEnrichError) report.error = error;
    else report.crash = error;
  }
}
