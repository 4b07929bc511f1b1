import {nestsTooDeep} from '../job/yaml.ts';
import {fieldTypes, lacksSignals, saysSomething} from '../operations/fields.ts';
import {
  errorBodySchema,
  INVALID_TOKEN_CODE,
  type OperationSpec,
  throttlingStatuses,
} from '../operations/operation.ts';
import {type Operation, operations} from '../operations/table.ts';
import {isObject, listFieldNames, markNumbers, readAnswerFields, unmarkNumbers} from './answer-fields.ts';
import type {Answered, Attempt, CodeSubject, Failure, PaceHeaders} from './attempt.ts';
import {PROXY_CREDENTIALS_CODE} from './http/proxy.ts';
import {REDACTED_FIELD_NAME, type Redact, repeatsSentValue} from './redact.ts';
import {SentValues} from './sent-values.ts';

/** The code of a refusal for which the service gave none, or none that can be shown. */
const NO_CODE = 'service_error';

/** True if a refusal's code is the service's own, and not one that this program gives for want of another. */
export function isServiceWord(code: string): boolean {
  return !/^(http_\d{3}|service_error|bad_response)$/.test(code);
}

/** A response to a call. `body` is undefined if it was too large or could not be decoded. */
export interface RawResponse {
  readonly status: number;
  readonly body: string | undefined;
  readonly problem?: string | undefined;
  readonly latencyMs: number;
  readonly pace: PaceHeaders;
  /** The connection that it came on; undefined without a socket. */
  readonly connection?: {destroy(): unknown} | undefined;
}

/** Classifies the response to the request `sent`. `redact` removes the key; `values`: what else this process sent. */
export function classifyResponse(
  operation: Operation,
  response: RawResponse,
  sent: Readonly<Record<string, string>>,
  redact: Redact = parsed => parsed,
  values = new SentValues(),
): Attempt {
  const {status, latencyMs, pace} = response;
  // Spread after the plain fields. Before them, Node.js 20 would make a new shape for each object.
  const responded = {status, latencyMs, pace};
  if (status >= 300 && status < 400)
    return {kind: 'fatal', reason: 'redirect', code: `http_${status}`, latencyMs, status};
  const {json, isMarked} = parseJson(response.body, redact);
  const {message, about} = errorMessage(json, sent) ?? {about: 'value' as const};
  // The value is a token itself: the error may mean it, and not the API key.
  if (message === INVALID_TOKEN_CODE && operations[operation].isRedeeming)
    return {kind: 'rejected', code: message, about, ...responded};
  if (status === 401 || message === INVALID_TOKEN_CODE) {
    return {kind: 'fatal', reason: 'credentials', code: message ?? 'http_401', latencyMs, status};
  }
  // Over TLS, a proxy's refusal is an error of the tunnel.
  if (status === 407) return {kind: 'fatal', reason: 'proxy', code: 'http_407', latencyMs, status};
  if (status === 402)
    return {kind: 'fatal', reason: 'credits', code: message ?? 'http_402', latencyMs, status};
  const throttles = throttlingStatuses[status];
  if (throttles === 'always' || (throttles !== undefined && pace.retryAfter !== undefined))
    return {kind: 'throttled', code: `http_${status}`, ...responded};
  if (status === 408 || status === 425 || status >= 500) {
    return {kind: 'ambiguous', code: `http_${status}`, ...responded};
  }
  if (status >= 400) return {kind: 'rejected', code: message ?? `http_${status}`, about, ...responded};
  if (status < 200)
    return {kind: 'unreadable', code: 'bad_response', detail: `status ${status}`, ...responded};
  if (message !== undefined) return {kind: 'rejected', code: message, about, ...responded};
  return readAnswer(operation, json, isMarked, response, sent, values);
}

function readAnswer(
  operation: Operation,
  json: unknown,
  isMarked: boolean,
  response: RawResponse,
  sent: Readonly<Record<string, string>>,
  values: SentValues,
): Attempt {
  const {status, latencyMs, pace} = response;
  const responded = {status, latencyMs, pace};
  const unreadable = (detail: string, more?: {saysNothing: true}): Attempt => ({
    kind: 'unreadable',
    code: 'bad_response',
    detail,
    ...responded,
    ...more,
  });
  if (response.problem !== undefined) return unreadable(response.problem);
  if (json === undefined) return unreadable('not JSON');
  const data = successData(operation, json);
  if (data === undefined) return unreadable(`not a success response of ${operations[operation].path}`);
  if (nestsTooDeep(data)) return unreadable('nested too deep');
  const answer = toAnswer(operation, data, isMarked, sent);
  const echoed = values.echoIn(operation, answer.data, sent);
  if (echoed === 'other') {
    response.connection?.destroy();
    const code = 'answer_of_another_value';
    return values.areMixedUp(operation)
      ? {kind: 'fatal', reason: 'mixed_answers', code, latencyMs, status}
      : unreadable('it is about another value');
  }
  if (echoed === 'unknown id') return unreadable('user_id is not the id that was sent');
  if (!saysSomething(operation, answer.data))
    return unreadable(nothingKnown(operation, answer), {saysNothing: true});
  return {
    kind: 'answered',
    ...responded,
    ...answer,
    ...(lacksSignals(operation, answer.data) && {lacksSignals: true}),
    ...(echoed === 'own form' && {isOtherForm: true}),
  };
}

function nothingKnown(
  operation: Operation,
  {unknownFields, wrongTypes}: Pick<Answered, 'unknownFields' | 'wrongTypes'>,
): string {
  const {core = []}: OperationSpec = operations[operation];
  const told = (names: readonly string[], what: string) =>
    names.length === 0 ? '' : `; ${what} ${listFieldNames(names)}`;
  const lacking = core.length === 0 ? 'no known field has a value' : `no value in ${core.join(' or ')}`;
  return `${lacking}${told(unknownFields, 'unknown:')}${told(wrongTypes, 'of a wrong type:')}`;
}

/**
 * Reads an answer by its field types, without names that repeat the value. `exact` is its full text, only if `data` lacks
 * a part of it.
 */
function toAnswer(
  operation: Operation,
  given: Readonly<Record<string, unknown>>,
  isMarked: boolean,
  sent: Readonly<Record<string, string>>,
) {
  const {kept, data, wrongTypes, ...read} = readAnswerFields(fieldTypes[operation], given, isMarked);
  const unknownFields = read.unknownFields.map(name =>
    repeatsSentValue(name, sent) ? REDACTED_FIELD_NAME : name,
  );
  if (data === given && !isMarked) return {data, unknownFields, wrongTypes};
  const [marked, used] = [JSON.stringify(kept), JSON.stringify(data)];
  const exact = unmarkNumbers(marked);
  const plain = exact === marked ? data : (JSON.parse(unmarkNumbers(used)) as Answered['data']);
  return {data: plain, unknownFields, wrongTypes, ...(exact === used ? {} : {exact})};
}

function successData(operation: Operation, json: unknown): Record<string, unknown> | undefined {
  if (!isObject(json) || json.success !== true) return undefined;
  const data = operations[operation].dataOf(json);
  return isObject(data) ? data : undefined;
}

/** Maximum characters of a message whose words are judged. */
const MOST_JUDGED = 200;

/** The service's code for a failure; `service_error` if that is no code, repeats the value sent, or is one of ours. */
function errorMessage(
  json: unknown,
  sent: Readonly<Record<string, string>>,
): {readonly message: string; readonly about: CodeSubject} | undefined {
  if (!isObject(json) || json.success !== false) return undefined;
  const {message = ''} = errorBodySchema.safeParse(json).data ?? {};
  const isCode =
    /^[\w.:-]{1,64}$/.test(message) && isServiceWord(message) && !repeatsSentValue(message, sent);
  return {message: isCode ? message : NO_CODE, about: subjectOfCode(message.slice(0, MOST_JUDGED))};
}

/** Words of values: a code with one of them is about the value, as `temporary_email`, `line_busy` and `smtp_timeout` are. */
const VALUE = /_(e_?mail|mail|mailbox|domain|mx|smtp|phone|number|line|carrier|ip|address|token)(e?s)?_/;
const QUOTA = /_(quotas?|credits?)_/;
/** Words of the moment, anywhere in a code. */
const MOMENT =
  /_(rate_?limit|throttl|overload)|_(too_many|maintenance|try_again|retry_later|internal_error|concurrent)_/;
/** Words of the moment only beside the service, or alone. */
const SERVICE = /_(service|server|system|gateway|backend)_/;
const TROUBLE = /_(busy|unavailable|timeout|error)_/;
const ALONE = /^_(temporarily_unavailable|unavailable|busy|timeout)_$/;

/** Judges a code in any spelling: `rate_limit_exceeded`, `RateLimitExceeded`, `RATE-LIMIT-EXCEEDED`. */
export function subjectOfCode(code: string): CodeSubject {
  const cut = code.replace(/([a-z\d])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$1$2_');
  const words = `_${cut
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter(Boolean)
    .join('_')}_`;
  if (VALUE.test(words)) return 'value';
  if (QUOTA.test(words)) return 'quota';
  const isTrouble = SERVICE.test(words) && TROUBLE.test(words);
  return isTrouble || MOMENT.test(words) || ALONE.test(words) ? 'moment' : 'value';
}

/** Parses a body, with marks on numbers that would lose digits. `json` is undefined if it is not JSON. */
function parseJson(body: string | undefined, redact: Redact): {json: unknown; isMarked: boolean} {
  const none = {json: undefined, isMarked: false};
  if (body === undefined) return none;
  try {
    const json: unknown = JSON.parse(body);
    const marked = markNumbers(body);
    const isMarked = marked !== body;
    return {json: redact(isMarked ? JSON.parse(marked) : json, body), isMarked};
  } catch {
    return none;
  }
}

/** OpenSSL's and Node's codes for a peer that can't be trusted; from Node's documentation of TLS errors. */
const CERTIFICATE =
  /^(CERT_|ERR_TLS_CERT|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|ERROR_IN_CERT|ERR_TLS_INVALID)/;

/** True if this error code means that the other end can't be trusted. */
export function isCertificateError(code: string): boolean {
  return CERTIFICATE.test(code);
}

/** Node's codes for bytes that are not HTTP. A connection that ended too early is `ambiguous` instead. */
const UNPARSABLE = /^hpe_(?!invalid_eof_state)/;

/** Classifies a call without a response. `connected`: it may have been sent. */
export function attemptWithoutResponse(
  code: string,
  connected: boolean,
  latencyMs: number,
  limit?: string,
): Failure {
  if (isCertificateError(code)) return {kind: 'fatal', reason: 'certificate', code, latencyMs, limit};
  if (UNPARSABLE.test(code))
    return {kind: 'unreadable', code: 'bad_response', detail: `not HTTP: ${code}`, latencyMs};
  if (code === PROXY_CREDENTIALS_CODE.toLowerCase() || isProxyCertificateError(code))
    return {kind: 'fatal', reason: 'proxy', code, latencyMs};
  return {kind: connected ? 'ambiguous' : 'not_sent', code, latencyMs};
}

/** True if the proxy of this code (`proxy_…`) has a certificate that can't be trusted. */
export function isProxyCertificateError(code: string): boolean {
  return code.startsWith('proxy_') && isCertificateError(code.slice('proxy_'.length).toUpperCase());
}

/** Codes for a port without TLS where the URL says `https:`, and for one with TLS where it says `http:`. */
export const NO_TLS = 'no_tls';
export const NEEDS_TLS = 'needs_tls';

/** A short, stable code for a network error: `timeout`, `econnreset`, …. Certificate errors keep their own code. */
export function networkCode(code: string, message = ''): string {
  if (isCertificateError(code)) return code;
  // OpenSSL's words for bytes that are not TLS.
  if (/wrong version number|packet length too long|http request/.test(message)) return NO_TLS;
  if (code === 'ETIMEDOUT') return 'timeout';
  return /^[A-Z][A-Z0-9_]{2,40}$/.test(code) ? code.toLowerCase() : 'network_error';
}
