import type {ServerResponse} from 'node:http';
import {errorStatus, makeErrorBody, type ServiceError, type ServiceErrorCode} from './error-body.ts';
import {type LosingFault, STALL_MS} from './practice.ts';

/** A web response with the error body, for failures outside of the four operations, such as an unknown path. */
export function errorResponse(code: ServiceErrorCode, headers: Record<string, string> = {}): Response {
  return Response.json(makeErrorBody(code), {status: errorStatus[code], headers});
}

/** An answer of one of the operations, ready to be written. */
export interface Reply {
  status: number;
  body: string;
  headers: Record<string, string>;
}

export const successReply = (body: object): Reply => ({
  status: 200,
  body: JSON.stringify(body),
  headers: {'Content-Type': 'application/json'},
});

/** The reply for a failure: the error body, or a page of HTML for `practice_bad_gateway`, as gateways send it. */
export function failureReply({code, headers}: ServiceError): Reply {
  if (code === 'practice_bad_gateway') return gatewayPage;
  const type = {'Content-Type': 'application/json'};
  return {
    status: errorStatus[code],
    body: JSON.stringify(makeErrorBody(code)),
    headers: {...type, ...headers},
  };
}

const gatewayPage: Reply = {
  status: 502,
  body: '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>\n',
  headers: {'Content-Type': 'text/html'},
};

/** Writes an answer, with its length in a header. */
export function sendReply(outgoing: ServerResponse, {status, body, headers}: Reply): void {
  outgoing.writeHead(status, {...headers, 'Content-Length': Buffer.byteLength(body)});
  outgoing.end(body);
}

/** Loses an answer: closes the connection at once, in the middle of the body, or after a silence. */
export function loseReply(fault: LosingFault, {body}: Reply, outgoing: ServerResponse): void {
  if (fault === 'reset') outgoing.destroy();
  else if (fault === 'stall') destroyLater(outgoing);
  else {
    outgoing.writeHead(200, {'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body)});
    outgoing.write(body.slice(0, body.length / 2), () => outgoing.destroy());
  }
}

function destroyLater(outgoing: ServerResponse): void {
  const timer = setTimeout(() => outgoing.destroy(), STALL_MS).unref();
  outgoing.once('close', () => clearTimeout(timer));
}
