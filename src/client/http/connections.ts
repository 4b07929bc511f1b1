import type {Agent, ClientRequest, IncomingMessage} from 'node:http';
import type {Socket} from 'node:net';
import type {Duplex} from 'node:stream';

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
  constructor(agent: Agent, onUnasked: () => void) {
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
