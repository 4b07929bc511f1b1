import {Readable} from 'node:stream';
import {vi} from 'vitest';
import {main} from '../../src/cli/program.ts';
import {type CommandOptions, type CommandOutcome, environmentOf, type Sandbox} from './command.ts';

/** What there is to set about a command in this process. */
export type HereOptions = Pick<CommandOptions, 'env'> & {readonly stdin?: string | Uint8Array};

/**
 * Runs the command line in this very process, in a sandbox's directory and home: for the many cases that a process of
 * their own each would take minutes for. One at a time, since the process has one environment: they wait for each other.
 */
export function runHere(
  sandbox: Sandbox,
  args: readonly string[],
  options: HereOptions = {},
): Promise<CommandOutcome> {
  const outcome = running.then(() => runAlone(sandbox, args, options));
  running = outcome.catch(() => {});
  return outcome;
}

let running: Promise<unknown> = Promise.resolve();

async function runAlone(
  sandbox: Sandbox,
  args: readonly string[],
  {env = {}, stdin = ''}: HereOptions,
): Promise<CommandOutcome> {
  const before = {cwd: process.cwd(), env: process.env, argv: process.argv};
  const written = {stdout: '', stderr: ''};
  const spies = (['stdout', 'stderr'] as const).map(name =>
    vi.spyOn(process[name], 'write').mockImplementation((chunk, ...rest) => {
      written[name] += String(chunk);
      const done = rest.at(-1);
      if (typeof done === 'function') done();
      return true;
    }),
  );
  const source = Readable.from([Buffer.from(stdin)]) as typeof process.stdin;
  const stdinSpy = vi.spyOn(process, 'stdin', 'get').mockReturnValue(source);
  process.chdir(sandbox.directory);
  process.env = {...environmentOf(sandbox.home), ...env};
  process.argv = [process.execPath, 'bulk-enrich', ...args];
  try {
    const code = await main(process.argv);
    return {code, signal: undefined, ...written};
  } finally {
    for (const spy of [...spies, stdinSpy]) spy.mockRestore();
    process.env = before.env;
    process.argv = before.argv;
    process.chdir(before.cwd);
  }
}
