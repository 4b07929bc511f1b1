import {availableParallelism} from 'node:os';
import {extname} from 'node:path';
import {type EventLoopUtilization, performance} from 'node:perf_hooks';
import {Worker} from 'node:worker_threads';
import type {Operation} from '../../operations/table.ts';
import type {Attempt} from '../attempt.ts';
import {type Client, type ClientOptions, createClient, type Params} from '../client.ts';
import type {Transport, TransportOptions} from '../http/transport.ts';
import type {ThreadCall, ThreadCalls, ThreadData, ThreadNews, ThreadOrder} from './protocol.ts';

/** Threads that make calls: 1 is the run's own; `auto`: others take over where that one has no time left. */
export type Threads = number | 'auto';

/** More would wait for the run's own thread, which takes a third of what a call does, and a core. */
const MOST_BY_ITSELF = 4;
const LOOK_EVERY_MS = 500;
/** Threads pay where so much of its time is used, a third of it by calls, of which one takes so long on a fast machine. */
const BUSY = 0.85;
const CALL_MS = 0.2;

/**
 * A client whose calls are made by other threads, at once or once that pays; but for those of which somebody has to know
 * when they leave, as several runs share their rate.
 */
export function createThreadedClient(
  options: ClientOptions,
  threads: Threads,
  transport?: (options: TransportOptions) => Transport,
): Client {
  if (threads === 1 || transport !== undefined || (threads === 'auto' && availableParallelism() < 2))
    return createClient(options, transport);
  const pool = new CallThreads(options, threads);
  const {own} = pool;
  return {
    ...own,
    send: (operation, params, onLeaving) =>
      onLeaving === undefined ? pool.send(operation, params) : own.send(operation, params, onLeaving),
    close() {
      pool.close();
      own.close();
    },
  };
}

class CallThreads {
  /** Makes calls on this thread. */
  readonly own: Client;
  readonly #options: ClientOptions;
  readonly #unasked: AbortController;
  /** The key that was read last, and what reads it again. */
  #key: string;
  #reading: Promise<string> | undefined;
  readonly #threads = new Set<CallThread>();
  readonly #timer: NodeJS.Timeout | undefined;
  #used: EventLoopUtilization = performance.eventLoopUtilization();
  #sent = 0;
  /** Where the calls of this moment go. */
  #chosen: CallThread | undefined;
  #isClosed = false;

  constructor(options: ClientOptions, threads: Threads) {
    const {readKeyAgain, unasked = new AbortController()} = options;
    this.#options = options;
    this.#unasked = unasked;
    this.#key = options.apiKey;
    const readAgain = (rejected: string) => this.#readKeyAgain(rejected);
    this.own = createClient({...options, unasked, readKeyAgain: readKeyAgain && readAgain});
    // What one thread has seen of the service holds for all.
    unasked.signal.addEventListener('abort', () => {
      for (const thread of this.#threads) thread.tell('unasked');
    });
    if (threads === 'auto') this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
    else for (let n = 0; n < threads; n++) this.#start();
  }

  /** By the thread with the fewest in hand; what is sent in one moment goes together. */
  send(operation: Operation, params: Params): Promise<Attempt> {
    this.#sent += 1;
    if (this.#chosen === undefined) {
      for (const thread of this.#threads)
        if (thread.isReady && (this.#chosen === undefined || thread.inHand < this.#chosen.inHand))
          this.#chosen = thread;
      if (this.#chosen === undefined) return this.own.send(operation, params);
      process.nextTick(() => {
        this.#chosen?.flush();
        this.#chosen = undefined;
      });
    }
    return this.#chosen.send(operation, params);
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    for (const thread of this.#threads) thread.close();
  }

  #look(): void {
    const {utilization} = performance.eventLoopUtilization(this.#used);
    this.#used = performance.eventLoopUtilization();
    const callsMs = this.#sent * CALL_MS;
    this.#sent = 0;
    if (utilization < BUSY || callsMs < LOOK_EVERY_MS / 3) return;
    clearInterval(this.#timer);
    for (let n = 0; n < Math.min(availableParallelism() - 1, MOST_BY_ITSELF); n++) this.#start();
  }

  /** Once for all threads: the others take what the first has read. */
  #readKeyAgain(rejected: string): Promise<string> {
    if (rejected !== this.#key) return Promise.resolve(this.#key);
    this.#reading ??= this.#read(rejected);
    return this.#reading;
  }

  async #read(rejected: string): Promise<string> {
    try {
      this.#key = (await this.#options.readKeyAgain?.(rejected)) ?? this.#key;
      return this.#key;
    } finally {
      this.#reading = undefined;
    }
  }

  /** One that ended after it was of use is replaced; one that never was would not be the next time. */
  #start(): void {
    const {unasked: _, readKeyAgain, ...data} = this.#options;
    const events = {
      unasked: () => this.#unasked.abort(),
      readKey: (rejected: string) => this.#readKeyAgain(rejected),
      ended: (thread: CallThread, wasReady: boolean) => {
        this.#threads.delete(thread);
        if (this.#chosen === thread) this.#chosen = undefined;
        if (wasReady && !this.#isClosed) this.#start();
      },
    };
    const state = {
      apiKey: this.#key,
      keyMayChange: readKeyAgain !== undefined,
      isUnasked: this.#unasked.signal.aborted,
    };
    try {
      this.#threads.add(new CallThread({...data, ...state}, events));
    } catch {
      // The system gives no more threads: those that there are go on, or the run's own.
    }
  }
}

interface ThreadEvents {
  readonly unasked: () => void;
  readonly readKey: (rejected: string) => Promise<string>;
  readonly ended: (thread: CallThread, wasReady: boolean) => void;
}

/** The file beside this one, which is TypeScript only where this one is. */
const THREAD = new URL(`./call-thread${extname(import.meta.url)}`, import.meta.url);

/** What a thread had in hand when it ended may have been carried out: nobody can tell. */
const lost: Attempt = {kind: 'ambiguous', code: 'thread_lost', latencyMs: 0, lost: true};

class CallThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, (attempt: Attempt) => void>();
  #calls: ThreadCall[] = [];
  #next = 0;
  isReady = false;

  constructor(data: ThreadData, events: ThreadEvents) {
    this.#worker = new Worker(THREAD, {workerData: data});
    // A run waits for its calls, and not for threads that have none.
    this.#worker.unref();
    this.#worker.on('message', (news: ThreadNews) => this.#hear(news, events));
    // The end of it, which follows, is what counts.
    this.#worker.on('error', () => {});
    this.#worker.once('exit', () => {
      const wasReady = this.isReady;
      this.isReady = false;
      events.ended(this, wasReady);
      for (const tell of this.#waiting.values()) tell(lost);
      this.#waiting.clear();
    });
  }

  /** Calls that are not over. */
  get inHand(): number {
    return this.#waiting.size;
  }

  send(operation: Operation, params: Params): Promise<Attempt> {
    const id = this.#next++;
    this.#calls.push({id, operation, params});
    return new Promise(resolve => {
      if (this.#waiting.size === 0) this.#worker.ref();
      this.#waiting.set(id, resolve);
    });
  }

  flush(): void {
    this.#worker.postMessage(this.#calls);
    this.#calls = [];
  }

  close(): void {
    void this.#worker.terminate();
  }

  tell(order: Exclude<ThreadOrder, ThreadCalls>): void {
    this.#worker.postMessage(order);
  }

  #hear(news: ThreadNews, events: ThreadEvents): void {
    switch (news.kind) {
      case 'ready':
        this.isReady = true;
        break;
      case 'unasked':
        events.unasked();
        break;
      case 'key':
        events.readKey(news.rejected).then(
          key => this.tell({key}),
          (error: unknown) => this.tell({why: error instanceof Error ? error.message : String(error)}),
        );
        break;
      case 'answers':
        for (const [id, attempt] of news.answers) {
          this.#waiting.get(id)?.(attempt);
          this.#waiting.delete(id);
        }
        if (this.#waiting.size === 0) this.#worker.unref();
        break;
      default:
        news satisfies never;
    }
  }
}
