import type {World} from './world.ts';

/** Keys of the simulated Redis with what they hold and how long, and its channels. */
export class Keyspace {
  readonly world: World;
  readonly values = new Map<string, unknown>();
  readonly expiries = new Map<string, number>();
  readonly #subscribers = new Set<{readonly channel: string; readonly hear: (message: string) => void}>();

  constructor(world: World) {
    this.world = world;
  }

  value<T>(key: string): T | undefined {
    const until = this.expiries.get(key);
    if (until !== undefined && until <= this.world.steadyMs) this.remove(key);
    return this.values.get(key) as T | undefined;
  }

  remove(key: string): boolean {
    this.expiries.delete(key);
    return this.values.delete(key);
  }

  set(key: string, value: unknown, forMs?: number): void {
    this.values.set(key, value);
    if (forMs === undefined) this.expiries.delete(key);
    else this.expiries.set(key, this.world.steadyMs + forMs);
  }

  list(key: string): string[] {
    return this.collection(key, () => []);
  }

  members(key: string): Set<string> {
    return this.collection(key, () => new Set());
  }

  collection<T>(key: string, make: () => T): T {
    const found = this.value<T>(key);
    if (found !== undefined) return found;
    const made = make();
    this.values.set(key, made);
    return made;
  }

  expire(key: string, ms: number): boolean {
    if (this.value(key) === undefined) return false;
    this.expiries.set(key, this.world.steadyMs + ms);
    return true;
  }

  /** As Redis says it: -2 of what is not there, -1 of what never expires. */
  leftMs(key: string): number {
    if (this.value(key) === undefined) return -2;
    return Math.ceil((this.expiries.get(key) ?? this.world.steadyMs - 1) - this.world.steadyMs);
  }

  /** For how long the first of these to expire is there still, in milliseconds. */
  leastLeft(keys: readonly string[]): number {
    const left = (key: string) =>
      this.value(key) === undefined ? 0 : (this.expiries.get(key) ?? 0) - this.world.steadyMs;
    return Math.min(...keys.map(left));
  }

  subscribe(channel: string, hear: (message: string) => void): void {
    this.#subscribers.add({channel, hear});
  }

  /** Messages are missed while Redis is away. */
  publish(channel: string, message: string): number {
    const heard = [...this.#subscribers].filter(one => one.channel === channel);
    for (const {hear} of heard) hear(message);
    return heard.length;
  }
}
