import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {Redis} from 'ioredis';
import {freePort} from './free-port.ts';

export type RedisProcess = Awaited<ReturnType<typeof startRedis>>;

export interface RedisOptions {
  /** True if its content is back after a restart. */
  readonly persistent?: boolean;
  readonly password?: string;
  /** The lines of its ACL file, and the user among them that the client is. */
  readonly users?: {readonly lines: string; readonly username: string; readonly password: string};
  /** Only TLS connections are taken. */
  readonly tls?: {readonly key: string; readonly cert: string};
}

/** A redis-server of its own, on a port of its own, that can be stopped and started again. */
export async function startRedis({persistent = false, password, users, tls}: RedisOptions = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'bulk-enrich-redis-'));
  const port = await freePort();
  const client = new Redis(port, '127.0.0.1', {
    lazyConnect: true,
    retryStrategy: () => 50,
    ...(password === undefined ? {} : {password}),
    ...(users === undefined ? {} : {username: users.username, password: users.password}),
    ...(tls === undefined ? {} : {tls: {ca: tls.cert}}),
  });
  client.on('error', () => {});
  const acl = join(directory, 'users.acl');
  if (users !== undefined) writeFileSync(acl, users.lines);
  let child: ChildProcess | undefined;
  const start = async () => {
    const args = [
      ...['--bind', '127.0.0.1', '--dir', directory, '--save', ''],
      ...(persistent ? ['--appendonly', 'yes', '--appendfsync', 'always'] : ['--appendonly', 'no']),
      ...(password === undefined ? [] : ['--requirepass', password]),
      ...(users === undefined ? [] : ['--aclfile', acl]),
      ...(tls === undefined ? ['--port', String(port)] : tlsArgs(tls, directory, port)),
    ];
    child = spawn('redis-server', args, {stdio: 'ignore'});
    await client.connect().catch(() => {});
    await client.ping();
  };
  /** Ends the process at once. */
  const stop = async () => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  await start();
  return {
    url: `${tls === undefined ? 'redis' : 'rediss'}://127.0.0.1:${port}`,
    port,
    client,
    stop,
    /** Suspends it, or lets it continue. */
    signal: (name: 'SIGSTOP' | 'SIGCONT') => void child?.kill(name),
    start,
    async [Symbol.asyncDispose]() {
      client.disconnect();
      await stop();
      rmSync(directory, {recursive: true, force: true});
    },
  };
}

function tlsArgs({key, cert}: {key: string; cert: string}, directory: string, port: number): string[] {
  const [keyFile, certFile] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
  writeFileSync(keyFile, key);
  writeFileSync(certFile, cert);
  return [
    ...['--port', '0', '--tls-port', String(port), '--tls-auth-clients', 'no'],
    ...['--tls-key-file', keyFile, '--tls-cert-file', certFile, '--tls-ca-cert-file', certFile],
  ];
}
