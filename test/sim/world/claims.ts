import type {Process} from './process.ts';

/** Returns the process whose code runs. */
let current: () => Process | undefined = () => undefined;
/** By name: the process that buys the value. The claims of one that has ended are free. */
const held = new Map<string, Process>();

export function claimsAreOf(process: () => Process | undefined): void {
  current = process;
  held.clear();
}

/** In place of the file of claims: what processes tell each other through it. */
export class Claims {
  readonly #own = current();

  claim(names: readonly string[]): readonly string[] {
    const free = this.freed(names);
    for (const name of free) if (this.#own !== undefined) held.set(name, this.#own);
    return free;
  }

  release(names: readonly string[]): void {
    for (const name of names) if (held.get(name) === this.#own) held.delete(name);
  }

  freed(names: readonly string[]): readonly string[] {
    return names.filter(name => {
      const holder = held.get(name);
      return holder === undefined || holder === this.#own || !holder.alive;
    });
  }

  close(): void {
    for (const [name, holder] of held) if (holder === this.#own) held.delete(name);
  }
}
