import {type AddressInfo, createServer, type Socket} from 'node:net';

/** A server that says what it is told, HTTP or not. */
export interface RawServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly sockets: readonly Socket[];
}

/** What `answer` makes of each request's body, the nth on its connection, is written there as it stands. */
export async function startRawServer(
  answer: (socket: Socket, body: string, nth: number) => void,
): Promise<RawServer> {
  const sockets: Socket[] = [];
  const server = createServer(socket => {
    sockets.push(socket);
    socket.on('error', () => {});
    let nth = 0;
    socket.on('data', data => answer(socket, String(data).split('\r\n\r\n')[1] ?? '', ++nth));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const {port} = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    sockets,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
