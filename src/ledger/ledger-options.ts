import type {Limits} from './budget.ts';

export interface LedgerOptions extends Limits {
  /** Whether there was state before this that could not be read. */
  readonly lostState?: boolean | undefined;
  /** Nothing goes on from it: its files lose their names at once, so that none is left however the process ends. */
  readonly temporary?: boolean | undefined;
  /** True if there is to be a record of each call: see {@link CallRecords}. */
  readonly recordsCalls?: boolean | undefined;
  /** Gives back what a killed session took of shared budgets and did not spend: `taken` is what it took of each, by name. */
  readonly giveBack?: ((holder: string, taken: (name: string) => number) => void) | undefined;
}
