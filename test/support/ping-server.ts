import {createServer} from 'node:http';
import {listen} from './free-port.ts';

const FLOOD = Buffer.alloc(65_536);

type Behaviour = 'answer' | 'stall' | 'refuse' | 'flood' | `to ${string}`;

/**
 * A health check that remembers what it was told.
 * @param behave what it does with a ping: answers by default; `stall` never answers, `refuse` says 500, `flood` never ends
 * its answer, `to URL` redirects.
 */
export async function startPingServer(behave: Behaviour = 'answer') {
  /** Bytes of endless answers that it got rid of. */
  let sent = 0;
  /** Each request as `METHOD path`, in the order they came. */
  const pings: string[] = [];
  /** Each request's headers and body, as text. */
  const texts: string[] = [];
  const server = createServer(async (request, response) => {
    pings.push(`${request.method} ${request.url}`);
    let body = '';
    for await (const chunk of request) body += String(chunk);
    texts.push(`${request.rawHeaders.join('\n')}\n${body}`);
    if (behave === 'stall') return;
    if (behave === 'flood') {
      const more = () => {
        for (let full = false; !full && !response.destroyed; sent += FLOOD.length)
          full = !response.write(FLOOD);
      };
      response.on('drain', more);
      return more();
    }
    response.statusCode = behave === 'refuse' ? 500 : behave === 'answer' ? 200 : 302;
    response.setHeader('Location', behave.slice('to '.length));
    response.end('OK');
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}/ping/00000000-0000-4000-8000-000000000000`,
    pings,
    texts,
    get sent() {
      return sent;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
