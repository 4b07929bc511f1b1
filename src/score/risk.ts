/** Level of risk that the rules give a row. */
export type RiskLevel = 'low' | 'medium' | 'high' | 'unknown';

export interface Risk {
  /** 0 to 100; null if the level is unknown, since a reader would take any number for a result. */
  readonly score: number | null;
  readonly level: RiskLevel;
  /** The reasons of the rules that applied, in the rules' order. */
  readonly reasons: readonly string[];
  /** The points of each reason, before the sum is limited to 0 to 100. */
  readonly points: Readonly<Record<string, number>>;
  /** Lookups (`phone`) and fields of answers (`ip.is_vpn`) that rules needed and lacked. */
  readonly missing: readonly string[];
  /** By lookup: how many in the list share its value. Only if the setting `fields` has `risk.shared`. */
  readonly shared?: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** Indexes of rules, by their outcome for one row. A rule in none of these lists did not hold. */
export interface RuleOutcomes {
  readonly held: readonly number[];
  /** Rules without a result, since a lookup or field that they read is missing. */
  readonly undecided: readonly number[];
  /** Rules whose values could not be used, such as a text that is not a number. */
  readonly wrong: readonly number[];
}
