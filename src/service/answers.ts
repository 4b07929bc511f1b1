import type {ServerResponse} from 'node:http';
import {RESPONSE_ALREADY_SENT} from '@hono/node-server/utils/response';
import {type ErrorCode, errorBody, errorStatus} from './errors.ts';
import {type LosingFault, STALL_MS} from './practice.ts';

/** The interface's error body, for whatever went wrong. */
export function fail(code: ErrorCode, headers: Record<string, string> = {}): Response {
  return Response.json(errorBody(code), {status: errorStatus[code], headers});
}

/** What a gateway in front of a service answers while the service is away: no JSON at all. */
export function failAsGateway(): Response {
  const page =
    '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>\n';
  return new Response(page, {status: 502, headers: {'Content-Type': 'text/html'}});
}

/** Lets an answer get lost on its way. */
export async function lose(
  fault: LosingFault,
  answer: Response,
  outgoing: ServerResponse,
): Promise<Response> {
  if (fault === 'cut-off') await sendHalf(outgoing, await answer.text());
  if (fault === 'stall') destroyLater(outgoing);
  else outgoing.destroy();
  return RESPONSE_ALREADY_SENT;
}

function sendHalf(outgoing: ServerResponse, body: string): Promise<void> {
  outgoing.writeHead(200, {'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body)});
  return new Promise(resolve => {
    outgoing.once('close', resolve);
    outgoing.write(body.slice(0, body.length / 2), () => resolve());
  });
}

function destroyLater(outgoing: ServerResponse): void {
  const timer = setTimeout(() => outgoing.destroy(), STALL_MS).unref();
  outgoing.once('close', () => clearTimeout(timer));
}
