/** A fault of some of a command's calls: of `count` calls, from number `from` on. */
export interface Fault {
  readonly from: number;
  readonly count: number;
  readonly kind:
    | 'throttled'
    | 'broken'
    | 'reset'
    | 'late'
    /** Answered just within the time that a call may take. */
    | 'slow'
    | 'refused'
    | 'garbled'
    | 'no credits'
    | 'lost way'
    | 'no access'
    /** The account is refused, as if it were the value. */
    | 'denied';
}
