import type {Socket} from 'node:net';

/** `up`: from the client to the server. */
export type Direction = 'up' | 'down';

/** How a connection ends: in order (FIN) or broken off (RST). */
export type Ending = 'close' | 'reset';

/** Faults of a connection's bytes. */
export interface Faults {
  /** Delay each way, before a chunk is passed on. */
  readonly latencyMs?: number;
  /** At most this much more delay, at random; the order of bytes is kept. */
  readonly jitterMs?: number;
  /** Speed each way. */
  readonly bytesPerSecond?: number;
  /** So many bytes (1 by default) at a time, with a pause after each; `down` by default. */
  readonly drip?: {readonly everyMs: number; readonly bytes?: number; readonly direction?: Direction};
  /** Holds what comes, for as long as it is set. */
  readonly stall?: Direction | 'both';
  /** Ends both sides when so many bytes of a request (`up`) or of its answer (`down`) were passed on. */
  readonly cutAfter?: {readonly bytes: number; readonly direction: Direction; readonly ending: Ending};
  /**
   * Breaks both sides off: once connected; at the request's first byte, with nothing passed on; with half of the
   * request's first chunk passed on; or at the answer's first byte, of which the client gets nothing.
   */
  readonly reset?: 'connect' | 'before' | 'during' | 'after';
  /** How long an end (FIN) is held before it is passed on. */
  readonly slowCloseMs?: number;
}

export interface LaneOptions {
  readonly direction: Direction;
  readonly from: Socket;
  readonly to: Socket;
  /** The faults of now. */
  readonly faults: () => Faults;
  readonly random: () => number;
  readonly breakOff: () => void;
  readonly cut: (ending: Ending) => void;
  /** Told of every chunk before anything is done with it. */
  readonly onBytes: (direction: Direction, bytes: number) => void;
}

/** One direction of a connection. */
export interface Lane {
  /** A new request starts: byte counts start again. */
  restart(): void;
  /** Faults have changed: what waits looks again. */
  wake(): void;
}

interface Item {
  /** `undefined`: the sender's end. */
  readonly bytes: Buffer | undefined;
  /** Passed on no sooner than then, by `performance.now()`. */
  readonly due: number;
}

const MAX_HELD_BYTES = 256 * 1024;
/** Bandwidth is dealt out in slices of this length. */
const SLICE_MS = 20;

/** Passes bytes on from one socket to the other, with faults. */
export function startLane(options: LaneOptions): Lane {
  const {direction, from, to, faults} = options;
  const queue: Item[] = [];
  const sleeper = createSleeper();
  let held = 0;
  let received = 0;
  let forwarded = 0;
  let running = false;

  const alive = () => !to.destroyed && !from.destroyed;

  async function forward(bytes: Buffer): Promise<void> {
    for (let rest = bytes; rest.length > 0 && alive(); ) {
      const now = faults();
      if (isStalled(now, direction)) {
        await sleeper.sleep(Number.POSITIVE_INFINITY);
        continue;
      }
      const {size, pauseMs} = portion(now, direction);
      const room = now.cutAfter?.direction === direction ? now.cutAfter.bytes - forwarded : rest.length;
      const piece = rest.subarray(0, Math.max(0, Math.min(size, room)));
      rest = rest.subarray(piece.length);
      forwarded += piece.length;
      if (piece.length > 0) await new Promise<void>(resolve => to.write(piece, () => resolve()));
      if (piece.length >= room && now.cutAfter?.direction === direction) {
        options.cut(now.cutAfter.ending);
        return;
      }
      if (pauseMs > 0) await sleeper.sleep(pauseMs);
    }
  }

  async function run(): Promise<void> {
    if (running) return;
    running = true;
    for (let item = queue.shift(); item; item = queue.shift()) {
      for (
        let wait = item.due - performance.now();
        wait > 0 && !to.destroyed;
        wait = item.due - performance.now()
      )
        await sleeper.sleep(wait);
      if (item.bytes) {
        await forward(item.bytes);
        held -= item.bytes.length;
        if (held <= MAX_HELD_BYTES) from.resume();
      } else to.end();
    }
    running = false;
  }

  from.on('data', (chunk: Buffer) => {
    options.onBytes(direction, chunk.length);
    const now = faults();
    const isFirst = received === 0;
    received += chunk.length;
    if ((direction === 'up' && now.reset === 'before') || (direction === 'down' && now.reset === 'after')) {
      options.breakOff();
      return;
    }
    if (direction === 'up' && now.reset === 'during' && isFirst) {
      to.write(chunk.subarray(0, Math.ceil(chunk.length / 2)), options.breakOff);
      return;
    }
    held += chunk.length;
    if (held > MAX_HELD_BYTES) from.pause();
    queue.push({bytes: chunk, due: performance.now() + delay(now, options.random)});
    void run();
  });
  from.once('end', () => {
    queue.push({bytes: undefined, due: performance.now() + (faults().slowCloseMs ?? 0)});
    void run();
  });
  for (const socket of [from, to]) socket.once('close', sleeper.wake);

  return {
    restart() {
      received = 0;
      forwarded = 0;
    },
    wake: sleeper.wake,
  };
}

function isStalled({stall}: Faults, direction: Direction): boolean {
  return stall === 'both' || stall === direction;
}

function delay({latencyMs = 0, jitterMs = 0}: Faults, random: () => number): number {
  return latencyMs + (jitterMs > 0 ? random() * jitterMs : 0);
}

/** How many bytes may go now, and the pause after them. */
function portion({drip, bytesPerSecond}: Faults, direction: Direction): {size: number; pauseMs: number} {
  if (drip && (drip.direction ?? 'down') === direction) return {size: drip.bytes ?? 1, pauseMs: drip.everyMs};
  if (!bytesPerSecond) return {size: Number.POSITIVE_INFINITY, pauseMs: 0};
  const size = Math.max(1, Math.floor((bytesPerSecond * SLICE_MS) / 1000));
  return {size, pauseMs: (size * 1000) / bytesPerSecond};
}

/** A wait that can be ended. */
function createSleeper(): {sleep(ms: number): Promise<void>; wake(): void} {
  let end: (() => void) | undefined;
  return {
    sleep: ms =>
      new Promise(resolve => {
        const timer = Number.isFinite(ms) ? setTimeout(() => end?.(), ms) : undefined;
        end = () => {
          clearTimeout(timer);
          end = undefined;
          resolve();
        };
      }),
    wake: () => end?.(),
  };
}
