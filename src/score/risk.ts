/** What the rules say of a row. */
export type RiskLevel = 'low' | 'medium' | 'high' | 'unknown';

export interface Risk {
  /** 0 to 100; null where too little is known to give a number, as any number would be taken for an answer. */
  readonly score: number | null;
  readonly level: RiskLevel;
  /** The reasons of the rules that applied, in the rules' order. */
  readonly reasons: readonly string[];
  /** What rules needed and did not have: a lookup (`phone`), or a field of its answer (`ip.is_vpn`). */
  readonly missing: readonly string[];
}
