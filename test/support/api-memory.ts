import type {Attempt} from '../../src/client/attempt.ts';
import {attemptWithoutResponse, networkCode, type RawResponse} from '../../src/client/classify.ts';
import type {ServiceCore, Taken} from './api-core.ts';
import type {Reply} from './api-server-reply.ts';

/** What a caller's socket gets for a reply: a raw response or an error, which `src` classifies itself. */
export interface AtSocket {
  /** Undefined if it comes as soon as the service wants. */
  readonly afterMs: number | undefined;
  readonly result: (latencyMs: number) => RawResponse | Attempt;
}

/** A call, as a client's transport gets it. */
export interface Post {
  readonly url: URL;
  readonly text: string;
  readonly timeoutMs: number;
  readonly nowMs: number;
}

/** The test service in memory: a socket's end of a call that the core takes. */
export function postTo(core: ServiceCore, {url, text, timeoutMs, nowMs}: Post): AtSocket {
  const request = ++core.ledger.requests;
  const headers = {'content-type': 'application/json'};
  const head = {request, path: url.pathname, headers};
  const taken = core.take({head, method: 'POST', text, nowMs});
  if (taken instanceof Promise) throw new Error('a call that is held needs a socket');
  return atSocket(taken, timeoutMs);
}

/** No connection is made: the service hears nothing. */
export const refusedConnection: AtSocket = failed('ECONNREFUSED', false, undefined);

function failed(code: string, isConnected: boolean, afterMs: number | undefined): AtSocket {
  return {afterMs, result: latencyMs => attemptWithoutResponse(networkCode(code), isConnected, latencyMs)};
}

function atSocket({reply, own}: Taken, timeoutMs: number): AtSocket {
  switch (reply.kind) {
    case 'drop':
      return failed('ECONNRESET', true, reply.delayMs);
    case 'raw':
      return failed('HPE_INVALID_CONSTANT', true, undefined);
    case 'stall':
      return failed('ETIMEDOUT', true, timeoutMs);
    case 'answer': {
      const headers = Object.entries(reply.headers ?? {}).map(
        ([name, value]) => [name.toLowerCase(), value] as const,
      );
      const {'retry-after': retryAfter, date} = Object.fromEntries(headers);
      const limits = Object.fromEntries(headers.filter(([name]) => name.includes('ratelimit')));
      const said = {status: reply.status, body: textOf(reply, own), pace: {limits, retryAfter, date}};
      return {afterMs: reply.delayMs, result: latencyMs => ({...said, latencyMs})};
    }
    default:
      return reply satisfies never;
  }
}

function textOf({status, body}: Extract<Reply, {kind: 'answer'}>, own: Taken['own']): string {
  if (body === undefined)
    return JSON.stringify(status < 300 ? own() : {success: false, message: `status_${status}`});
  if (body.as === 'json') return JSON.stringify(body.value);
  if (body.as === 'bytes') return Buffer.from(body.data).toString();
  throw new Error(`a body as ${body.as} needs a socket`);
}
