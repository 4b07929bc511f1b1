import {Readable} from 'node:stream';
import {CommanderError} from 'commander';
import {vi} from 'vitest';
import {main} from '../../src/cli/program.ts';
import {CodedError} from '../../src/errors.ts';
import {loadOpenData} from '../../src/service/data/open-data.ts';
import {type CommandOptions, type CommandOutcome, environmentOf, keepFiles, type Sandbox} from './command.ts';
import {until} from './until.ts';

/** A command's end, with the code and message of its error; both are undefined where it ended well. */
export interface HereOutcome extends CommandOutcome {
  /** Its stdout and stderr together, as a runner's log has them. */
  readonly log: string;
  readonly errorCode: string | undefined;
  readonly message: string | undefined;
}

/** Options of a command in this process. */
export interface HereOptions extends Pick<CommandOptions, 'env'> {
  readonly stdin?: string | Uint8Array;
  /** A person sits there: stdin and stderr are a terminal. */
  readonly isTerminal?: boolean;
}

/**
 * Runs the command line in this very process, in a sandbox's directory and home: for the many cases that a process of
 * their own each would take minutes for. One at a time, since the process has one environment: they wait for each other.
 * Words without blanks may come as one line, as a person types them.
 */
export function runHere(
  sandbox: Sandbox,
  line: string | readonly string[],
  options: HereOptions = {},
): Promise<HereOutcome> {
  const args = typeof line === 'string' ? line.split(' ').filter(Boolean) : line;
  const outcome = running.then(() => runAlone(sandbox, args, options));
  running = outcome.catch(() => {});
  return outcome;
}

/** Calls of a service that wait until they are let go. */
export function held() {
  let letGo = () => {};
  const gate = new Promise<undefined>(resolve => {
    letGo = () => resolve(undefined);
  });
  return {gate, letGo};
}

/**
 * Runs the command line in this process until something holds; then all of the sandbox's files are as a kill at that
 * moment leaves them. The calls that are held are let go afterwards, so that the run comes to its end.
 */
export async function killedHere(
  sandbox: Sandbox,
  args: readonly string[],
  options: HereOptions,
  {holds, letGo}: {readonly holds: () => boolean; readonly letGo: () => void},
): Promise<void> {
  const run = runHere(sandbox, args, options);
  const early = run.then(({code, stderr}) => {
    throw new Error(`it ended by itself, with ${code}: ${stderr}`);
  });
  await Promise.race([until(holds), early]);
  const killed = keepFiles(sandbox);
  process.emit('SIGTERM', 'SIGTERM');
  letGo();
  await run;
  killed();
}

/** In use for as long as this process lives: each embedded service would read 63 MB of cities anew. */
export const dataInUse = loadOpenData();

let running: Promise<unknown> = Promise.resolve();

async function runAlone(
  sandbox: Sandbox,
  args: readonly string[],
  {env = {}, stdin = '', isTerminal = false}: HereOptions,
): Promise<HereOutcome> {
  const before = {cwd: process.cwd(), env: process.env, argv: process.argv, isTTY: process.stderr.isTTY};
  const written = {stdout: '', stderr: '', log: ''};
  const spies = (['stdout', 'stderr'] as const).map(name =>
    vi.spyOn(process[name], 'write').mockImplementation((chunk, ...rest) => {
      written[name] += String(chunk);
      written.log += String(chunk);
      const done = rest.at(-1);
      if (typeof done === 'function') done();
      return true;
    }),
  );
  const source = Readable.from([Buffer.from(stdin)]) as typeof process.stdin;
  const stdinSpy = vi.spyOn(process, 'stdin', 'get').mockReturnValue(source);
  if (isTerminal) for (const stream of [source, process.stderr]) Object.assign(stream, {isTTY: true});
  process.chdir(sandbox.directory);
  process.env = {...environmentOf(sandbox.home), ...env};
  process.argv = [process.execPath, 'bulk-enrich', ...args];
  try {
    let thrown: unknown;
    const code = await main(process.argv, error => {
      thrown = error;
    });
    return {code, signal: undefined, ...written, ...errorOf(thrown, written.stderr)};
  } finally {
    for (const spy of [...spies, stdinSpy]) spy.mockRestore();
    process.stderr.isTTY = before.isTTY;
    process.env = before.env;
    process.argv = before.argv;
    process.chdir(before.cwd);
  }
}

/** The error in a run's JSON log, as the run reports it; anything else is thrown. */
function errorOf(thrown: unknown, stderr: string): Pick<HereOutcome, 'errorCode' | 'message'> {
  if (thrown instanceof CommanderError) return {errorCode: 'settings', message: thrown.message};
  if (thrown instanceof CodedError) return {errorCode: thrown.code, message: thrown.message};
  if (thrown !== undefined) return {errorCode: 'internal', message: String(thrown)};
  const events = stderr.split('\n').filter(line => line.startsWith('{"'));
  const ends = events.map(line => JSON.parse(line)).filter(({exit_code: code}) => code > 0);
  const {code, reason, msg} = ends.at(-1) ?? {};
  return {errorCode: code ?? reason, message: msg};
}
