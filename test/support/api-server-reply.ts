/** How a connection ends: in order (FIN) or broken off (RST). */
export type Ending = 'close' | 'reset';

/** The body of an answer. `own` is the server's unscripted answer. */
export type Body =
  | {readonly as: 'json'; readonly value: unknown}
  | {readonly as: 'bytes'; readonly data: Uint8Array | string; readonly type: string}
  /** Every field of the own answer with another type. */
  | {readonly as: 'wrong-types'}
  /** The first bytes of the own answer; where Content-Length promised the whole, the connection ends there. */
  | {
      readonly as: 'part';
      readonly bytes: number;
      readonly promised: 'part' | 'whole';
      readonly ending: Ending;
    }
  /** A blank every `everyMs`, which JSON allows before a value, for ever. */
  | {readonly as: 'drip'; readonly everyMs: number}
  /** Well-formed JSON of about `bytes` bytes; counted in `ledger.poured` as it is sent. */
  | {readonly as: 'flood'; readonly bytes: number; readonly length: 'declared' | 'chunked'}
  /** Well-formed JSON of about `bytes` bytes, gzipped to about a thousandth. */
  | {readonly as: 'gzip-bomb'; readonly bytes: number};

/** Options of any answer. */
export interface Extra {
  readonly headers?: Readonly<Record<string, string>>;
  /** Wait before the head is sent. */
  readonly delayMs?: number;
  /** End the connection right after the answer, which promised to keep it. */
  readonly after?: Ending;
  /** True if the service charges this call; by default see `isCharged`. */
  readonly charge?: boolean;
}

/** The reply to a request that was read to its end. */
export type Reply =
  | ({readonly kind: 'answer'; readonly status: number; readonly body?: Body} & Extra)
  /** Never answers. */
  | {readonly kind: 'stall'; readonly charge?: boolean}
  /** Ends the connection without an answer. */
  | {readonly kind: 'drop'; readonly ending: Ending; readonly delayMs?: number; readonly charge?: boolean}
  /** Writes these bytes instead of an HTTP answer; then ends the connection, or leaves it open. */
  | {readonly kind: 'raw'; readonly text: string; readonly ending?: Ending; readonly charge?: boolean};

/** Breaks a request off before it was read to its end: once its head is there, or in its body. Never charged. */
export interface EarlyFault {
  readonly when: 'head' | 'body';
  readonly ending: Ending;
}

function answer(status: number, body: Body | undefined, extra: Extra = {}): Reply {
  return {kind: 'answer', status, ...(body && {body}), ...extra};
}

function after(seconds: number | string | Date | undefined): Record<string, string> {
  if (seconds === undefined) return {};
  return {'Retry-After': seconds instanceof Date ? seconds.toUTCString() : String(seconds)};
}

function withHeaders(headers: Record<string, string>, extra: Extra = {}): Extra {
  return {...extra, headers: {...headers, ...extra.headers}};
}

/** Builders for scripts. */
export const reply = {
  /** The server's own answer, with headers, a delay or an ending of the test's choice. */
  ok: (extra?: Extra) => answer(200, undefined, extra),
  json: (value: unknown, status = 200, extra?: Extra) => answer(status, {as: 'json', value}, extra),
  /** The interface's error body, at any status. */
  error: (status: number, message: string, extra?: Extra) =>
    answer(status, {as: 'json', value: {success: false, message}}, extra),
  unauthorized: (extra?: Extra) => reply.error(401, 'invalid_token', extra),
  noCredits: (extra?: Extra) => reply.error(402, 'insufficient_credits', extra),
  forbidden: (extra?: Extra) => reply.error(403, 'forbidden', extra),
  /** 429; `retryAfter` in seconds, as a date, or as any text. */
  throttle: (retryAfter?: number | string | Date, extra?: Extra) =>
    reply.error(429, 'rate_limited', withHeaders(after(retryAfter), extra)),
  /** 503, with or without Retry-After. */
  unavailable: (retryAfter?: number | string | Date, extra?: Extra) =>
    reply.error(503, 'unavailable', withHeaders(after(retryAfter), extra)),
  redirect: (location: string, status: 301 | 302 | 303 | 307 | 308 = 307, extra?: Extra) =>
    answer(status, {as: 'bytes', data: '', type: 'text/plain'}, withHeaders({Location: location}, extra)),
  html: (status = 200, extra?: Extra) =>
    answer(status, {as: 'bytes', data: '<!doctype html><h1>Sorry</h1>', type: 'text/html'}, extra),
  text: (text: string | Buffer, status = 200, type = 'application/json', extra?: Extra) =>
    answer(status, {as: 'bytes', data: text, type}, extra),
  empty: (status = 200) => answer(status, {as: 'bytes', data: '', type: 'application/json'}),
  list: () => answer(200, {as: 'json', value: []}),
  wrongTypes: () => answer(200, {as: 'wrong-types'}),
  /** JSON that stops in the middle, with a Content-Length that agrees. */
  truncated: (bytes = 20) => answer(200, {as: 'part', bytes, promised: 'part', ending: 'close'}),
  /** JSON that stops in the middle, where Content-Length promised more. */
  cut: (bytes = 20, ending: Ending = 'close') => answer(200, {as: 'part', bytes, promised: 'whole', ending}),
  drip: (everyMs: number) => answer(200, {as: 'drip', everyMs}),
  huge: (bytes: number, length: 'declared' | 'chunked' = 'chunked') =>
    answer(200, {as: 'flood', bytes, length}),
  gzipBomb: (bytes: number) => answer(200, {as: 'gzip-bomb', bytes}),
  /** Says UTF-8, but is not: Latin-1 (invalid as UTF-8) or UTF-16. */
  wrongCharset: (encoding: 'latin1' | 'utf16le' = 'latin1') => {
    const data = Buffer.from('{"success":true,"data":{"city":"Zürich"}}', encoding);
    return answer(200, {as: 'bytes', data, type: 'application/json; charset=utf-8'});
  },
  stall: (charge?: boolean): Reply => ({kind: 'stall', ...(charge !== undefined && {charge})}),
  drop: (ending: Ending = 'reset', extra: {delayMs?: number; charge?: boolean} = {}) =>
    ({kind: 'drop', ending, ...extra}) satisfies Reply,
  raw: (text: string, extra: {ending?: Ending; charge?: boolean} = {}) =>
    ({kind: 'raw', text, ...extra}) satisfies Reply,
};
