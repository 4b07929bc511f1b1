import type {Redis} from 'ioredis';
import type {Pause, StopReason} from '../lookup/call.ts';
import {type Said, say, set} from '../sentence.ts';
import {listMembers, type WorkerMember} from './roster.ts';

const LOOK_MS = 1_000;
/** Milliseconds of silence after which Redis counts as away. */
const SILENT_MS = 5_000;
/** Milliseconds after which the user is told of trouble. */
const TELL_AFTER_MS = 3_000;

export interface FleetMonitorOptions {
  readonly redis: Redis;
  /** Name of this Redis in messages. */
  readonly where: string;
  /** The reason why Redis refuses writes; undefined while it accepts them. */
  readonly refused: () => string | undefined;
  /** Milliseconds that the fleet may be unable to make calls before it reports an outage. */
  readonly maxOutageMs: number;
  /** Milliseconds since the epoch. */
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

const PATIENCE = say`It resumes by itself, or stops after ${set('maxOutage')}.`;

/** Watches the fleet. To make calls, it needs a Redis that answers and accepts writes, and at least one worker. */
export class FleetMonitor {
  readonly #options: FleetMonitorOptions;
  readonly #timer: NodeJS.Timeout;
  #workers: number | undefined;
  #lookingSince: number | undefined;
  #trouble: (FleetTrouble & {readonly since: number; told: boolean}) | undefined;

  constructor(options: FleetMonitorOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
    this.#look();
  }

  /** The reason why the fleet makes no calls now; undefined while it makes calls. */
  get pause(): Pause | undefined {
    if (this.#trouble === undefined) return undefined;
    return {reason: 'fleet', detail: this.#trouble.what, untilMs: this.#options.now() + LOOK_MS};
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const {redis, now} = this.#options;
    if (this.#lookingSince === undefined && redis.status === 'ready') {
      this.#lookingSince = now();
      // If the connection breaks meanwhile, the next check notices.
      void this.#count()
        .catch(() => {})
        .finally(() => {
          this.#lookingSince = undefined;
        });
    }
    this.#note(this.#whatIsWrong());
  }

  async #count(): Promise<void> {
    const workers = await listMembers<WorkerMember>(this.#options.redis, 'worker');
    this.#workers = workers.length;
    const calls = workers.reduce((sum, {concurrency}) => sum + (Number(concurrency) || 0), 0);
    this.#options.onCapacity(workers.length, calls);
  }

  #whatIsWrong(): FleetTrouble | undefined {
    const {redis, where, refused, now} = this.#options;
    const fails = (how: string) => ({what: `the fleet's Redis at ${where} ${how}`, advice: PATIENCE});
    if (redis.status !== 'ready') return fails("can't be reached");
    if (this.#lookingSince !== undefined && now() - this.#lookingSince > SILENT_MS)
      return fails('does not answer');
    const refusal = refused();
    if (refusal !== undefined) return fails(`fails (${refusal})`);
    if (this.#workers !== 0) return undefined;
    return {
      what: `no worker is running on ${where}`,
      advice: say`Start one with: bulk-enrich worker ${set('redis', where)}`,
    };
  }

  #note(trouble: FleetTrouble | undefined): void {
    const {now, warn, maxOutageMs, onOutage} = this.#options;
    if (trouble === undefined) {
      this.#trouble = undefined;
      return;
    }
    const at = now();
    if (this.#trouble?.what !== trouble.what)
      this.#trouble = {...trouble, since: this.#trouble?.since ?? at, told: false};
    const {since, told, what, advice} = this.#trouble;
    if (!told && at - since >= TELL_AFTER_MS) {
      this.#trouble.told = true;
      warn(say`${what.charAt(0).toUpperCase()}${what.slice(1)}: the run waits. ${advice}`);
    }
    if (at - since > maxOutageMs)
      onOutage({kind: 'outage', cause: what, sinceMs: since, comeBackMs: at, why: 'too long'});
  }
}
