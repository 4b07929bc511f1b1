import type {Transport, TransportOptions} from '../../../src/client/http/transport.ts';
import {ServiceCore} from '../../support/api-core.ts';
import {type AtSocket, postTo, refusedConnection} from '../../support/api-memory.ts';
import {type Reply, reply} from '../../support/api-server-reply.ts';
import {isRefused, type Operation, TIMEOUT_MS} from '../model/places.ts';
import type {Course, Fault, RunSpec} from '../model/sequences.ts';
import type {Inode} from './disk.ts';
import type {Process} from './process.ts';
import type {RedisJob} from './redis.ts';
import type {World} from './world.ts';

/** One call, as the service has it in its own books. */
export interface Call {
  readonly number: number;
  /** Of the session's calls. */
  readonly nth: number;
  /** The chunk for which a worker made it. What it came to is told with the whole of it. */
  readonly chunk: RedisJob | undefined;
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

/** A worker that makes a call: for which chunk, and how many times the usual time its calls take. */
export type Via = {readonly chunk: RedisJob; readonly slowness: number};

/** The service's end of a call: what it does on arrival, and what it replies. */
interface Plan {
  readonly told: Told;
  readonly code?: string;
  readonly arrive: () => void;
  /** Undefined if no connection is made. */
  readonly reply: Reply | undefined;
}

/** What a run hears of the calls of a worker that is lost. */
const LOST: Pick<Plan, 'told' | 'code'> = {told: 'ambiguous', code: 'worker_lost'};

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
  /** What the calls said is checked here; the replies are the simulation's. */
  readonly core = new ServiceCore({key: '', script: () => this.#reply});
  readonly #world: World;
  #reply: Reply | undefined;
  readonly #redeemed = new Set<string>();
  /** What workers heard, and have not told yet. */
  readonly #heard = new Map<Call, Plan>();
  #order = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /** The transport of the process whose code is running. */
  transportFor(askerOf: () => Asker, via?: Via): (options: TransportOptions) => Transport {
    return ({timeoutMs}) => ({
      post: (url, body) => this.#post(askerOf(), url, body, timeoutMs, via),
      close() {},
    });
  }

  /** A chunk has come back, with what its calls came to; or no answer of it can come any more. */
  deliver(chunk: RedisJob): void {
    for (const call of this.calls)
      if (call.chunk === chunk) this.#hear(call, chunk.isLost ? LOST : (this.#heard.get(call) ?? LOST));
  }

  #post(asker: Asker, url: URL, body: string, timeoutMs: number, via?: Via): ReturnType<Transport['post']> {
    const {course} = asker;
    asker.calls += 1;
    const call = this.#callOf(asker, url, JSON.parse(body), via?.chunk);
    const fault = course.faults.find(({from, count}) => call.nth >= from && call.nth < from + count)?.kind;
    const plan = this.#plan(call, fault);
    let socket: AtSocket = refusedConnection;
    const leave = () => {
      call.sentOrder = ++this.#order;
      this.calls.push(call);
      if (call.chunk?.isLost) this.#hear(call, LOST);
      plan.arrive();
      if (plan.reply === undefined) return;
      this.#reply = plan.reply;
      socket = postTo(this.core, {url, text: body, timeoutMs, nowMs: call.sentMs});
    };
    // At a kill in the middle, it may or may not have left.
    this.#world.step(
      `ask ${call.operation} ${call.value} #${call.number} (${fault ?? 'fine'})`,
      leave,
      () => {
        if (this.#world.random() < 0.5) leave();
      },
    );
    const {afterMs, result} = socket;
    const latencyMs = afterMs ?? course.latencyMs * (via?.slowness ?? 1) * (0.5 + this.#world.random());
    return new Promise(resolve => {
      this.#world.poll(latencyMs, () =>
        this.#world.step(`hear of #${call.number}: ${plan.told}`, () => {
          if (via === undefined) this.#hear(call, plan);
          else this.#heard.set(call, plan);
          resolve(result(latencyMs));
        }),
      );
    });
  }

  #callOf({process, spec, calls}: Asker, url: URL, sent: Record<string, string>, chunk?: RedisJob): Call {
    const [operation, field] = paths[url.pathname] ?? ['ip', 'ip'];
    const {nowMs: sentMs, wallMs: sentAt} = this.#world;
    const never = Number.POSITIVE_INFINITY;
    return {
      ...{number: this.calls.length + 1, nth: calls, chunk, process, spec, ledger: process.ledger},
      ...{url, key: sent['api_key'] ?? '', operation, value: sent[field] ?? '', sentMs, sentAt, sentOrder: 0},
      ...{heardOrder: never, carriedOut: false, charged: false, redeemed: false},
      ...{told: undefined, toldMs: never, toldAt: never, code: ''},
    };
  }

  #hear(call: Call, {told, code = ''}: Pick<Plan, 'told' | 'code'>): void {
    call.told = told;
    call.code = code;
    call.heardOrder = ++this.#order;
    call.toldMs = this.#world.nowMs;
    call.toldAt = this.#world.wallMs;
  }

  #plan(call: Call, fault: Fault['kind'] | undefined): Plan {
    const perhaps = () => {
      if (this.#world.random() < 0.5) this.#carryOut(call);
    };
    const always = () => this.#carryOut(call);
    const isVerdict = call.operation === 'verify';
    const nothing = isVerdict ? {success: true} : {success: true, data: {}};
    const plan = (told: Told, arrive: () => void, own?: Reply, code = '') => ({
      told,
      code,
      arrive,
      reply: own,
    });
    const refused = (code: string, said: Reply) => this.#refuse(call, code, said);
    const never = (told: Told, said?: Reply) => plan(told, () => {}, said);
    const plans: Readonly<Record<Fault['kind'], () => Plan>> = {
      throttled: () => never('throttled', reply.throttle(1)),
      broken: () => plan('ambiguous', perhaps, reply.json({}, 500), 'http_500'),
      reset: () => plan('ambiguous', perhaps, reply.drop(), 'econnreset'),
      late: () => plan('ambiguous', always, reply.stall(), 'timeout'),
      slow: () => this.#fine(call, TIMEOUT_MS * 0.9),
      refused: () => never('not sent'),
      garbled: () => plan('unreadable', always, reply.json('no object'), 'bad_response'),
      nothing: () => plan('unreadable', always, reply.json(nothing), NOTHING),
      'no credits': () => never('fatal', reply.noCredits()),
      // Of a verdict, that may be said of the session token.
      'no access': () =>
        isVerdict ? refused(INVALID_TOKEN, reply.unauthorized()) : never('fatal', reply.unauthorized()),
      // A bare status, as a gateway's: it says nothing of the value.
      'lost way': () => refused('http_404', reply.json('not found', 404)),
    };
    return fault === undefined ? this.#fine(call) : plans[fault]();
  }

  #refuse(call: Call, code: string, refusal: Reply): Plan {
    const {rejectedCharge} = call.spec;
    const arrive = () => {
      call.charged = rejectedCharge === 'spent' || (rejectedCharge === 'maybe' && this.#world.random() < 0.5);
    };
    return {told: 'rejected', code, arrive, reply: refusal};
  }

  #fine(call: Call, delayMs?: number): Plan {
    if (isRefused(call.value)) return this.#refuse(call, REFUSED, reply.error(422, REFUSED));
    call.redeemed = this.#redeemed.has(call.value);
    const ok = reply.json(answerTo(call), 200, delayMs === undefined ? {} : {delayMs});
    return {told: 'answered', arrive: () => this.#carryOut(call), reply: ok};
  }

  #carryOut(call: Call): void {
    call.carriedOut = true;
    call.charged = true;
    if (call.operation === 'verify') this.#redeemed.add(call.value);
  }
}

/** The code of a value that the service does not take. */
export const REFUSED = 'value_not_supported';
/** The code of a session token that is not valid, or of a key that is not. */
export const INVALID_TOKEN = 'invalid_token';
/** The code of an answer that says nothing. Once two runs got it, it is the value's. */
export const NOTHING = 'bad_response';

/** The fields that have the serial, in answers and as columns. */
export const serialColumns: Readonly<Record<Operation, string>> = {
  ip: 'isp',
  phone: 'carrier',
  email: 'normalized_email',
  verify: 'device_fingerprint',
};

function answerTo(call: Call): Record<string, unknown> {
  const serial = serialOf(call);
  const verdict = {can_pass: true, redeemed: call.redeemed};
  if (call.operation === 'verify') return {success: true, verdict, score: 90, device: {fingerprint: serial}};
  return {
    success: true,
    data: {
      // At times of another type than the interface's: it is paid for anyway.
      [serialColumns[call.operation]]: call.number % 3 === 0 ? Number(serial) : serial,
      ...(call.operation === 'ip' && {is_vpn: call.number % 4 !== 0}),
      ...(call.operation === 'email' && {is_valid: true}),
      // An answer that repeats its request has the key in it.
      ...(call.number % 5 === 0 && {shade: `grey ${call.key}`}),
    },
  };
}
