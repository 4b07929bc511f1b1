import type {ServerResponse} from 'node:http';
import type {Socket} from 'node:net';
import {Readable} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import {gzipSync} from 'node:zlib';
import type {RequestBody} from './api-server-core.mjs';
import type {Ledger} from './api-server-ledger.ts';
import type {Body, Ending, Reply} from './api-server-reply.ts';

/** One response to be sent: where to, and what the unscripted answer would be. */
export interface Exchange {
  readonly res: ServerResponse;
  readonly ledger: Ledger;
  readonly own: () => RequestBody;
}

/** Sends what a script asked for. */
export function send(exchange: Exchange, reply: Reply): void {
  const {res} = exchange;
  if (reply.kind === 'answer') later(reply.delayMs, res, () => sendAnswer(exchange, reply));
  else if (reply.kind === 'drop') later(reply.delayMs, res, () => end(res.socket, reply.ending));
  else if (reply.kind === 'raw') sendRaw(res.socket, reply.text, reply.ending);
  else reply.kind satisfies 'stall';
}

/** Ends a connection; a reset over TLS is a plain close, as Node has no other. */
export function end(socket: Socket | null, ending: Ending): void {
  if (!socket || socket.destroyed) return;
  if (ending === 'reset' && !('encrypted' in socket)) socket.resetAndDestroy();
  else socket.destroy();
}

/** Does `what` after `ms`, unless the response has been closed by then. */
function later(ms: number | undefined, res: ServerResponse, what: () => void): void {
  const timer = ms ? setTimeout(() => !res.destroyed && what(), ms) : undefined;
  if (timer === undefined) what();
  else res.once('close', () => clearTimeout(timer));
}

function sendRaw(socket: Socket | null, text: string, ending: Ending | undefined): void {
  socket?.write(text, 'latin1', () => ending && end(socket, ending));
}

function sendAnswer(exchange: Exchange, reply: Extract<Reply, {kind: 'answer'}>): void {
  const {res} = exchange;
  const {after} = reply;
  if (after) {
    const {socket} = res;
    res.once('finish', () => (after === 'close' ? socket?.end() : end(socket, after)));
  }
  sendBody(exchange, reply.status, reply.headers ?? {}, reply.body ?? ownBody(exchange, reply.status));
}

function ownBody(exchange: Exchange, status: number): Body {
  return {as: 'json', value: status < 300 ? exchange.own() : {success: false, message: `status_${status}`}};
}

function sendBody(exchange: Exchange, status: number, headers: Record<string, string>, body: Body): void {
  const {res} = exchange;
  const head = (type: string, length?: number, encoding?: string) =>
    res.writeHead(status, {
      'Content-Type': type,
      ...(length !== undefined && {'Content-Length': length}),
      ...(encoding !== undefined && {'Content-Encoding': encoding}),
      ...headers,
    });
  switch (body.as) {
    case 'json':
    case 'wrong-types': {
      const text = JSON.stringify(body.as === 'json' ? body.value : retyped(exchange.own(), true));
      head('application/json', Buffer.byteLength(text)).end(text);
      return;
    }
    case 'bytes': {
      const data = Buffer.from(body.data);
      head(body.type, data.length).end(data);
      return;
    }
    case 'part': {
      const whole = Buffer.from(JSON.stringify(exchange.own()));
      const part = whole.subarray(0, body.bytes);
      if (body.promised === 'part') head('application/json', part.length).end(part);
      else head('application/json', whole.length).write(part, () => end(res.socket, body.ending));
      return;
    }
    case 'drip': {
      head('application/json').flushHeaders();
      const timer = setInterval(() => res.write(' '), body.everyMs);
      res.once('close', () => clearInterval(timer));
      return;
    }
    case 'flood':
      head('application/json', body.length === 'declared' ? floodLength(body.bytes) : undefined);
      pour(exchange, body.bytes);
      return;
    case 'gzip-bomb':
      head('application/json', undefined, 'gzip');
      pour(exchange, body.bytes, gzipSync);
      return;
    default:
      body satisfies never;
  }
}

/** Every leaf with another type than it has, `success` left as it is. */
function retyped(value: unknown, top = false): unknown {
  if (typeof value === 'boolean') return 'yes';
  if (typeof value === 'number') return 'high';
  if (typeof value === 'string') return 7;
  if (Array.isArray(value)) return 'none';
  if (value === null || typeof value !== 'object') return value;
  const field = ([name, one]: [string, unknown]) => [name, top && name === 'success' ? one : retyped(one)];
  return Object.fromEntries(Object.entries(value).map(field));
}

const floodHead = Buffer.from('{"success":true,"data":{"city":"');
const floodTail = Buffer.from('"}}');
const floodPiece = Buffer.alloc(2 ** 20, 'a');

function floodPieces(bytes: number): number {
  return Math.ceil(bytes / floodPiece.length);
}

function floodLength(bytes: number): number {
  return floodHead.length + floodPieces(bytes) * floodPiece.length + floodTail.length;
}

/** Sends JSON of at least `bytes` bytes, in pieces; a gzip file may be made of members, so each is packed alone. */
function pour({res, ledger}: Exchange, bytes: number, pack = (piece: Buffer) => piece): void {
  const packed = pack(floodPiece);
  function* pieces(): Generator<Buffer> {
    const middle = Array<Buffer>(floodPieces(bytes)).fill(packed);
    for (const piece of [pack(floodHead), ...middle, pack(floodTail)]) {
      ledger.poured += piece.length;
      yield piece;
    }
  }
  // A client that hangs up in the middle is what these bodies are for.
  pipeline(Readable.from(pieces(), {highWaterMark: 1}), res).catch(() => {});
}
