import type {ClaimsOptions} from '../../../src/ledger/answers/claims.ts';
import type {StoredRow} from '../../../src/ledger/answers/store-file.ts';
import type {Process} from './process.ts';

/** Returns the process whose code runs. */
let current: () => Process | undefined = () => undefined;
/** By name: the process that buys the value. The claims of one that has ended are free. */
const held = new Map<string, Process>();
/** Answers that the store does not have yet, by the process that bought them. */
const kept = new Map<Process, StoredRow[]>();

export function claimsAreOf(process: () => Process | undefined): void {
  current = process;
  held.clear();
  kept.clear();
}

export function purgeLeftAnswers(): void {
  kept.clear();
}

/** In place of the file of claims: what processes tell each other through it. */
export class Claims {
  readonly #own = current();
  readonly #options: ClaimsOptions;

  constructor(_: string, options: ClaimsOptions) {
    this.#options = options;
  }

  claim(names: readonly string[], bought: readonly StoredRow[] = []): readonly string[] {
    if (names.length + bought.length === 0 || this.#own === undefined) return names;
    kept.set(this.#own, [...(kept.get(this.#own) ?? []), ...bought]);
    for (const holder of kept.keys()) this.#takeOver(holder);
    const free = names.filter(name => [undefined, this.#own].includes(held.get(name)));
    for (const name of free) held.set(name, this.#own);
    return free;
  }

  release(names: readonly string[], isStored = false): void {
    for (const name of names) if (held.get(name) === this.#own) held.delete(name);
    if (isStored && this.#own !== undefined) kept.delete(this.#own);
  }

  freed(names: readonly string[]): readonly string[] {
    for (const holder of new Set(held.values())) this.#takeOver(holder);
    return names.filter(name => [undefined, this.#own].includes(held.get(name)));
  }

  close(): void {
    for (const [name, holder] of held) if (holder === this.#own) held.delete(name);
  }

  /** Frees the values of a process that has died, once its answers are stored. */
  #takeOver(holder: Process): void {
    const bought = kept.get(holder) ?? [];
    if (holder.alive || (bought.length > 0 && !this.#options.inherit(bought))) return;
    kept.delete(holder);
    for (const [name, one] of held) if (one === holder) held.delete(name);
  }
}
