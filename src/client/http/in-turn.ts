import type {Agent, ClientRequest, IncomingMessage} from 'node:http';
import type {Socket} from 'node:net';

/** What a request ends with whose connection the other side closed. */
const CLOSED = ['ECONNRESET', 'EPIPE'];
/** So many calls are lost on kept connections before those are given up: fewer than the attempts that a value has. */
const LOST_AT_MOST = 2;
/** And so many of all calls on kept connections: a service that closes idle ones meets a call now and then. */
const LOST_SHARE = 0.2;

/** A server that closes a connection for being idle may say so (RFC 9110, 15.5.9). */
const IDLE_CLOSE = /^HTTP\/1\.[01] 408 /;

/**
 * Holds kept connections to one answer for each request. Bytes that come when none is awaited, such as a second answer,
 * end their connection: Node would take them for the answer to the next request, which is about another value. A second
 * answer that comes once the next request is on its way can't be told from that one's, so a service that was seen to
 * send one is given a connection for each call from then on. So is one that closes connections as they are used again:
 * each call that meets that may have been carried out.
 */
export class AnswersInTurn {
  /** The answer to the last request on each connection, once its head is there. */
  readonly #answers = new WeakMap<Socket, IncomingMessage | undefined>();
  readonly #unasked: AbortController;
  readonly #agents: readonly Agent[];
  /** Whether this one's connections are lost as they are used again. */
  #loses = false;
  /** Requests on connections that had carried one before, and those of them that ended with their connection. */
  #kept = 0;
  #lost = 0;

  /** `unasked` is aborted when bytes came that were no answer to a request, here or where else it is held. */
  constructor(unasked: AbortController, agents: readonly Agent[]) {
    this.#unasked = unasked;
    this.#agents = agents;
    unasked.signal.addEventListener('abort', () => this.#closeIdle());
  }

  /** Whether a connection may carry another request after its first. */
  get #reuses(): boolean {
    return !this.#loses && !this.#unasked.signal.aborted;
  }

  /** `onSocket` is told once, when the request has its connection. */
  follow(request: ClientRequest, onSocket: (socket: Socket) => void): void {
    if (!this.#reuses) request.shouldKeepAlive = false;
    const assigned = (socket: Socket) => {
      const isKept = this.#answers.has(socket);
      if (isKept && !this.#reuses) {
        socket.destroy();
        return;
      }
      if (isKept) this.#countLosses(request);
      else this.#watch(socket);
      this.#answers.set(socket, undefined);
      request.once('response', response => this.#answers.set(socket, response));
      onSocket(socket);
    };
    if (request.socket) assigned(request.socket);
    else request.once('socket', assigned);
  }

  #countLosses(request: ClientRequest): void {
    this.#kept++;
    request.once('error', ({code = ''}: NodeJS.ErrnoException) => {
      if (!CLOSED.includes(code)) return;
      this.#lost++;
      if (this.#lost < LOST_AT_MOST || this.#lost <= LOST_SHARE * this.#kept) return;
      this.#loses = true;
      this.#closeIdle();
    });
  }

  /** Or each would be given to a call, which ends with it: many in a row look like an outage. */
  #closeIdle(): void {
    for (const {freeSockets} of this.#agents)
      for (const sockets of Object.values(freeSockets)) for (const socket of sockets ?? []) socket.destroy();
  }

  #watch(socket: Socket): void {
    const hearOn = hearingOf(socket);
    // The agent's own listener, which came first, has made it idle.
    socket.on('free', () => {
      if (this.#reuses) hearOn();
      else socket.destroy();
    });
    // Before Node's own listener: the bytes that complete an answer must not be taken for those that follow it.
    socket.prependListener('data', (bytes: Buffer) => {
      if (this.#answers.get(socket)?.complete !== true) return;
      socket.destroy();
      if (IDLE_CLOSE.test(bytes.toString('latin1', 0, 16))) return;
      this.#unasked.abort();
    });
  }
}

/**
 * Node's newer agents (24.21, for one) read an idle connection by a listener of their own, below the socket's, which ends
 * it at the first byte: nobody would hear of a second answer, and the service that sends them would be asked on. So a
 * connection is given back the listener that it has from the start. Where Node calls it by another name, Node's own holds.
 */
function hearingOf(socket: Socket): () => void {
  const {_handle: first} = socket as WithHandle;
  const onread = first?.onread;
  return () => {
    const {_handle: handle} = socket as WithHandle;
    if (handle && onread !== undefined) handle.onread = onread;
  };
}

interface WithHandle {
  readonly _handle?: {onread?: unknown} | null;
}
