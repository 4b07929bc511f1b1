import type {Attempt} from '../../src/client/attempt.ts';
import {networkCode, type RawResponse, withoutResponse} from '../../src/client/classify.ts';
import type {RequestBody} from './api-server-core.mjs';
import type {Reply} from './api-server-reply.ts';

/** A reply in memory. `refuse`: no connection is made. */
export type MemoryReply = Reply | {readonly kind: 'refuse'};

/** What a caller's socket gets for a reply: a raw response or an error, which `src` classifies itself. */
export interface AtSocket {
  /** Undefined if it comes as soon as the service wants. */
  readonly afterMs: number | undefined;
  readonly result: (latencyMs: number) => RawResponse | Attempt;
}

/** The second door of the test service: what {@link Reply} does over loopback, without a socket. */
export function atSocket(reply: MemoryReply, own: () => RequestBody, timeoutMs: number): AtSocket {
  const error = (code: string, isConnected: boolean, afterMs: number | undefined): AtSocket => ({
    afterMs,
    result: latencyMs => withoutResponse(networkCode(code), isConnected, latencyMs),
  });
  switch (reply.kind) {
    case 'refuse':
      return error('ECONNREFUSED', false, undefined);
    case 'drop':
      return error('ECONNRESET', true, reply.delayMs);
    case 'raw':
      return error('HPE_INVALID_CONSTANT', true, undefined);
    case 'stall':
      return error('ETIMEDOUT', true, timeoutMs);
    case 'answer': {
      const headers = Object.entries(reply.headers ?? {}).map(
        ([name, value]) => [name.toLowerCase(), value] as const,
      );
      const {
        'retry-after': retryAfter,
        date,
        ...others
      } = Object.fromEntries(headers) as Record<string, string>;
      const limits = Object.fromEntries(
        Object.entries(others).filter(([name]) => name.includes('ratelimit')),
      );
      const body = textOf(reply, own);
      const result = (latencyMs: number) => ({
        status: reply.status,
        body,
        latencyMs,
        pace: {limits, retryAfter, date},
      });
      return {afterMs: reply.delayMs, result};
    }
    default:
      return reply satisfies never;
  }
}

function textOf({status, body}: Extract<Reply, {kind: 'answer'}>, own: () => RequestBody): string {
  if (body === undefined)
    return JSON.stringify(status < 300 ? own() : {success: false, message: `status_${status}`});
  if (body.as === 'json') return JSON.stringify(body.value);
  if (body.as === 'bytes') return Buffer.from(body.data).toString();
  throw new Error(`a body as ${body.as} needs a socket`);
}
