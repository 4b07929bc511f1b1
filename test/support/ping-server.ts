import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';

/** A health check that remembers what it was told. */
export interface PingServer extends AsyncDisposable {
  readonly url: string;
  /** Each request as `METHOD path`, in the order they came. */
  readonly pings: readonly string[];
  /** Each request's headers and body, as text. */
  readonly texts: readonly string[];
}

/** @param behave what it does with a ping: answers by default; `stall` never answers, `refuse` says 500. */
export async function startPingServer(behave: 'answer' | 'stall' | 'refuse' = 'answer'): Promise<PingServer> {
  const pings: string[] = [];
  const texts: string[] = [];
  const server = createServer(async (request, response) => {
    pings.push(`${request.method} ${request.url}`);
    let body = '';
    for await (const chunk of request) body += String(chunk);
    texts.push(`${request.rawHeaders.join('\n')}\n${body}`);
    if (behave === 'stall') return;
    response.statusCode = behave === 'answer' ? 200 : 500;
    response.end('OK');
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const {port} = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/ping/00000000-0000-4000-8000-000000000000`,
    pings,
    texts,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
