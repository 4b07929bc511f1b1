import {networkCode, type RawResponse, withoutResponse} from '../../../src/client/classify.ts';
import type {Transport, TransportOptions} from '../../../src/client/http/transport.ts';
import type {Course, Fault, RunSpec} from '../model/commands.ts';
import {isRefused, type Operation} from '../model/places.ts';
import type {Inode} from './disk.ts';
import type {Process} from './process.ts';
import type {World} from './world.ts';

/** One call, as the service has it in its own books. */
export interface Call {
  readonly number: number;
  /** Of the session's calls. */
  readonly nth: number;
  readonly process: Process;
  readonly spec: RunSpec;
  /** The ledger of its run. */
  readonly ledger: Inode | undefined;
  readonly url: URL;
  readonly key: string;
  readonly operation: Operation;
  readonly value: string;
  readonly sentMs: number;
  readonly sentAt: number;
  /** Numbers of the events of sending and hearing: their order is known within one moment. */
  sentOrder: number;
  heardOrder: number;
  /** True if the service carried the call out, or charged it. */
  carriedOut: boolean;
  charged: boolean;
  /** What the run heard; undefined if it ended before. */
  told: Told | undefined;
  toldMs: number;
  toldAt: number;
  /** The code of a failure. */
  code: string;
  /** True if the verdict said that the token had been verified before. */
  redeemed: boolean;
}

type Told = 'answered' | 'rejected' | 'throttled' | 'ambiguous' | 'unreadable' | 'not sent' | 'fatal';

/** The session that calls are made for. */
export interface Asker {
  readonly process: Process;
  readonly spec: RunSpec;
  readonly course: Course;
  calls: number;
}

/** The service's end of a call: what it does on arrival, and what the caller's socket gets. */
interface Reply {
  readonly told: Told;
  readonly code?: string;
  readonly arrive: () => void;
  readonly socket:
    | {readonly status: number; readonly body: string; readonly retryAfter?: string}
    | SocketError;
  readonly afterMs?: number;
}

interface SocketError {
  readonly error: string;
  readonly isConnected: boolean;
}

const paths: Readonly<Record<string, readonly [Operation, string]>> = {
  '/intelligence/ip': ['ip', 'ip'],
  '/intelligence/phone': ['phone', 'phone'],
  '/intelligence/email': ['email', 'email'],
  '/verify': ['verify', 'token'],
};

/** The name by which a call's answer can be told from all others. */
export const serialOf = ({number}: Pick<Call, 'number'>) => String(1_000_000 + number);

/** The simulated service. It keeps the true books. */
export class Service {
  readonly calls: Call[] = [];
  readonly #world: World;
  readonly #redeemed = new Set<string>();
  #order = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /** The transport of the process whose code is running. */
  transportFor(askerOf: () => Asker): (options: TransportOptions) => Transport {
    return ({timeoutMs}) => ({
      post: (url, body) => this.#post(askerOf(), url, body, timeoutMs),
      close() {},
    });
  }

  #post(asker: Asker, url: URL, body: string, timeoutMs: number): ReturnType<Transport['post']> {
    const {course} = asker;
    asker.calls += 1;
    const call = this.#callOf(asker, url, JSON.parse(body));
    const fault = course.faults.find(({from, count}) => call.nth >= from && call.nth < from + count)?.kind;
    const reply = this.#reply(call, fault, timeoutMs);
    const leave = () => {
      call.sentOrder = ++this.#order;
      this.calls.push(call);
      reply.arrive();
    };
    // At a kill in the middle, it may or may not have left.
    this.#world.step(
      () => `ask ${call.operation} ${call.value} #${call.number} (${fault ?? 'fine'})`,
      leave,
      () => {
        if (this.#world.random() < 0.5) leave();
      },
    );
    const latencyMs = reply.afterMs ?? course.latencyMs * (0.5 + this.#world.random());
    return new Promise(resolve => {
      this.#world.poll(latencyMs, () =>
        this.#world.step(
          () => `hear of #${call.number}: ${reply.told}`,
          () => {
            this.#hear(call, reply);
            resolve(atSocket(reply.socket, latencyMs));
          },
        ),
      );
    });
  }

  #callOf({process, spec, calls}: Asker, url: URL, sent: Readonly<Record<string, string>>): Call {
    const [operation, field] = paths[url.pathname] ?? ['ip', 'ip'];
    return {
      number: this.calls.length + 1,
      nth: calls,
      process,
      spec,
      ledger: process.ledger,
      url,
      key: sent['api_key'] ?? '',
      operation,
      value: sent[field] ?? '',
      sentMs: this.#world.nowMs,
      sentAt: this.#world.wallMs,
      sentOrder: 0,
      heardOrder: Number.POSITIVE_INFINITY,
      carriedOut: false,
      charged: false,
      told: undefined,
      toldMs: Number.POSITIVE_INFINITY,
      toldAt: Number.POSITIVE_INFINITY,
      code: '',
      redeemed: false,
    };
  }

  #hear(call: Call, {told, code = ''}: Reply): void {
    call.told = told;
    call.code = code;
    call.heardOrder = ++this.#order;
    call.toldMs = this.#world.nowMs;
    call.toldAt = this.#world.wallMs;
  }

  #reply(call: Call, fault: Fault['kind'] | undefined, timeoutMs: number): Reply {
    const perhaps = () => {
      if (this.#world.random() < 0.5) this.#carryOut(call);
    };
    const always = () => this.#carryOut(call);
    const never = () => {};
    switch (fault) {
      case 'throttled':
        return {told: 'throttled', arrive: never, socket: {...error(429, 'slow_down'), retryAfter: '1'}};
      case 'broken':
        return {told: 'ambiguous', code: 'http_500', arrive: perhaps, socket: {status: 500, body: '{}'}};
      case 'reset':
        return lost('ECONNRESET', perhaps);
      case 'late':
        return {...lost('ETIMEDOUT', always), afterMs: timeoutMs};
      case 'slow':
        return {...this.#fine(call), afterMs: 0.9 * timeoutMs};
      case 'refused':
        return {told: 'not sent', arrive: never, socket: {error: 'ECONNREFUSED', isConnected: false}};
      case 'garbled':
        return {
          told: 'unreadable',
          code: 'bad_response',
          arrive: always,
          socket: {status: 200, body: 'no object'},
        };
      case 'no credits':
        return {told: 'fatal', arrive: never, socket: error(402, 'no_credits')};
      case 'no access':
        // Of a verdict, that may be said of the session token.
        if (call.operation === 'verify')
          return this.#refuse(call, 'invalid_token', error(401, 'invalid_token'));
        return {told: 'fatal', arrive: never, socket: error(401, 'invalid_token')};
      case 'lost way':
        return this.#refuse(call, 'http_404', {status: 404, body: 'not found'});
      case undefined:
        return this.#fine(call);
      default:
        return fault satisfies never;
    }
  }

  #refuse(call: Call, code: string, socket: Reply['socket']): Reply {
    const {rejectedCharge} = call.spec;
    const arrive = () => {
      call.charged = rejectedCharge === 'spent' || (rejectedCharge === 'maybe' && this.#world.random() < 0.5);
    };
    return {told: 'rejected', code, arrive, socket};
  }

  #fine(call: Call): Reply {
    if (isRefused(call.value))
      return this.#refuse(call, 'value_not_supported', error(422, 'value_not_supported'));
    call.redeemed = this.#redeemed.has(call.value);
    const body = JSON.stringify({success: true, ...answerTo(call)});
    return {told: 'answered', arrive: () => this.#carryOut(call), socket: {status: 200, body}};
  }

  #carryOut(call: Call): void {
    call.carriedOut = true;
    call.charged = true;
    if (call.operation === 'verify') this.#redeemed.add(call.value);
  }
}

function error(status: number, message: string) {
  return {status, body: JSON.stringify({success: false, message})};
}

function lost(code: string, arrive: () => void): Reply {
  return {told: 'ambiguous', code: networkCode(code), arrive, socket: {error: code, isConnected: true}};
}

/** What the run's own code makes of it: a raw response, or an error of the socket. */
function atSocket(
  socket: Reply['socket'],
  latencyMs: number,
): RawResponse | ReturnType<typeof withoutResponse> {
  if ('error' in socket) return withoutResponse(networkCode(socket.error), socket.isConnected, latencyMs);
  const {status, body, retryAfter} = socket;
  return {status, body, latencyMs, pace: {limits: {}, retryAfter}};
}

/** The fields that have the serial, in answers and as columns. */
export const serialColumns: Readonly<Record<Operation, string>> = {
  ip: 'isp',
  phone: 'carrier',
  email: 'normalized_email',
  verify: 'device_fingerprint',
};

function answerTo(call: Call): object {
  const serial = serialOf(call);
  if (call.operation === 'verify')
    return {verdict: {can_pass: true, redeemed: call.redeemed}, score: 90, device: {fingerprint: serial}};
  return {
    data: {
      // At times of another type than the interface's: it is paid for anyway.
      [serialColumns[call.operation]]: call.number % 3 === 0 ? Number(serial) : serial,
      ...(call.operation === 'ip' && {is_vpn: call.number % 4 !== 0}),
      // An answer that repeats its request has the key in it.
      ...(call.number % 5 === 0 && {shade: `grey ${call.key}`}),
    },
  };
}
