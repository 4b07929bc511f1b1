/** What goes wrong with some of a command's calls: with `count` of them, from number `from` on. */
export interface Fault {
  readonly from: number;
  readonly count: number;
  readonly kind:
    | 'throttled'
    | 'broken'
    | 'reset'
    | 'late'
    | 'refused'
    | 'garbled'
    | 'no credits'
    | 'lost way'
    | 'no access'
    /** The account is refused, as if it were the value. */
    | 'denied';
}
