import {rmSync} from 'node:fs';
import {pino} from 'pino';
import {createClient} from '../../src/client/client.ts';
import {FleetWorker} from '../../src/fleet/worker/worker.ts';
import type {ApiServerOptions} from '../support/api-server.ts';
import type {RunningCommand} from '../support/command.ts';
import {type Arena, openArena} from '../support/crash.ts';
import {type HereOutcome, runHere} from '../support/main.ts';
import {type RedisProcess, startRedis} from '../support/redis.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** A server, a Redis, and workers: as processes of their own, or in this one. */
export interface FleetArena extends Arena {
  readonly redis: RedisProcess;
  /** The environment of coordinators and workers. */
  readonly env: Readonly<Record<string, string>>;
  /** Starts the command: for what is about its end, its flags or its environment. */
  worker(args?: readonly string[], env?: Env): Promise<RunningCommand>;
  /** Starts the same in this process, in a tenth of the time; it leaves with the arena. */
  workerHere(redisUrl?: string): Promise<void>;
  run(args?: readonly string[], env?: Env): RunningCommand;
  /** Runs a command in this process, to its end. */
  here(args: readonly string[], env?: Env): Promise<HereOutcome>;
}

export type FleetArenaOptions = Partial<ApiServerOptions> & {
  readonly redis?: Parameters<typeof startRedis>[0];
};

const LOST_AFTER_MS = 2_000;

/** The run that the list is for. */
const WITHOUT_RATE = ['run', 'list.csv', '-o', 'out.csv', '--no-store'];
export const RUN = [...WITHOUT_RATE, '--rate', 'unlimited'];

export async function openFleetArena(options: FleetArenaOptions = {}): Promise<FleetArena> {
  const {redis: redisOptions, ...server} = options;
  const redis = await startRedis(redisOptions);
  const arena = await openArena(server);
  const env = {...arena.env, BULK_ENRICH_REDIS_URL: redis.url};
  const running = new Set<RunningCommand>();
  const workers: FleetWorker[] = [];
  const start = (args: readonly string[], own: Env) => {
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
      const worker = start(['worker', '--lost-after', `${LOST_AFTER_MS}ms`, ...args], own);
      await worker.says('Making calls');
      return worker;
    },
    async workerHere(redisUrl = redis.url) {
      const {BULK_ENRICH_BASE_URL: baseUrl, BULK_ENRICH_API_KEY: apiKey} = arena.env;
      const own = {redisUrl, endpoint: baseUrl, secret: apiKey, log: pino({level: 'silent'})};
      const limits = {concurrency: 16, lostAfterMs: LOST_AFTER_MS};
      const clientFor = (timeoutMs: number) => createClient({baseUrl, apiKey, timeoutMs});
      const onFatal = (error: unknown) => {
        throw error;
      };
      workers.push(await FleetWorker.start({...own, ...limits, clientFor, onFatal}));
    },
    run: (args = [], own = {}) => start([...(args.includes('--rate') ? WITHOUT_RATE : RUN), ...args], own),
    here: (args, own = {}) => runHere(arena.sandbox, args, {env: {...env, ...own}}),
    async [Symbol.asyncDispose]() {
      await Promise.all(workers.map(worker => worker.drain()));
      const outcomes = [...running].map(({outcome}) => outcome);
      for (const command of running) command.kill('SIGKILL');
      await Promise.allSettled(outcomes);
      await arena[Symbol.asyncDispose]();
      await redis[Symbol.asyncDispose]();
    },
  };
}

/** Outputs of local runs, by list: the service gives the same answers each time. */
const localOutputs = new Map<string, string>();

/** The list's output from a local run, without the fleet. */
export async function localOutput({sandbox, env}: Arena): Promise<string> {
  const list = sandbox.read('list.csv');
  const known = localOutputs.get(list);
  if (known !== undefined) return known;
  const local = {...env, BULK_ENRICH_REDIS_URL: undefined};
  const args = ['run', 'list.csv', '-o', 'local.csv', '--no-store', '--rate', 'unlimited'];
  const {code, stderr} = await runHere(sandbox, [...args, '--concurrency', '32', '--force'], {env: local});
  if (code !== 0) throw new Error(stderr);
  const output = sandbox.read('local.csv');
  for (const name of ['local.csv', 'local.summary.json']) rmSync(sandbox.path(name));
  localOutputs.set(list, output);
  return output;
}
