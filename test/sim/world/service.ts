import type {Attempt} from '../../../src/client/attempt.ts';
import type {RawResponse} from '../../../src/client/classify.ts';
import type {Transport, TransportOptions} from '../../../src/client/http/transport.ts';
import {type Operation, operationNames, operations} from '../../../src/operations/table.ts';
import type {RunSpec} from '../model/commands.ts';
import {renewedKey} from '../model/places.ts';
import type {Inode} from './disk.ts';
import type {Fault} from './fault.ts';
import type {Process} from './process.ts';
import type {World} from './world.ts';

/** One call, as the service has it in its own books. */
export interface Call {
  readonly number: number;
  /** Of the command's calls. */
  readonly nth: number;
  readonly process: Process;
  /** The run's settings, for checks of the counts. */
  readonly spec: RunSpec;
  /** The ledger that it is in. */
  readonly ledger: Inode | undefined;
  readonly endpoint: string;
  readonly key: string;
  readonly operation: Operation;
  readonly value: string;
  readonly sentMs: number;
  /** Whatever happens has a number of its own, so that the order is known within one moment. */
  order: number;
  readonly sentAt: number;
  /** True if the service carried the call out, and charged it. */
  carriedOut: boolean;
  charged: boolean;
  /** The time at which the process got the answer; undefined if it died or gave up before. */
  toldMs: number | undefined;
  toldOrder: number;
  told: 'answered' | 'rejected' | 'throttled' | 'ambiguous' | 'unreadable' | 'not sent' | 'fatal' | undefined;
  toldAt: number;
  /** The event in which it was told. */
  toldIn: number;
  code: string;
  /** The status of the answer that it was told, and how long that took; undefined where it was told none. */
  status: number | undefined;
  latencyMs: number;
  /** True if its ledger has the answer. */
  recorded: boolean;
  /** True also if its ledger was written in the event that told the answer. */
  mayBeRecorded: boolean;
  /** For how long the claims of its fleet last, if no member renews them, in milliseconds. */
  readonly claimedMs: number;
  /** True if the verdict said that the token had been verified before. */
  redeemed: boolean;
}

/** The field of each operation's answer that names the call which it is the answer of. */
export const serialField: Readonly<Record<Operation, string>> = {
  ip: 'isp',
  phone: 'carrier',
  email: 'normalized_email',
  verify: 'device_fingerprint',
};

export function serialOf(call: Pick<Call, 'number'>): string {
  return String(1_000_000 + call.number);
}

/** The codes by which it rejects a value, and an account. */
export const REJECTED = 'value_not_supported';
export const DENIED = 'insufficient_credits';

export interface Manners {
  readonly faults: readonly Fault[];
  readonly latencyMs: number;
  /** The charge of a refused value. */
  readonly rejectedCharge: 'free' | 'maybe' | 'spent';
}

/** The run that calls are made for. */
export interface Asker {
  readonly process: Process;
  readonly spec: RunSpec;
  readonly manners: Manners;
  /** The ledger of the run before, as long as this one has not opened its own: a fleet may still have its calls. */
  readonly before: Inode | undefined;
  calls: number;
}

/** True for values that the service always refuses. */
function isRefused(value: string): boolean {
  return /(^192\.0\.2\.[12]\d\d$)|bad/.test(value);
}

/** The simulated service, at whichever endpoint: it keeps the true ledger. */
export class Service {
  readonly calls: Call[] = [];
  readonly #world: World;
  #order = 0;
  readonly #redeemed = new Set<string>();
  /** How often each account's key was renewed. */
  readonly #renewed = new Map<number, number>();
  readonly #claimedMs: () => number;

  constructor(world: World, claimedMs: () => number) {
    this.#world = world;
    this.#claimedMs = claimedMs;
  }

  /** The key that the service takes of an account whose key is in a file: from then on no earlier one. */
  keyOf(account: number): string {
    return renewedKey({account}, this.#renewed.get(account) ?? 0);
  }

  renewKey(account: number): void {
    this.#renewed.set(account, (this.#renewed.get(account) ?? 0) + 1);
  }

  /** A process has written its ledger: what it was told before is in there. */
  recorded(process: Process): void {
    for (const call of this.calls)
      if (call.process === process && call.told !== undefined) {
        call.mayBeRecorded = true;
        if (call.toldIn < this.#world.fired) call.recorded = true;
      }
  }

  /** Takes back what a run was told after it had given these calls up: no later commit of its ledger could hold it. */
  forgetLate(calls: readonly Call[]): void {
    for (const call of calls) if (!call.mayBeRecorded) call.told = undefined;
  }

  /** The transport of one process's calls. */
  transportFor(asker: () => Asker): (options: TransportOptions) => Transport {
    return ({timeoutMs}) => ({
      post: (url, body) => this.#post(asker(), url, body, timeoutMs),
      close() {},
    });
  }

  #post(asker: Asker, url: URL, body: string, timeoutMs: number): Promise<RawResponse | Attempt> {
    const {process, spec, manners} = asker;
    asker.calls += 1;
    const nth = asker.calls;
    const {api_key: key, ...params} = JSON.parse(body) as Record<string, string>;
    const operation = operationNames.find(name => url.pathname === operations[name].path) ?? 'ip';
    const value = params[operations[operation].field] ?? '';
    const call: Call = {
      number: this.calls.length + 1,
      nth,
      process,
      spec,
      ledger: process.ledger ?? asker.before,
      endpoint: url.origin,
      key: key ?? '',
      operation,
      value,
      sentMs: this.#world.steadyMs,
      sentAt: this.#world.wallMs,
      carriedOut: false,
      charged: false,
      order: 0,
      toldMs: undefined,
      toldOrder: 0,
      told: undefined,
      toldAt: 0,
      toldIn: 0,
      mayBeRecorded: false,
      code: '',
      status: undefined,
      latencyMs: 0,
      recorded: false,
      claimedMs: this.#claimedMs(),
      redeemed: false,
    };
    const isOld = spec.keyFile === true && key !== this.keyOf(spec.account);
    const fault = isOld
      ? 'no access'
      : manners.faults.find(({from, count}) => nth >= from && nth < from + count)?.kind;
    const plan = this.#answer(call, fault, manners, timeoutMs);
    const leave = () => {
      call.order = ++this.#order;
      this.calls.push(call);
      plan.arrive();
    };
    // At a kill in the middle, it may or may not have left.
    this.#world.step(
      () => `ask ${operation} ${value} #${call.number} (${fault ?? 'fine'})`,
      leave,
      () => {
        if (this.#world.random() < 0.5) leave();
      },
    );
    const delay = plan.afterMs ?? manners.latencyMs * (0.5 + this.#world.random());
    return new Promise(resolve => {
      this.#world.poll(delay, () =>
        this.#world.step(
          () => `hear of #${call.number}: ${plan.told}`,
          () => {
            call.told = plan.told;
            call.toldMs = this.#world.steadyMs;
            call.toldOrder = ++this.#order;
            call.toldAt = this.#world.wallMs;
            call.toldIn = this.#world.fired;
            call.latencyMs = delay;
            resolve(plan.response(delay));
          },
        ),
      );
    });
  }

  #answer(call: Call, fault: Fault['kind'] | undefined, manners: Manners, timeoutMs: number): Plan {
    const perhaps = () => {
      if (this.#world.random() < 0.5) this.#carryOut(call);
    };
    switch (fault) {
      case 'throttled':
        return says(call, 'throttled', 429, {success: false, message: 'slow_down'}, () => {}, {
          retryAfter: '1',
        });
      case 'broken':
        return says(call, 'ambiguous', 500, {}, perhaps);
      case 'reset':
        return fails(call, 'ambiguous', 'econnreset', perhaps);
      case 'late':
        return {...fails(call, 'ambiguous', 'timeout', () => this.#carryOut(call)), afterMs: timeoutMs};
      case 'slow':
        return {...this.#fine(call, manners), afterMs: 0.9 * timeoutMs};
      case 'refused':
        return fails(call, 'not sent', 'econnrefused', () => {});
      case 'garbled':
        return says(call, 'unreadable', 200, 'no object', () => this.#carryOut(call));
      case 'no credits':
        return says(call, 'fatal', 402, {success: false, message: 'no_credits'}, () => {});
      case 'no access':
        // Of a verdict that may be said of the session token, which is the row's own fault.
        if (call.operation === 'verify') return this.#refuses(call, 401, 'invalid_token', manners);
        return says(call, 'fatal', 401, {success: false, message: 'invalid_token'}, () => {});
      case 'lost way':
        // A bare status, as a gateway's: it says nothing of the value.
        return this.#refuses(call, 404, undefined, manners);
      case 'denied':
        return this.#refuses(call, 400, DENIED, manners);
      case undefined:
        return this.#fine(call, manners);
      default:
        return fault satisfies never;
    }
  }

  #refuses(call: Call, status: number, message: string | undefined, {rejectedCharge}: Manners): Plan {
    const body = message === undefined ? 'not found' : {success: false, message};
    return says(call, 'rejected', status, body, () => {
      call.charged = rejectedCharge === 'spent' || (rejectedCharge === 'maybe' && this.#world.random() < 0.5);
    });
  }

  #fine(call: Call, manners: Manners): Plan {
    if (isRefused(call.value)) return this.#refuses(call, 422, REJECTED, manners);
    const token = `${call.endpoint} ${call.key} ${call.value}`;
    call.redeemed = call.operation === 'verify' && (this.#redeemed.has(token) || call.value.endsWith('used'));
    return says(call, 'answered', 200, {success: true, ...answerOf(call)}, () => this.#carryOut(call));
  }

  #carryOut(call: Call): void {
    call.carriedOut = true;
    call.charged = true;
    if (call.operation === 'verify') this.#redeemed.add(`${call.endpoint} ${call.key} ${call.value}`);
  }
}

/** The fate of a call: what happens on arrival, and what the process hears. */
interface Plan {
  readonly told: NonNullable<Call['told']>;
  readonly arrive: () => void;
  readonly response: (latencyMs: number) => RawResponse | Attempt;
  readonly afterMs?: number;
}

function says(
  call: Call,
  told: Plan['told'],
  status: number,
  body: unknown,
  arrive: () => void,
  {retryAfter}: {retryAfter?: string} = {},
): Plan {
  const {message} = body as {message?: string};
  call.code = told === 'unreadable' ? 'bad_response' : (message ?? `http_${status}`);
  call.status = status;
  const pace = {limits: {}, retryAfter};
  return {told, arrive, response: latencyMs => ({status, body: JSON.stringify(body), latencyMs, pace})};
}

function fails(call: Call, told: 'ambiguous' | 'not sent', code: string, arrive: () => void): Plan {
  call.code = code;
  const kind = told === 'ambiguous' ? 'ambiguous' : 'not_sent';
  return {told, arrive, response: latencyMs => ({kind, code, latencyMs})};
}

/** An answer's text about its own call beside the serial: a country, sometimes one that the interface lacks. */
function countryOf({number}: Pick<Call, 'number'>): string {
  return number % 2 === 0 ? 'Germany' : 'France';
}

export function hasOddType({number, operation}: Pick<Call, 'number' | 'operation'>): boolean {
  return operation === 'ip' && number % 7 === 0;
}

export function hasUnknownField({number, operation}: Pick<Call, 'number' | 'operation'>): boolean {
  return operation !== 'verify' && number % 5 === 0;
}

function answerOf(call: Call): Record<string, unknown> {
  const text = serialOf(call);
  // Sometimes of another type than the interface's: it is paid for anyway.
  const serial = call.number % 3 === 0 ? Number(text) : text;
  if (call.operation === 'verify')
    return {verdict: {can_pass: true, redeemed: call.redeemed}, score: 90, device: {fingerprint: serial}};
  return {
    data: {
      [serialField[call.operation]]: serial,
      ...(call.operation === 'ip' && {
        is_vpn: call.number % 4 !== 0,
        country: countryOf(call),
        ...(hasOddType(call) && {is_tor_node: 'perhaps'}),
      }),
      // An answer that repeats its request has the key in it.
      ...(hasUnknownField(call) && {shade: `grey ${call.key}`}),
    },
  };
}
