import {once} from 'node:events';
import {createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES} from 'node:http';
import type {Socket} from 'node:net';
import type {Duplex} from 'node:stream';
import {systemReason, UsageError} from '../../errors.ts';
import type {ServiceOptions} from '../options.ts';
import {longestAnswerMs} from './practice.ts';
import {errorStatus, makeErrorBody, type Reply, type ServiceErrorCode, sendReply} from './reply.ts';

/** Milliseconds within which a whole request must arrive. A real request is one packet. */
const REQUEST_TIMEOUT_MS = 30_000;

/** Milliseconds after which the server closes an idle connection. Long enough for clients to close it first. */
const KEEP_ALIVE_MS = 75_000;

/** Milliseconds for a refused client to read the reason, before its half of the connection is closed. */
const LINGER_MS = 500;

/** Maximum connections, so that file descriptors suffice. Further connections are closed immediately. */
const MAX_CONNECTIONS = 4096;

/** Maximum unanswered requests of a connection. The server disconnects a client with more: they take memory. */
const MAX_PIPELINED = 32;

/** Answers malformed requests with the error body, and disconnects slow clients. */
export function makeServer(
  answer: (incoming: IncomingMessage) => Promise<Reply>,
  {requestTimeoutMs = REQUEST_TIMEOUT_MS, maxConnections = MAX_CONNECTIONS, latencyMs = 0}: ServiceOptions,
): Server {
  const server = createServer(
    {
      requestTimeout: requestTimeoutMs,
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(5000, Math.ceil(requestTimeoutMs / 4)),
      keepAliveTimeout: KEEP_ALIVE_MS,
      requireHostHeader: false,
    },
    async (incoming, outgoing) => {
      if (isWithinReach(incoming.socket, outgoing)) sendReply(outgoing, await answer(incoming));
      else incoming.socket.destroy();
    },
  );
  server.maxConnections = maxConnections;
  // While the service prepares an answer, no bytes pass: so the timeout exceeds the longest answer.
  server.setTimeout(longestAnswerMs(latencyMs) + KEEP_ALIVE_MS);
  server.on('clientError', (error, socket) => rejectClient(error, socket));
  return server;
}

const unread = new WeakMap<Socket, number>();

/** Counts this request. True if the connection has at most {@link MAX_PIPELINED} unanswered requests now. */
function isWithinReach(socket: Socket, outgoing: ServerResponse): boolean {
  const count = (unread.get(socket) ?? 0) + 1;
  unread.set(socket, count);
  outgoing.once('close', () => unread.set(socket, (unread.get(socket) ?? 1) - 1));
  return count <= MAX_PIPELINED;
}

/** Such input never becomes a request, so the answer is written by hand. */
function rejectClient(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const code = codeOf(error);
  const status = errorStatus[code];
  const body = JSON.stringify(makeErrorBody(code));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  // `end` closes only our side of the connection. Without this, the client could keep the other side open.
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

function codeOf({code}: NodeJS.ErrnoException): ServiceErrorCode {
  if (code === 'HPE_HEADER_OVERFLOW') return 'headers_too_large';
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'request_timeout' : 'malformed_request';
}

/** @throws {UsageError} if the port or the host can't be used. */
export async function listenOn(server: Server, port: number, host: string): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new UsageError(
      'port',
      `The service can't listen on ${host}:${port} (${systemReason(error)}). Use another port, or 0 for any free one.`,
      {cause: error},
    );
  }
}

export function closeServer(server: Server): Promise<void> {
  return new Promise(resolve => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
