import {type AddressInfo, createServer, type Socket} from 'node:net';

/** A server that says what it is told, HTTP or not. */
export interface RawServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly sockets: readonly Socket[];
}

/** Starts a server that writes the result of `answer` for each request's body, the nth on its connection, as it is. */
export async function startRawServer(
  answer: (socket: Socket, body: string, nth: number) => void,
): Promise<RawServer> {
  const sockets: Socket[] = [];
  const server = createServer(socket => {
    sockets.push(socket);
    socket.on('error', () => {});
    let nth = 0;
    let came = '';
    socket.on('data', data => {
      came += String(data);
      for (let end = requestEnd(came); end !== undefined; end = requestEnd(came)) {
        const body = came.slice(0, end).split('\r\n\r\n')[1] ?? '';
        came = came.slice(end);
        answer(socket, body, ++nth);
      }
    });
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

/** Length of the first request in `text`, which has ASCII alone; undefined before all of it has come. */
function requestEnd(text: string): number | undefined {
  const head = text.indexOf('\r\n\r\n');
  const end = head + 4 + Number(/^content-length: *(\d+)/im.exec(text.slice(0, head))?.[1] ?? 0);
  return head < 0 || text.length < end ? undefined : end;
}
