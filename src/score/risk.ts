/** What the rules say of a row. */
export type RiskLevel = 'low' | 'medium' | 'high' | 'unknown';

export interface Risk {
  /** 0 to 100; null where too little is known to give a number, as any number would be taken for an answer. */
  readonly score: number | null;
  readonly level: RiskLevel;
  /** The reasons of the rules that applied, in the rules' order. */
  readonly reasons: readonly string[];
  /** The points that each reason brought, before the sum is kept between 0 and 100. */
  readonly points: Readonly<Record<string, number>>;
  /** What rules needed and did not have: a lookup (`phone`), or a field of its answer (`ip.is_vpn`). */
  readonly missing: readonly string[];
}

/** What became of rules in a row, by their places among all; one that is in none of these did not hold. */
export interface RuleOutcomes {
  readonly held: readonly number[];
  /** Something that the rule reads was not there. */
  readonly undecided: readonly number[];
  /** All was there, and could not be worked with, such as a text that is no number. */
  readonly wrong: readonly number[];
}
