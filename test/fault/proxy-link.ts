import {connect, type Socket} from 'node:net';
import {type Direction, type Faults, type Lane, startLane} from './proxy-lane.ts';

/** Counts of a proxy. */
export interface Seen {
  connections: number;
  requests: number;
  /** Bytes from clients. */
  up: number;
  /** Bytes from the server. */
  down: number;
  resets: number;
  cuts: number;
}

export interface LinkOptions {
  readonly client: Socket;
  readonly targetPort: number;
  readonly own: Faults | undefined;
  readonly common: () => Faults;
  readonly nextRequest: (onConnection: number) => Faults | undefined;
  readonly random: () => number;
  readonly seen: Seen;
}

/** A connection through the proxy: the client's socket and the one to the server. */
export interface Link {
  readonly ended: Promise<unknown>;
  wake(): void;
  break(): void;
  finish(): void;
}

/** Connects to the server and passes bytes both ways. */
export function startLink({client, targetPort, own, common, nextRequest, random, seen}: LinkOptions): Link {
  const server = connect({port: targetPort, host: '127.0.0.1', allowHalfOpen: true, noDelay: true});
  let forRequest: Faults | undefined;
  let requests = 0;
  let answering = true;
  const faults = (): Faults => ({...common(), ...own, ...forRequest});
  const breakOff = () => {
    seen.resets++;
    client.resetAndDestroy();
    server.resetAndDestroy();
  };
  const finish = () => {
    client.destroy();
    server.destroy();
  };
  const cut = (how: 'close' | 'reset') => {
    seen.cuts++;
    if (how === 'reset') breakOff();
    else finish();
  };
  const lanes: Lane[] = [];
  const wake = () => {
    for (const lane of lanes) lane.wake();
  };
  const onBytes = (direction: Direction, bytes: number) => {
    seen[direction] += bytes;
    if (direction === 'down') {
      answering = true;
      return;
    }
    if (!answering) return;
    answering = false;
    forRequest = nextRequest(++requests);
    for (const lane of lanes) lane.restart();
  };
  const both = {faults, random, breakOff, cut, onBytes};
  lanes.push(startLane({...both, direction: 'up', from: client, to: server}));
  lanes.push(startLane({...both, direction: 'down', from: server, to: client}));
  // A broken end breaks the other: what TCP peers see of each other.
  client.on('error', () => server.resetAndDestroy());
  server.on('error', () => client.resetAndDestroy());
  const ended = Promise.all([closed(client), closed(server)]);
  return {ended, wake, break: breakOff, finish};
}

function closed(socket: Socket): Promise<void> {
  return new Promise(resolve => socket.once('close', () => resolve()));
}
