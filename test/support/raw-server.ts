import {createServer, type Socket} from 'node:net';
import {listen} from './free-port.ts';

export type RawServer = Awaited<ReturnType<typeof startRawServer>>;

/** Starts a server that has `answer` write whatever it likes, HTTP or not, to each request: the nth on its connection. */
export async function startRawServer(answer: (socket: Socket, body: string, nth: number) => void) {
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
  const port = await listen(server);
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
