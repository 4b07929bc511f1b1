import {ClientRequest, type Agent as HttpAgent, type IncomingMessage, type RequestOptions} from 'node:http';
import type {Agent as HttpsAgent} from 'node:https';
import type {Socket} from 'node:net';
import type {Duplex} from 'node:stream';
import type {ExtendOptions} from 'got';

/** Error codes of a request whose connection the other side closed. */
const CLOSED = ['ECONNRESET', 'EPIPE'];
/** Calls lost on reused connections from which on none is reused: a value with the default of 3 sends has one left. */
const FEWEST_LOST = 2;
/** And the share of calls on reused connections: a server that closes idle ones loses a call now and then. */
const LOST_SHARE = 0.2;

/** The response 408, with which a server may announce that it closes an idle connection (RFC 9110, 15.5.9). */
const IDLE_CLOSE = /^HTTP\/1\.[01] 408 /;

/** Watches kept connections. Bytes on an idle one end it: Node would take them for the next answer. */
export class IdleConnectionGuard {
  readonly #tell: () => void;
  readonly #isIdle = new WeakMap<Duplex, boolean>();
  /** Number of calls on connections that had carried a call before. `#lost`: those whose connection was closed. */
  #reused = 0;
  #lost = 0;
  /** True once bytes arrived that no call asked for. */
  #isUnasked = false;

  /** `onUnasked` is called each time a connection ends because of bytes that no call asked for. */
  constructor(agent: HttpAgent, onUnasked: () => void) {
    this.#tell = onUnasked;
    const keep = agent.keepSocketAlive.bind(agent);
    const isIdle = this.#isIdle;
    const refuse = (socket: Duplex, bytes: Buffer) => {
      socket.destroy();
      if (!IDLE_CLOSE.test(bytes.toString('latin1', 0, 16))) this.#unasked();
    };
    agent.keepSocketAlive = socket => {
      // One listener for the life of a connection: one for each idle time would cost more than the check.
      if (!isIdle.has(socket)) socket.on('data', bytes => isIdle.get(socket) && refuse(socket, bytes));
      isIdle.set(socket, true);
      // True if the connection may carry another call. Node's types lack this result.
      return keep(socket);
    };
  }

  /** Calls `onSocket` once, when the call has its connection. */
  begin(request: ClientRequest, onSocket: (socket: Socket) => void): void {
    if (this.#isUnasked || this.#loses) request.shouldKeepAlive = false;
    const assigned = (socket: Socket) => {
      if (request.reusedSocket) {
        this.#reused += 1;
        this.#isIdle.set(socket, false);
      }
      onSocket(socket);
    };
    if (request.socket) assigned(request.socket);
    else request.once('socket', assigned);
  }

  /** Follows a call's answer, of which the head has come. */
  answered(request: ClientRequest, response: IncomingMessage): void {
    // A gateway that timed out may still pass on the service's late answer.
    if ((response.statusCode ?? 0) >= 500) request.shouldKeepAlive = false;
    // Node itself ends a connection if more bytes follow an answer in one piece with it.
    const {socket} = response;
    response.once('end', () => {
      if (socket.destroyed && request.shouldKeepAlive && socket.errored === null && !socket.readableEnded)
        this.#unasked();
    });
  }

  failed(request: ClientRequest, code: string): void {
    if (request.reusedSocket && CLOSED.includes(code)) this.#lost += 1;
  }

  #unasked(): void {
    this.#isUnasked = true;
    this.#tell();
  }

  /** True once too many calls were lost on reused connections. */
  get #loses(): boolean {
    return this.#lost >= FEWEST_LOST && this.#lost > LOST_SHARE * this.#reused;
  }
}

/**
 * Options with which got passes only what is needed to Node's client, instead of some forty that Node copies several
 * times. Measured on Node 20: a call takes 110 µs with them, 210 without, 65 with `node:http`.
 */
export function slimRequestOptions(url: URL, agent: HttpAgent | HttpsAgent): ExtendOptions {
  const method = 'POST';
  const {protocol, pathname: path} = url;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  // Named even if it is the default: the agent keeps connections by host and port.
  const port = url.port || (protocol === 'http:' ? 80 : 443);
  return {
    request: (_, options) => new KeptSocketRequest(options as RequestOptions),
    handlers: [
      (options, next) => {
        const slim = () => ({agent, method, protocol, host, port, path, headers: options.headers});
        return next(Object.assign(options, {createNativeRequestOptions: slim}));
      },
    ],
  };
}

/** A request that `got` takes for timed. Otherwise `got` would add a dozen listeners for unused timings. */
class KeptSocketRequest extends ClientRequest {
  readonly timings = {phases: {}};
  readonly #options: RequestOptions;

  constructor(options: RequestOptions) {
    super(options);
    this.#options = options;
  }

  /**
   * A kept connection may have been closed before Node could read that; a call on it would be lost, and perhaps
   * charged. So a call waits until Node has polled once more (two turns), and takes another connection if this one is
   * closed.
   */
  override onSocket(socket: Socket, error?: Error): void {
    const assign = super.onSocket.bind(this) as ClientRequest['onSocket'] & typeof this.onSocket;
    // Without a connection the error comes instead of a socket.
    if (!socket?.bytesRead) {
      assign(socket, error);
      return;
    }
    const ignore = () => {};
    socket.on('error', ignore);
    setImmediate(() =>
      setImmediate(() => {
        socket.off('error', ignore);
        if (this.destroyed || (socket.readable && socket.writable)) return assign(socket);
        this.reusedSocket = false;
        (this.#options.agent as QueueingAgent).addRequest(this, this.#options);
      }),
    );
  }
}

/** Node's agent, with a method that its types lack. It gives the request a connection, at once or in its turn. */
type QueueingAgent = HttpAgent & {addRequest(request: ClientRequest, options: RequestOptions): void};
