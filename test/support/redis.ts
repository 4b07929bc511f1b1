import {type ChildProcess, spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {mkdtempSync, rmSync} from 'node:fs';
import {createServer} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {Redis} from 'ioredis';

/** Whether there is a redis-server to test with. */
export const redisInstalled = spawnSync('redis-server', ['--version']).status === 0;

/** A redis-server of its own, on a port of its own, that can be stopped and started again. */
export interface RedisProcess extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly client: Redis;
  /** Ends the process at once. */
  stop(): Promise<void>;
  /** Lets it hang, or go on. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
  start(): Promise<void>;
}

/** `persistent`: what was in it is there again after a restart. */
export async function startRedis({persistent = false, password = ''} = {}): Promise<RedisProcess> {
  const directory = mkdtempSync(join(tmpdir(), 'bulk-enrich-redis-'));
  const port = await freePort();
  const client = new Redis(port, '127.0.0.1', {
    lazyConnect: true,
    retryStrategy: () => 50,
    ...(password === '' ? {} : {password}),
  });
  client.on('error', () => {});
  let child: ChildProcess | undefined;
  const start = async () => {
    const saving = persistent ? ['--appendonly', 'yes', '--appendfsync', 'always'] : ['--appendonly', 'no'];
    child = spawn(
      'redis-server',
      [
        '--port',
        String(port),
        '--bind',
        '127.0.0.1',
        '--dir',
        directory,
        '--save',
        '',
        ...saving,
        ...(password === '' ? [] : ['--requirepass', password]),
      ],
      {stdio: 'ignore'},
    );
    await client.connect().catch(() => {});
    await client.ping();
  };
  const stop = async () => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    client,
    stop,
    signal: name => void child?.kill(name),
    start,
    async [Symbol.asyncDispose]() {
      client.disconnect();
      await stop();
      rmSync(directory, {recursive: true, force: true});
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const {port} = server.address() as {port: number};
  server.close();
  await once(server, 'close');
  return port;
}
