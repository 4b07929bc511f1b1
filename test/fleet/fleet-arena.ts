import {rmSync} from 'node:fs';
import {setTimeout as sleep} from 'node:timers/promises';
import type {ApiProcessOptions} from '../support/api-process.ts';
import type {CommandOutcome, RunningCommand} from '../support/command.ts';
import {type Arena, openArena} from '../support/crash.ts';
import {runHere} from '../support/main.ts';
import {type RedisProcess, startRedis} from '../support/redis.ts';

/** A server, a Redis, and workers as processes of their own. */
export interface FleetArena extends Arena {
  readonly redis: RedisProcess;
  /** The environment of coordinators and workers. */
  readonly env: Readonly<Record<string, string>>;
  worker(
    args?: readonly string[],
    env?: Readonly<Record<string, string | undefined>>,
  ): Promise<RunningCommand>;
  run(args?: readonly string[], env?: Readonly<Record<string, string | undefined>>): RunningCommand;
  /** Runs a command in this process, to its end. */
  here(args: readonly string[], env?: Readonly<Record<string, string | undefined>>): Promise<CommandOutcome>;
}

export interface FleetArenaOptions extends Partial<ApiProcessOptions> {
  readonly redis?: Parameters<typeof startRedis>[0];
}

/** The run that the list is for. */
export const RUN = ['run', 'list.csv', '-o', 'out.csv', '--no-store', '--rate', 'unlimited'];

export async function openFleetArena({
  redis: redisOptions,
  ...options
}: FleetArenaOptions = {}): Promise<FleetArena> {
  const redis = await startRedis(redisOptions);
  const arena = await openArena(options);
  const env = {...arena.env, BULK_ENRICH_REDIS_URL: redis.url};
  const running = new Set<RunningCommand>();
  const start = (args: readonly string[], own: Readonly<Record<string, string | undefined>>) => {
    const command = arena.sandbox.start(args, {env: {...env, ...own}});
    running.add(command);
    void command.outcome.finally(() => running.delete(command));
    return command;
  };
  return {
    ...arena,
    env,
    redis,
    async worker(args = [], own = {}) {
      const worker = start(['worker', '--lost-after', '2s', ...args], own);
      const over = worker.outcome.then(({code, stderr}) => {
        throw new Error(`the worker ended with ${code}: ${stderr}`);
      });
      over.catch(() => {});
      while (!worker.stderr.includes('Making calls')) await Promise.race([sleep(20), over]);
      return worker;
    },
    run: (args = [], own = {}) => start([...RUN, ...args], own),
    here: (args, own = {}) => runHere(arena.sandbox, args, {env: {...env, ...own}}),
    async [Symbol.asyncDispose]() {
      const outcomes = [...running].map(({outcome}) => outcome);
      for (const command of running) command.kill('SIGKILL');
      await Promise.allSettled(outcomes);
      await arena[Symbol.asyncDispose]();
      await redis[Symbol.asyncDispose]();
    },
  };
}

/** What local runs write, by their list: the service answers the same each time. */
const localOutputs = new Map<string, string>();

/** The list's output from a local run, without the fleet. */
export async function localOutput({sandbox, env}: Arena): Promise<string> {
  const list = sandbox.read('list.csv');
  const known = localOutputs.get(list);
  if (known !== undefined) return known;
  const {BULK_ENRICH_REDIS_URL: _, ...local} = env;
  const args = ['run', 'list.csv', '-o', 'local.csv', '--no-store', '--rate', 'unlimited'];
  const {code, stderr} = await runHere(sandbox, [...args, '--concurrency', '32', '--force'], {env: local});
  if (code !== 0) throw new Error(stderr);
  const output = sandbox.read('local.csv');
  for (const name of ['local.csv', 'local.summary.json']) rmSync(sandbox.path(name));
  localOutputs.set(list, output);
  return output;
}
