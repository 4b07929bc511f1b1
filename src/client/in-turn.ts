import type {ClientRequest, IncomingMessage} from 'node:http';
import type {Socket} from 'node:net';

/**
 * Holds kept connections to one answer for each request. Bytes that come when none is awaited, such as a second answer,
 * end their connection: Node would take them for the answer to the next request, which is about another value.
 */
export class AnswersInTurn {
  /** The answer to the last request on each connection, once its head is there. */
  readonly #answers = new WeakMap<Socket, IncomingMessage | undefined>();

  /** `onSocket` is told once, when the request has its connection. */
  follow(request: ClientRequest, onSocket: (socket: Socket) => void): void {
    const assigned = (socket: Socket) => {
      if (!this.#answers.has(socket)) this.#watch(socket);
      this.#answers.set(socket, undefined);
      request.once('response', response => this.#answers.set(socket, response));
      onSocket(socket);
    };
    if (request.socket) assigned(request.socket);
    else request.once('socket', assigned);
  }

  #watch(socket: Socket): void {
    // Before Node's own listener: the bytes that complete an answer must not be taken for those that follow it.
    socket.prependListener('data', () => {
      if (this.#answers.get(socket)?.complete === true) socket.destroy();
    });
  }
}
