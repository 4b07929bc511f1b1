import {randomInt} from 'node:crypto';
import {once} from 'node:events';
import {type AddressInfo, createServer, type Server} from 'node:net';

/** Has a server listen on a loopback port, which it returns. */
export async function listen(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

/**
 * A port that nothing listens on, below those that systems give to connections of their own (32,768 on Linux): one of
 * those could be another's by the time it is used.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch {
      continue;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
}
