import type {Limits} from './budget.ts';

export interface LedgerOptions extends Limits {
  /** Endpoint and account of this session's values and spending, as a key. */
  readonly scope: string;
  /** True if an earlier session of the run left a state that was unreadable: it may have sent any value. */
  readonly lostState?: boolean | undefined;
  /** True for a ledger that no run resumes. Its files are unlinked while open, so a kill leaves none behind. */
  readonly temporary?: boolean | undefined;
  /** Returns unspent credits of the killed session `holder` to budgets. `taken`: credits it took, by limit. */
  readonly giveBack?: ((holder: string, taken: (name: string) => number) => void) | undefined;
}
