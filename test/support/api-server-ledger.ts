import {type Operation, operationNames, perOperation} from '../../src/operations/table.ts';
import {SlidingCount} from './api-server-core.mjs';

/** The server's own counts, against which a run's summary is checked. */
export class Ledger {
  /** HTTP requests of any kind whose head arrived. */
  requests = 0;
  /** Requests for an operation that were read to their end, whatever the answer. */
  calls = 0;
  /** Calls that were charged, at whatever price. */
  charged = 0;
  /** Cost of all charged calls. */
  credits = 0;
  inFlight = 0;
  peakInFlight = 0;
  connections = 0;
  /** Calls whose `api_key` was not the server's. */
  wrongKey = 0;
  /** Requests to any path whose body carried the key. */
  keySeen = 0;
  /** Bytes written by floods and bombs: how much of them a client let come. */
  poured = 0;
  readonly byOperation = perOperation(() => 0);
  readonly creditsByOperation = perOperation(() => 0);
  readonly byStatus = new Map<number | 'stall' | 'drop' | 'raw', number>();
  /** Per operation: value → calls. Empty where values are not kept. */
  readonly values = perOperation(() => new Map<string, number>());
  /** Other places of the key: `header <name>`, in lower case, or `url`. The first hundred. */
  readonly keyElsewhere: string[] = [];
  /** The client's violations of the interface. The first hundred. */
  readonly violations: string[] = [];
  readonly #lastSecond = new SlidingCount();
  readonly #keepValues: boolean;

  constructor(keepValues: boolean) {
    this.#keepValues = keepValues;
  }

  /** Most requests in any sliding second. */
  get maxPerSecond(): number {
    return this.#lastSecond.peak;
  }

  /** Values that were asked for. */
  distinct(): number {
    return operationNames.reduce((sum, name) => sum + this.values[name].size, 0);
  }

  /** Values that were asked for more than once, as `[operation, value, calls]`. */
  repeated(): Array<[Operation, string, number]> {
    return operationNames.flatMap(name =>
      [...this.values[name]]
        .filter(([, n]) => n > 1)
        .map(([value, n]): [Operation, string, number] => [name, value, n]),
    );
  }

  arrived(now: number): void {
    this.requests++;
    this.#lastSecond.add(now);
    if (++this.inFlight > this.peakInFlight) this.peakInFlight = this.inFlight;
  }

  /** Enters a call; returns how often its value has been asked for, this time included (0: values not kept). */
  called(operation: Operation, value: string): number {
    this.calls++;
    this.byOperation[operation]++;
    if (!this.#keepValues) return 0;
    return bump(this.values[operation], value, 1);
  }

  paid(operation: Operation, cost: number): void {
    this.charged++;
    this.credits += cost;
    this.creditsByOperation[operation] += cost;
  }

  answered(status: number | 'stall' | 'drop' | 'raw'): void {
    bump(this.byStatus, status, 1);
  }

  violated(what: string): void {
    if (this.violations.length < 100) this.violations.push(what);
  }

  leaked(where: string): void {
    if (this.keyElsewhere.length < 100) this.keyElsewhere.push(where);
  }
}

function bump<K>(map: Map<K, number>, key: K, by: number): number {
  const next = (map.get(key) ?? 0) + by;
  map.set(key, next);
  return next;
}
