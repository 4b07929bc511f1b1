import type {Agent, ClientRequest, IncomingMessage} from 'node:http';
import type {Socket} from 'node:net';

/**
 * Rest after a call, in multiples of a call's usual duration. A second answer would arrive in this time, and
 * can't be taken for the next call's answer.
 */
const SHORTEST_REST_MS = 100;
/** Rest after a call, in multiples of a call's usual duration. A second answer would arrive in this time. */
const REST_IN_CALLS = 3;
/**
 * Factors by which a quicker or slower call changes the measured duration of calls. They keep that duration near
 * the quickest fifth of all calls, since slower calls may have waited for this process.
 */
const QUICKER = 0.92;
const SLOWER = 1.02;
/** Minimum milliseconds between two searches for connections that have rested. */
const LOOK_EVERY_MS = 10;

/** Error codes of a request whose connection the other side closed. */
const CLOSED = ['ECONNRESET', 'EPIPE'];
/**
 * If at least this many calls are lost on reused connections, no connection is reused any more. This is below
 * a value's default number of attempts (3), so a value that lost these calls still has one.
 */
const FEWEST_LOST = 2;
/**
 * Second condition, besides {@link FEWEST_LOST}: more than this share of the calls on reused connections was
 * lost. A smaller share is normal: a server that closes idle connections causes a loss now and then.
 */
const LOST_SHARE = 0.2;

/** The response 408, with which a server may announce that it closes an idle connection (RFC 9110, 15.5.9). */
const IDLE_CLOSE = /^HTTP\/1\.[01] 408 /;
/**
 * A server may announce in the header `Keep-Alive` when it closes an idle connection. The connection gets no
 * call in this many milliseconds before.
 */
const CLOSING_SOON_MS = 1_000;

/** A connection that has carried a call. */
interface Link {
  readonly socket: Socket;
  /** Number of calls that the connection was given. */
  calls: number;
  /** Start of the latest call, and the call's answer once the answer's head arrived. */
  startedAt: number;
  answer: IncomingMessage | undefined;
  /** True between two calls. The connection has been idle since `idleSince`, and can be used until `goodUntil`. */
  isIdle: boolean;
  idleSince: number;
  goodUntil: number;
}

/**
 * Keeps connections, and lets each rest before its next call. If bytes arrive that no request asked for, such
 * as a second answer, this class ends the connection. Otherwise Node would take these bytes for the answer to
 * the next call, which is about another value, and all later answers would be off by one.
 *
 * In two cases, no connection gets a second call from then on. The service sent bytes that no call asked for, or it
 * closed too many connections when they got a further call. A call lost that way may have been carried out.
 */
export class Connections {
  readonly #links = new Map<Socket, Link>();
  /** Connections that are idle, but not long enough to be used again. The longest idle is first. */
  readonly #resting: Link[] = [];
  /** Connections that were idle long enough. The last used is at the end: it is the least likely to be closed. */
  readonly #rested: Link[] = [];
  readonly #waiting: {readonly request: ClientRequest; readonly options: object}[] = [];
  readonly #connect: Pool['addRequest'];
  readonly #atOnce: number;
  readonly #unasked: AbortController;
  #inUse = 0;
  #look: NodeJS.Timeout | undefined;
  /** Measured duration of a call in milliseconds; undefined before the first answer. */
  #callMs: number | undefined;
  /** True once too many calls were lost on reused connections. From then on, no connection is reused. */
  #loses = false;
  /**
   * Number of calls on connections that had carried a call before. `#lost`: number of those calls that were
   * lost because the other side closed the connection.
   */
  #kept = 0;
  #lost = 0;

  /**
   * At most `atOnce` connections carry a call. If bytes arrive that answer no call, aborts `unasked`. Then
   * all objects that share `unasked` use a new connection for each call.
   */
  constructor(agent: Agent, atOnce: number, unasked: AbortController) {
    const pool = agent as Agent & Pool;
    this.#connect = pool.addRequest.bind(agent);
    this.#atOnce = atOnce;
    pool.addRequest = (request, options) => {
      this.#waiting.push({request, options});
      this.#assign();
    };
    this.#unasked = unasked;
    unasked.signal.addEventListener('abort', () => this.#endKept());
  }

  /** Calls `onSocket` once, when the call has its connection. */
  follow(request: ClientRequest, onSocket: (socket: Socket) => void): void {
    if (!this.#reuses) request.shouldKeepAlive = false;
    const assigned = (socket: Socket) => {
      const link = this.#links.get(socket) ?? this.#watch(socket);
      link.startedAt = performance.now();
      if (link.calls > 1) this.#countLosses(request);
      request.once('response', response => {
        link.answer = response;
      });
      onSocket(socket);
    };
    if (request.socket) assigned(request.socket);
    else request.once('socket', assigned);
  }

  close(): void {
    clearTimeout(this.#look);
    for (const {isIdle, socket} of this.#links.values()) if (isIdle) socket.destroy();
  }

  /** True if connections may carry further calls after their first. */
  get #reuses(): boolean {
    return !this.#loses && !this.#unasked.signal.aborted;
  }

  get #restMs(): number {
    return Math.max(SHORTEST_REST_MS, REST_IN_CALLS * (this.#callMs ?? 0));
  }

  /** Gives each waiting call a connection that was idle long enough, else a new one from Node's agent. */
  #assign(): void {
    while (this.#inUse < this.#atOnce) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      const {request, options} = next;
      if (request.destroyed) continue;
      const socket = this.#take();
      this.#inUse += 1;
      request.once('close', () => {
        this.#inUse -= 1;
        this.#ended(request, socket);
        this.#assign();
      });
      if (socket === undefined) this.#connect(request, options);
      else request.onSocket(socket);
    }
  }

  /** Takes a usable connection from `#rested`; undefined if it has no such connection. */
  #take(): Socket | undefined {
    for (let link = this.#rested.pop(); link !== undefined; link = this.#rested.pop()) {
      const {socket, goodUntil} = link;
      if (!socket.writable || performance.now() > goodUntil) {
        socket.destroy();
        continue;
      }
      link.isIdle = false;
      link.calls += 1;
      socket.ref();
      return socket;
    }
    return undefined;
  }

  #watch(socket: Socket): Link {
    const link: Link = {
      socket,
      calls: 1,
      startedAt: 0,
      answer: undefined,
      isIdle: false,
      idleSince: 0,
      goodUntil: Number.POSITIVE_INFINITY,
    };
    this.#links.set(socket, link);
    // Runs before Node's own listener, which marks answers as complete. So an answer's last bytes don't
    // count as extra.
    socket.prependListener('data', (bytes: Buffer) => {
      if (!link.isIdle && link.answer?.complete !== true) return;
      socket.destroy();
      if (!IDLE_CLOSE.test(bytes.toString('latin1', 0, 16))) this.#unasked.abort();
    });
    // An error of an idle connection does not matter, but without a listener Node would throw it.
    socket.on('error', () => {});
    socket.once('close', () => {
      this.#links.delete(socket);
      for (const list of [this.#resting, this.#rested]) {
        const at = list.indexOf(link);
        if (at >= 0) list.splice(at, 1);
      }
    });
    return link;
  }

  /**
   * Ends a call. Its connection then rests, or is closed if it can't be used again. `given`: the kept
   * connection chosen for the call. A call that ended early may not have it as `request.socket` yet.
   */
  #ended(request: ClientRequest, given: Socket | undefined): void {
    const socket = request.socket ?? given;
    const link = socket && this.#links.get(socket);
    if (link === undefined) return;
    const {answer} = link;
    link.answer = undefined;
    const now = performance.now();
    if (answer?.complete === true) {
      if (link.socket.destroyed && request.shouldKeepAlive && wasEndedHere(link.socket))
        this.#unasked.abort();
      this.#notice(now - link.startedAt);
      link.goodUntil = now + idleMsOf(answer);
    }
    const isKept = this.#reuses && answer?.complete === true && !isGateways(answer);
    if (isKept && link.socket.writable && link.goodUntil > now + this.#restMs) this.#rest(link, now);
    else link.socket.destroy();
  }

  #notice(tookMs: number): void {
    if (this.#callMs === undefined) this.#callMs = tookMs;
    else this.#callMs *= tookMs < this.#callMs ? QUICKER : SLOWER;
  }

  #rest(link: Link, now: number): void {
    const {socket} = link;
    // Makes the agent forget this connection, which must rest before the next call gets it.
    socket.emit('agentRemove');
    (socket as WithMessage)._httpMessage = null;
    socket.unref();
    link.isIdle = true;
    link.idleSince = now;
    this.#resting.push(link);
    this.#look ??= setTimeout(() => this.#lookForRested(), this.#restMs).unref();
  }

  #lookForRested(): void {
    const restedSince = performance.now() - this.#restMs;
    // First lets the event loop read data that arrived while the process was busy. Extra bytes close a
    // resting connection, so that no call gets it.
    setImmediate(() => {
      let [next] = this.#resting;
      while (next !== undefined && next.idleSince <= restedSince) {
        this.#rested.push(next);
        this.#resting.shift();
        [next] = this.#resting;
      }
      const waitMs = (next?.idleSince ?? 0) - restedSince;
      this.#look = next && setTimeout(() => this.#lookForRested(), Math.max(LOOK_EVERY_MS, waitMs)).unref();
    });
  }

  #countLosses(request: ClientRequest): void {
    this.#kept++;
    request.once('error', ({code = ''}: NodeJS.ErrnoException) => {
      if (!CLOSED.includes(code)) return;
      this.#lost++;
      if (this.#lost < FEWEST_LOST || this.#lost <= LOST_SHARE * this.#kept) return;
      this.#loses = true;
      this.close();
    });
  }

  /** Ends each connection that got more than one call: Node may have mixed up the answers of its calls. */
  #endKept(): void {
    this.close();
    for (const {calls, socket} of this.#links.values())
      if (calls > 1) socket.destroy(Object.assign(new Error('in doubt'), {code: 'ANSWER_IN_DOUBT'}));
  }
}

/** True if Node itself ended the connection. It does so if more bytes follow an answer in one chunk of data. */
function wasEndedHere(socket: Socket): boolean {
  return socket.errored === null && !socket.readableEnded;
}

/**
 * True if the response may be from a gateway that timed out. The gateway may still pass on the service's late
 * answer, so the connection must not carry another call.
 */
function isGateways({statusCode = 0}: IncomingMessage): boolean {
  return statusCode >= 500;
}

/** Milliseconds until shortly before the server closes the connection; Infinity if the server announces no time. */
function idleMsOf({headers}: IncomingMessage): number {
  const [, seconds] = /\btimeout=(\d+)/.exec(String(headers['keep-alive'] ?? '')) ?? [];
  return seconds === undefined ? Number.POSITIVE_INFINITY : Number(seconds) * 1_000 - CLOSING_SOON_MS;
}

/** A part of Node's agents that its types lack: how a request gets its connection. */
interface Pool {
  addRequest(request: ClientRequest, options: object): void;
}

/** The field that Node's own agent clears to detach an idle connection from its last request. */
interface WithMessage {
  _httpMessage?: unknown;
}
