import type {IncomingHttpHeaders} from 'node:http';
import {INVALID_TOKEN_CODE} from '../../src/operations/operation.ts';
import {type Operation, operationNames, operations} from '../../src/operations/table.ts';
import {answer, isCharged, price, type RequestBody, refusal, SlidingCount} from './api-server-core.mjs';
import {Ledger} from './api-server-ledger.ts';
import {type Reply, reply} from './api-server-reply.ts';

/** A request of which only the head is known. Numbers count from 1. */
export interface Head {
  /** The n-th request of the server. */
  readonly request: number;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** A request for an operation, read to its end. */
export interface Call extends Head {
  /** The n-th call of the server. */
  readonly call: number;
  readonly operation: Operation;
  /** The IP, phone number, e-mail address or session token. */
  readonly value: string;
  /** The n-th call for this value; 0 where values are not kept. */
  readonly attempt: number;
  readonly body: RequestBody;
}

interface Limit {
  /** Calls let through in any sliding second; the others get `reply`. */
  readonly perSecond: number;
  /** The reply to a call over the limit; by default 429 with `Retry-After: 1`. */
  readonly reply?: (call: Call) => Reply;
}

/** A request that was read to its end. */
export interface Received {
  readonly head: Head;
  readonly method: string | undefined;
  readonly text: string;
  /** By a clock of the door's. */
  readonly nowMs: number;
}

export interface CoreOptions {
  /** The one key that is accepted; long enough not to turn up in headers by chance. */
  readonly key: string;
  /** Wait before every unscripted answer. */
  readonly latencyMs?: number;
  readonly limit?: Limit;
  /** The reply to a call; `undefined`: the unscripted one. A promise holds the call until it settles. */
  readonly script?: (call: Call) => Reply | undefined | Promise<Reply | undefined>;
  /** Keep each value's count and each arrival in the ledger (default), or counters only. */
  readonly keepValues?: boolean;
  /** Credits per charged call, by operation; 1 by default. The test action ids stay free. */
  readonly cost?: Partial<Record<Operation, number>>;
}

/** A reply, and what the unscripted answer would be. */
export interface Taken {
  readonly reply: Reply;
  readonly own: () => RequestBody;
}

/**
 * The test service: it speaks the interface, keeps the books and replies as scripted, without a socket or a clock. It
 * has two doors: HTTP (`api-server.ts`) and memory (`api-memory.ts`).
 */
export class ServiceCore {
  ledger: Ledger;
  key: string;
  latencyMs: number;
  script: CoreOptions['script'];
  readonly #options: CoreOptions;
  #limit: Limit | undefined;
  #passed = new SlidingCount();

  constructor(options: CoreOptions) {
    this.#options = options;
    this.ledger = new Ledger(options.keepValues ?? true);
    this.key = options.key;
    this.latencyMs = options.latencyMs ?? 0;
    this.script = options.script;
    this.#limit = options.limit;
  }

  /** Begins a new ledger, in which nothing was asked for. */
  newLedger = (): void => {
    this.ledger = new Ledger(this.#options.keepValues ?? true);
  };
  setLimit = (limit: Limit | undefined): void => {
    this.#limit = limit;
    this.#passed = new SlidingCount();
  };
  setKey = (key: string) => void Object.assign(this, {key});
  setScript = (script: CoreOptions['script']) => void Object.assign(this, {script});
  setLatency = (latencyMs: number) => void Object.assign(this, {latencyMs});

  take({head, method, text, nowMs}: Received): Taken | Promise<Taken> {
    const {ledger} = this;
    if (text.includes(this.key)) ledger.keySeen++;
    const operation = operationNames.map(name => operations[name]).find(({path}) => path === head.path);
    if (!operation || method !== 'POST') {
      ledger.violated(`${method} ${head.path}`);
      return this.#refuse(operation ? 405 : 404, 'not_found');
    }
    const body = parseObject(text);
    const value = body?.[operation.field];
    if (!body || typeof value !== 'string') {
      ledger.violated(`${head.path}: no ${body ? operation.field : 'JSON object'}`);
      return this.#refuse(400, 'invalid_request');
    }
    for (const name of Object.keys(body))
      if (!Object.hasOwn(operation.request.shape, name)) ledger.violated(`${head.path}: ${name}`);
    if (!head.headers['content-type']?.startsWith('application/json'))
      ledger.violated(`${head.path}: content-type`);
    const attempt = ledger.called(operation.name, value);
    const call = {...head, call: ledger.calls, operation: operation.name, value, attempt, body};
    const scripted = this.script?.(call);
    if (scripted instanceof Promise) return scripted.then(reply => this.#settle(call, reply, nowMs));
    return this.#settle(call, scripted, nowMs);
  }

  #refuse(status: number, message: string): Taken {
    this.ledger.answered(status);
    return {reply: reply.error(status, message), own: () => ({})};
  }

  /** Enters into the books what the call is answered with and what it costs. */
  #settle(call: Call, scripted: Reply | undefined, nowMs: number): Taken {
    const {operation, body} = call;
    const isWrongKey = body['api_key'] !== this.key;
    if (isWrongKey) this.ledger.wrongKey++;
    const said =
      scripted ??
      (isWrongKey ? reply.error(401, INVALID_TOKEN_CODE) : (refused(call) ?? this.#overLimit(call, nowMs))) ??
      reply.ok({delayMs: this.latencyMs});
    this.ledger.answered(said.kind === 'answer' ? said.status : said.kind);
    if (said.charge ?? isChargedFor(said)) {
      const cost = price(operation, body) * (this.#options.cost?.[operation] ?? 1);
      this.ledger.paid(operation, cost);
    }
    return {reply: said, own: () => answer(operation, body, operation === 'verify' && call.attempt > 1)};
  }

  #overLimit(call: Call, nowMs: number): Reply | undefined {
    if (!this.#limit) return undefined;
    if (this.#passed.count(nowMs) >= this.#limit.perSecond)
      return this.#limit.reply?.(call) ?? reply.throttle(1);
    this.#passed.add(nowMs);
    return undefined;
  }
}

function refused({operation, body}: Call): Reply | undefined {
  const code = refusal(operation, body);
  return code === undefined ? undefined : reply.error(400, code);
}

function isChargedFor(said: Reply): boolean {
  if (said.kind !== 'answer') return true;
  const names = Object.keys(said.headers ?? {}).map(name => name.toLowerCase());
  return isCharged(said.status, names.includes('retry-after'));
}

function parseObject(text: string): RequestBody | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return body !== null && typeof body === 'object' && !Array.isArray(body) ? {...body} : undefined;
  } catch {
    return undefined;
  }
}
