import type {ServerResponse} from 'node:http';

/**
 * The status of each code. The interface names only `invalid_token`; the others are our own, as in docs/service.md.
 */
export const errorStatus = {
  /** The API key is wrong. The interface documents it only for `/intelligence/ip`. */
  invalid_token: 401,
  malformed_body: 400,
  /** A field that the operation needs is missing or empty. */
  missing_field: 400,
  invalid_field: 400,
  /** `ip` is not a dotted-quad IPv4 address. */
  invalid_ip: 400,
  /** `token` belongs to no known session. */
  unknown_session: 400,
  malformed_request: 400,
  out_of_credits: 402,
  not_found: 404,
  /** The path exists for another method: see `Allow`. */
  method_not_allowed: 405,
  request_timeout: 408,
  body_too_large: 413,
  unsupported_media_type: 415,
  /** A page was requested with a `Host` that is not the service's name: see `isOwnName`. */
  wrong_host: 421,
  /** More calls than `rateLimit` allows: see `Retry-After`. */
  throttled: 429,
  headers_too_large: 431,
  /** A fault of the service itself. */
  internal_error: 500,
  /** Faults that the option `errorRate` causes. The option also causes lost answers, which have no code. */
  practice_error: 500,
  practice_bad_gateway: 502,
  practice_unavailable: 503,
} as const;

export type ServiceErrorCode = keyof typeof errorStatus;

/** A failure that ends a call: the client gets the code's status and an error body. The call is free. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ServiceErrorCode;
  readonly headers: Record<string, string>;

  constructor(code: ServiceErrorCode, headers: Record<string, string> = {}) {
    super(code);
    this.code = code;
    this.headers = headers;
  }
}

export const makeErrorBody = (code: ServiceErrorCode): {success: false; message: ServiceErrorCode} => ({
  success: false,
  message: code,
});

/** An answer, ready to be written. */
export interface Reply {
  status: number;
  body: string;
  headers: Record<string, string>;
  code?: ServiceErrorCode;
  /** The fault, caused by the option `errorRate`, that loses this reply. */
  loss?: LostReply | undefined;
}

/** A reply is lost: the connection closes, breaks within the body, or falls silent. */
export type LostReply = 'reset' | 'cut-off' | 'stall';

/** Milliseconds for which a stalled answer keeps its connection open: longer than a client should wait. */
export const STALL_MS = 120_000;

export const jsonReply = (body: object): Reply => ({
  status: 200,
  body: JSON.stringify(body),
  headers: {'Content-Type': 'application/json'},
});

/** The reply for a failure: the error body, or a page of HTML for `practice_bad_gateway`, as gateways send it. */
export function failureReply({code, headers}: ServiceError): Reply {
  const isPage = code === 'practice_bad_gateway';
  return {
    code,
    status: errorStatus[code],
    body: isPage ? GATEWAY_PAGE : JSON.stringify(makeErrorBody(code)),
    headers: {'Content-Type': isPage ? 'text/html' : 'application/json', ...headers},
  };
}

const GATEWAY_PAGE =
  '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>\n';

/** Writes an answer, with its length in a header, unless it is to be lost. */
export function sendReply(outgoing: ServerResponse, {status, body, headers, loss}: Reply): void {
  if (loss === 'reset') outgoing.destroy();
  else if (loss === 'stall') {
    const timer = setTimeout(() => outgoing.destroy(), STALL_MS).unref();
    outgoing.once('close', () => clearTimeout(timer));
  } else {
    outgoing.writeHead(status, {...headers, 'Content-Length': Buffer.byteLength(body)});
    if (loss === undefined) outgoing.end(body);
    else outgoing.write(body.slice(0, body.length / 2), () => outgoing.destroy());
  }
}
