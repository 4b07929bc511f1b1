import {vi} from 'vitest';
import {main} from '../../src/cli/program.ts';
import type {CommandOptions, CommandOutcome, Sandbox} from './command.ts';

/**
 * Runs the command line in this very process, in a sandbox's directory and home: for the many cases that a process of
 * their own each would take minutes for. One at a time, since the process has one environment.
 */
export async function runHere(
  sandbox: Sandbox,
  args: readonly string[],
  {env = {}}: Pick<CommandOptions, 'env'> = {},
): Promise<CommandOutcome> {
  const before = {cwd: process.cwd(), env: process.env};
  const written = {stdout: '', stderr: ''};
  const spies = (['stdout', 'stderr'] as const).map(name =>
    vi.spyOn(process[name], 'write').mockImplementation(chunk => {
      written[name] += String(chunk);
      return true;
    }),
  );
  process.chdir(sandbox.directory);
  process.env = {PATH: before.env.PATH, HOME: sandbox.home, XDG_CACHE_HOME: `${sandbox.home}/cache`, ...env};
  try {
    const code = await main([process.execPath, 'bulk-enrich', ...args]);
    return {code, signal: undefined, ...written};
  } finally {
    for (const spy of spies) spy.mockRestore();
    process.env = before.env;
    process.chdir(before.cwd);
  }
}
