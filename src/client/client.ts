import {type AgentOptions, Agent as HttpAgent} from 'node:http';
import {Agent as HttpsAgent} from 'node:https';
import {UsageError} from '../errors.ts';
import {
  checkOptions,
  isAbortSignal,
  isFunction,
  isText,
  milliseconds,
  type OptionChecks,
  wholeFromOne,
} from '../job/check-options.ts';
import {recordOf} from '../operations/operation.ts';
import {
  type AnswerData,
  fieldCanonicalizers,
  type Intelligence,
  isOperation,
  type Operation,
  operationNames,
  operations,
  perIntelligence,
  perOperation,
} from '../operations/table.ts';
import type {Answered, Attempt} from './attempt.ts';
import {classifyResponse, type RawResponse} from './classify.ts';
import {ClientError, explainFailure} from './client-error.ts';
import {CHECKED_TLS_OPTIONS, createProxyAgent} from './http/proxy.ts';
import {type CallOptions, createTransport, type Transport, type TransportOptions} from './http/transport.ts';
import {createRedactor, type Redact, repeatsSentValue} from './redact.ts';
import {SentValues} from './sent-values.ts';

export interface ClientOptions extends ClientLimits {
  /** Base URL of the service, such as `https://api.example.com/v1`. HTTPS, except for loopback hosts. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** @internal The source of the key, as messages name it; `BULK_ENRICH_API_KEY` by default. */
  readonly keyFrom?: string | undefined;
}

/** Options of all calls, whatever the operation and the endpoint. */
export interface ClientLimits {
  /** Maximum time of one call in milliseconds: 1 to 3,600,000 (an hour), 30,000 by default. */
  readonly timeoutMs?: number | undefined;
  /** Maximum connections. Further calls wait for one. Unlimited by default. */
  readonly maxConnections?: number | undefined;
  /** Maximum bytes of one response's decoded body; 1 MiB by default. */
  readonly maxBodyBytes?: number | undefined;
  /** @internal Called each time a connection is closed because the service sent bytes that no call asked for. */
  readonly onUnasked?: (() => void) | undefined;
}

/** A request's fields without the key. */
export type Params = Readonly<Record<string, string>>;

/** The fields of an operation's request, without the key. */
export type RequestParams<Name extends Operation> = Name extends Intelligence
  ? {readonly [Field in Name]: string}
  : {readonly action_id: string; readonly token: string} & {
      readonly [Field in 'id' | 'email' | 'phone_number']?: string;
    };

type CallOf<Name extends Operation> = [operation: Name, params: RequestParams<Name>, options?: CallOptions];

/** An answer of this operation. */
export type AnsweredBy<Name extends Operation> = Omit<Answered, 'data'> & {
  readonly data: FieldsOf<AnswerData<Name>>;
};
/** The same fields, in a type that a record of unknown values takes. */
type FieldsOf<Data> = {[Field in keyof Data]: Data[Field]};

/** The result of a call of this operation. */
export type AttemptOf<Name extends Operation> = AnsweredBy<Name> | Exclude<Attempt, Answered>;

/** `client.ip` and the like: each returns a promise of the answer, which may reject with a {@link ClientError}. */
type ClientLookups = {
  readonly [Name in Intelligence]: (value: string, options?: CallOptions) => Promise<AnswerData<Name>>;
};

export interface Client extends ClientLookups {
  readonly baseUrl: string;
  /**
   * Makes one call, without retries. A failure of the call is in the result.
   *
   * @throws {BulkEnrichError} for an unknown or missing field, a value that is not a text, or a verdict's phone number
   * without an E.164 form: nothing is sent.
   */
  send<Name extends Operation>(...call: CallOf<Name>): Promise<AttemptOf<Name>>;
  /**
   * Makes one lookup, or fetches one verdict.
   *
   * @throws {ClientError} if no answer came; {BulkEnrichError} as `send`.
   */
  answer<Name extends Operation>(...call: CallOf<Name>): Promise<AnsweredBy<Name>>;
  verify(request: VerifyParams, options?: CallOptions): Promise<AnswerData<'verify'>>;
  /** Ends calls in flight, and closes the connections. */
  close(): void;
}

type AnyCall = [operation: Operation, params: Params, options?: CallOptions];

/** The client of runs and commands, whose operations are known only when they run. Values are in canonical form. */
export interface Sender {
  send(...call: AnyCall): Promise<Attempt>;
}

export interface OpenedClient extends Sender, Pick<Client, 'baseUrl' | 'close'> {
  answer(...call: AnyCall): Promise<Answered>;
}

export interface VerifyParams {
  readonly token: string;
  readonly actionId: string;
  readonly id?: string | undefined;
  readonly email?: string | undefined;
  readonly phoneNumber?: string | undefined;
}

const DEFAULT_TIMEOUT_MS = 30_000;
/** Node fires a timer immediately if its time is too long. Then every call would be given up, and paid for again. */
const LONGEST_TIMEOUT_MS = 3_600_000;
/** The largest answers have some kilobytes; a verdict with many accounts may have more. */
const DEFAULT_MAX_BODY_BYTES = 1_048_576;
/** An idle connection is closed after this time, or a second before the server announces to close it. */
const IDLE_MS = 60_000;

/**
 * Creates a client of the service's four operations.
 *
 * @throws {BulkEnrichError} without a key; for an unknown option or one out of bounds; for an invalid base URL, plain HTTP
 * to another machine, or an invalid proxy of the environment.
 */
export function createClient(options: ClientOptions): Client {
  const {apiKey, keyFrom = 'BULK_ENRICH_API_KEY'}: Partial<ClientOptions> = options ?? {};
  if (typeof apiKey !== 'string' || apiKey.trim() === '')
    throw new UsageError(
      'no_key',
      `apiKey: expected the key as a text, such as process.env.${keyFrom}; it is empty.`,
    );
  checkOptions(options, clientChecks);
  return forPrograms(openClient(options));
}

/** The client of programs, whose compiler may have checked nothing: their values are checked, and spelled as in runs. */
export function forPrograms({send, answer, ...client}: OpenedClient): Client {
  const answerOf = async (...call: AnyCall) => answer(...checkedCall(...call));
  const lookUp = (name: Intelligence) => async (value: string, call?: CallOptions) =>
    (await answerOf(name, {[name]: value}, call)).data;
  const typed = {
    send: async (...call: AnyCall) => send(...checkedCall(...call)),
    answer: answerOf,
    ...perIntelligence(lookUp),
    async verify(request: VerifyParams, call?: CallOptions) {
      const {actionId: action_id, phoneNumber: phone_number, ...others} = Object(request);
      return (await answerOf('verify', {action_id, phone_number, ...others}, call)).data;
    },
  };
  return {...client, ...(typed as Pick<Client, keyof typeof typed>)};
}

const timeout = milliseconds(1, LONGEST_TIMEOUT_MS);

const clientChecks: OptionChecks<ClientOptions> = {
  baseUrl: ['the URL of the service', isText, true],
  apiKey: ['the key', isText],
  timeoutMs: timeout,
  maxConnections: wholeFromOne,
  maxBodyBytes: wholeFromOne,
  keyFrom: ['the name of a variable', isText],
  onUnasked: ['a function', isFunction],
};

const callChecks: OptionChecks<CallOptions> = {signal: ['an AbortSignal', isAbortSignal], timeoutMs: timeout};

const requestChecks = perOperation(name => {
  const {api_key: _, ...fields}: Readonly<Record<string, {isOptional(): boolean}>> =
    operations[name].request.shape;
  return recordOf(Object.keys(fields), field => ['a text', isText, !fields[field]?.isOptional()] as const);
});

/** {@link createClient} for runs and commands: without a key, too, and with values in canonical form. */
export function openClient(
  options: ClientOptions,
  open: (options: TransportOptions) => Transport = createTransport,
): OpenedClient {
  const base = parseBaseUrl(options.baseUrl);
  const {timeoutMs = DEFAULT_TIMEOUT_MS, apiKey: api_key} = options;
  const maxSockets = options.maxConnections ?? Number.POSITIVE_INFINITY;
  const agent = connect(base, {keepAlive: true, maxSockets, maxFreeSockets: maxSockets, timeout: IDLE_MS});
  const wires = open({
    agent,
    timeoutMs,
    maxBodyBytes: options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES,
    onUnasked: options.onUnasked ?? (() => {}),
  });
  const redact = createRedactor(api_key);
  const values = new SentValues();
  const prefix = base.href.replace(/\/+$/, '');
  const urls = perOperation(name => new URL(prefix + operations[name].path));

  let isClosed = false;

  async function send(operation: Operation, params: Params, call: CallOptions = {}): Promise<Attempt> {
    if (isClosed) return {kind: 'not_sent', code: 'client_closed', latencyMs: 0};
    if (call.signal?.aborted) return {kind: 'not_sent', code: 'aborted', latencyMs: 0};
    const sent = {api_key, ...params};
    const ended = values.begin(operation, params);
    const result = await wires.post(urls[operation], JSON.stringify(sent), call).finally(ended);
    if ('kind' in result) return result;
    return classifyResponse(operation, withoutEcho(result, sent, redact), sent, redact, values);
  }

  async function answer(operation: Operation, params: Params, call?: CallOptions): Promise<Answered> {
    const attempt = await send(operation, params, call);
    if (attempt.kind === 'answered') return attempt;
    throw new ClientError(`${operation}: ${explainFailure(attempt, options.keyFrom)}`, attempt);
  }

  return {
    baseUrl: `${base.origin}${base.pathname}`.replace(/\/+$/, ''),
    send,
    answer,
    close() {
      isClosed = true;
      wires.close();
      agent.destroy();
    },
  };
}

/**
 * A call with its values as runs send them, without undefined and empty ones.
 *
 * @throws {UsageError} for what a program without types may give, and a verdict's invalid phone number. Nothing is sent.
 */
function checkedCall(...[operation, params, call = {}]: AnyCall): AnyCall {
  if (!isOperation(operation))
    throw new UsageError('settings', `operation: expected one of ${operationNames.join(', ')}.`);
  const given = {...params};
  checkOptions(given, requestChecks[operation]);
  checkOptions(call, callChecks);
  const forms = fieldCanonicalizers(operation);
  const all = Object.entries(given).flatMap(([name, text]) => {
    if (text === undefined) return [];
    const read = forms[name]?.(text);
    if (read?.state === 'empty' && name !== operations[operation].field) return [];
    if (read?.state === 'invalid' && name === 'phone_number')
      throw new UsageError('not_a_value', `${name} is not in E.164 form (${read.code}); nothing was sent.`);
    return [[name, read?.state === 'value' ? read.value : text] as const];
  });
  return [operation, Object.fromEntries(all), call];
}

/** Removes a request identifier that repeats the value or the key: identifiers get into files and logs. */
function withoutEcho(response: RawResponse, sent: Params, redact: Redact): RawResponse {
  if (response.pace.requestId === undefined) return response;
  const {requestId, ...pace} = response.pace;
  const isEcho = repeatsSentValue(requestId, sent) || redact(requestId, requestId) !== requestId;
  return isEcho ? {...response, pace} : response;
}

/** Parses a base URL. Throws UsageError if it is invalid, has a query, or would send the key unencrypted. */
export function parseBaseUrl(text: string): URL {
  const refuse = (why: string, code: 'base_url_invalid' | 'base_url_insecure' = 'base_url_invalid') =>
    new UsageError(code, why);
  if (!URL.canParse(text))
    throw refuse('The base URL is not a URL; expected something like https://api.example.com');
  const url = new URL(text);
  const {origin, protocol, search, hash, hostname} = url;
  if (search !== '' || hash !== '')
    throw refuse(`The base URL ${origin} must not carry a query or a fragment`);
  if (protocol === 'http:' && !isLoopback(hostname))
    throw refuse(`The base URL ${origin} would send the key unencrypted: use https://`, 'base_url_insecure');
  if (protocol !== 'http:' && protocol !== 'https:')
    throw refuse(`The base URL must begin with https://, not ${protocol}//`);
  return url;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

function connect(base: URL, pool: AgentOptions): HttpAgent {
  if (base.protocol === 'http:') return new HttpAgent(pool);
  return createProxyAgent(base, pool) ?? new HttpsAgent({...pool, ...CHECKED_TLS_OPTIONS});
}
