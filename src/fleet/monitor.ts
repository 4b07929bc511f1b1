import type {Redis} from 'ioredis';
import type {Pause, StopReason} from '../lookup/call.ts';
import {capitalize, type Said, say, setting} from '../sentence.ts';
import {listMembers, type WorkerMember} from './roster.ts';

const CHECK_MS = 1_000;
/** Milliseconds of silence after which Redis counts as away. */
const SILENT_MS = 5_000;
/** Milliseconds after which trouble is reported to the user. */
const REPORT_AFTER_MS = 3_000;

export interface FleetMonitorOptions {
  readonly redis: Redis;
  readonly where: string;
  /** The reason why Redis refuses writes; undefined while it accepts them. */
  readonly refused: () => string | undefined;
  /** Milliseconds that the fleet may be unable to make calls before it reports an outage. */
  readonly maxOutageMs: number;
  /** Milliseconds since the epoch; never jumps. */
  readonly now: () => number;
  readonly warn: (sentence: Said) => void;
  /** Called each second with the number of workers, and of calls that they together can have in flight. */
  readonly onCapacity: (workers: number, calls: number) => void;
  readonly onOutage: (reason: Extract<StopReason, {kind: 'outage'}>) => void;
}

interface FleetTrouble {
  readonly what: string;
  readonly advice: Said;
}

const PATIENCE = say`It resumes by itself, or stops after ${setting('maxOutage')}.`;

/** A fleet makes calls with a Redis that answers and accepts writes, and at least one worker. */
export class FleetMonitor {
  readonly #options: FleetMonitorOptions;
  readonly #timer: NodeJS.Timeout;
  #workers: number | undefined;
  #checkingSince: number | undefined;
  #trouble: (FleetTrouble & {readonly since: number; isReported: boolean}) | undefined;

  constructor(options: FleetMonitorOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#check(), CHECK_MS);
    this.#check();
  }

  /** The reason why the fleet makes no calls now; undefined while it makes calls. */
  get pause(): Pause | undefined {
    if (this.#trouble === undefined) return undefined;
    return {reason: 'fleet', detail: this.#trouble.what, untilMs: this.#options.now() + CHECK_MS};
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    const {redis, now} = this.#options;
    if (this.#checkingSince === undefined && redis.status === 'ready') {
      this.#checkingSince = now();
      // If the connection breaks meanwhile, the next check notices.
      void this.#count()
        .catch(() => {})
        .finally(() => {
          this.#checkingSince = undefined;
        });
    }
    this.#setTrouble(this.#findTrouble());
  }

  async #count(): Promise<void> {
    const workers = await listMembers<WorkerMember>(this.#options.redis, 'worker');
    this.#workers = workers.length;
    const calls = workers.reduce((sum, {concurrency}) => sum + (Number(concurrency) || 0), 0);
    this.#options.onCapacity(workers.length, calls);
  }

  #findTrouble(): FleetTrouble | undefined {
    const {redis, where, refused, now} = this.#options;
    const redisFails = (how: string) => ({what: `the fleet's Redis at ${where} ${how}`, advice: PATIENCE});
    if (redis.status !== 'ready') return redisFails("can't be reached");
    if (this.#checkingSince !== undefined && now() - this.#checkingSince > SILENT_MS)
      return redisFails('does not answer');
    const refusal = refused();
    if (refusal !== undefined) return redisFails(`fails (${refusal})`);
    if (this.#workers !== 0) return undefined;
    return {
      what: `no worker is running on ${where}`,
      advice: say`Start one with: bulk-enrich worker ${setting('redis', where)}`,
    };
  }

  #setTrouble(trouble: FleetTrouble | undefined): void {
    const {now, warn, maxOutageMs, onOutage} = this.#options;
    if (trouble === undefined) {
      this.#trouble = undefined;
      return;
    }
    const at = now();
    if (this.#trouble?.what !== trouble.what)
      this.#trouble = {...trouble, since: this.#trouble?.since ?? at, isReported: false};
    const {since, isReported, what, advice} = this.#trouble;
    if (!isReported && at - since >= REPORT_AFTER_MS) {
      this.#trouble.isReported = true;
      warn(say`${capitalize(what)}: the run waits. ${advice}`);
    }
    if (at - since > maxOutageMs)
      onOutage({kind: 'outage', cause: what, sinceMs: since, comeBackMs: at, why: 'too long'});
  }
}
