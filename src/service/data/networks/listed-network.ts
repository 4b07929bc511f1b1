/** An operator on one of the lists that this project keeps. */
export interface ListedNetwork {
  /** Its operator, by the name that it trades under. */
  operator: string;
  /** The operator's AS numbers. */
  asns: readonly number[];
  /** Why its networks are on the list. */
  reason: string;
  /** Where that can be read. */
  source: string;
}

/** Networks that are listed for one reason: operator, AS numbers, and where that can be read. */
export const listed = (reason: string) => (operator: string, asns: readonly number[], source: string) => ({
  operator,
  asns,
  reason,
  source,
});
