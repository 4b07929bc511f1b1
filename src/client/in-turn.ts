import type {ClientRequest, IncomingMessage} from 'node:http';
import type {Socket} from 'node:net';

/** A server that closes a connection for being idle may say so (RFC 9110, 15.5.9). */
const IDLE_CLOSE = /^HTTP\/1\.[01] 408 /;

/**
 * Holds kept connections to one answer for each request. Bytes that come when none is awaited, such as a second answer,
 * end their connection: Node would take them for the answer to the next request, which is about another value. A second
 * answer that comes once the next request is on its way can't be told from that one's, so a service that was seen to
 * send one is given a connection for each call from then on.
 */
export class AnswersInTurn {
  /** The answer to the last request on each connection, once its head is there. */
  readonly #answers = new WeakMap<Socket, IncomingMessage | undefined>();
  readonly #onUnasked: () => void;
  /** Whether a connection may carry another request after its first. */
  #reuses = true;

  /** `onUnasked` is told once, when bytes came that were no answer to a request. */
  constructor(onUnasked: () => void) {
    this.#onUnasked = onUnasked;
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
      if (!isKept) this.#watch(socket);
      this.#answers.set(socket, undefined);
      request.once('response', response => this.#answers.set(socket, response));
      onSocket(socket);
    };
    if (request.socket) assigned(request.socket);
    else request.once('socket', assigned);
  }

  #watch(socket: Socket): void {
    // Before Node's own listener: the bytes that complete an answer must not be taken for those that follow it.
    socket.prependListener('data', (bytes: Buffer) => {
      if (this.#answers.get(socket)?.complete !== true) return;
      socket.destroy();
      if (!this.#reuses || IDLE_CLOSE.test(bytes.toString('latin1', 0, 16))) return;
      this.#reuses = false;
      this.#onUnasked();
    });
  }
}
