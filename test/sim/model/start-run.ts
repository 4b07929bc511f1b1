import {PassThrough, Readable, Writable} from 'node:stream';
import {pino} from 'pino';
import {BulkEnrichError, exitCodes} from '../../../src/errors.ts';
import {type Job, resolveJob} from '../../../src/job/job.ts';
import {checkSettings, placeIn} from '../../../src/job/parse.ts';
import {run} from '../../../src/run/run.ts';
import {Stopper} from '../../../src/run/stop.ts';
import type {World} from '../world/world.ts';
import type {RunSpec} from './commands.ts';
import {isOfObjects} from './dialects.ts';
import {environmentOf, inputNames, outputName, settingsOf} from './places.ts';
import {type Around, GRACE_MS, type Report, type Work} from './report.ts';
import {runProgram} from './start-program.ts';

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

/** The command, as `bulk-enrich run` would be called with these settings. */
export async function runCommand(work: Work, around: Around): Promise<void> {
  const {spec} = work;
  const {world, report} = around;
  try {
    const given = {
      ...settingsOf(spec, world.wallMs),
      ...(isOfObjects(work.bytes) && {
        inputFormat: 'ndjson',
        outputFormat: spec.ndjson ? 'ndjson' : 'csv',
      }),
    };
    const job = jobOf(spec, given);
    report.job = job;
    report.days = (job.unfinished ?? []).map(({date, resolve}) => ({date, job: resolve()}));
    if (spec.way === undefined || spec.way === 'dated' || spec.way === 'stdout')
      await start(job, work, around);
    else await runProgram(given, work, around);
  } catch (error) {
    if (error instanceof BulkEnrichError) report.error = error;
    else report.crash = error;
  }
}

function jobOf(spec: RunSpec, given: Record<string, unknown>): Job {
  const {name: _, input: __, output: ___, ...settings} = settingsRead(given);
  return resolveJob(
    {
      inputs: inputNames(spec),
      output: outputName(spec),
      settings,
      fromFile: spec.fromFile,
      restartsNow: spec.restart,
      placeOf: placeIn(undefined, given),
    },
    environmentOf(spec),
    false,
  );
}

async function start(job: Job, work: Work, {asker, service, world, report}: Around): Promise<void> {
  const {spec, bytes} = work;
  const stopper = new Stopper();
  asker.process.onTerm = () => {
    report.unwantedAt = service.calls.length;
    stopper.stop({
      status: 'interrupted',
      reason: 'signal',
      exitCode: exitCodes.terminated,
      message: 'Interrupted by SIGTERM.',
    });
  };
  const io = {
    env: environmentOf(spec),
    stdin: Readable.from([bytes]),
    stdout: spec.way === 'stdout' ? readBy(work, world, report) : new PassThrough(),
    now: () => world.wallMs,
    random: world.random,
    log,
    warn: (sentence: string) => report.warnings.push(sentence),
    transport: service.transportFor(() => asker),
    graceMs: GRACE_MS,
  };
  report.outcome = await run(job, io, stopper);
}

/** A pipe writes in the background. */
const MOST_PIPE_MS = 2;

/** The pipe to a reader, who may leave after so many lines. */
function readBy({leavesAfter = Number.POSITIVE_INFINITY}: Work, world: World, report: Report): Writable {
  const take = (bytes: Buffer) => {
    report.printed = Buffer.concat([report.printed, bytes]);
  };
  const write = (chunk: Buffer, _: unknown, done: (error?: Error) => void) => {
    world.poll(world.random() * MOST_PIPE_MS, () => {
      const lines = report.printed.toString().split('\n').length - 1;
      if (lines > leavesAfter) return done(Object.assign(new Error('EPIPE'), {code: 'EPIPE'}));
      world.step(
        () => `print ${chunk.length} bytes`,
        () => take(chunk),
        () => take(chunk.subarray(0, Math.floor(world.random() * chunk.length))),
      );
      return done();
    });
  };
  return new Writable({write});
}
