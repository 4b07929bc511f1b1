/** Credits are summed in whole thousandths. Summed as binary fractions, ten calls at 0.7 would be more than 7. */
const PER_CREDIT = 1_000;

/** Credits as settings give them, in thousandths of a credit. */
export function toThousandths(credits: number): number {
  return Math.round(credits * PER_CREDIT);
}

/** Thousandths of a credit as credits, the unit that people and summaries use. */
export function toCredits(amount: number): number {
  return amount / PER_CREDIT;
}

/** True if this amount can be counted exactly in thousandths of a credit. */
export function isExact(credits: number): boolean {
  return Number.isSafeInteger(toThousandths(credits)) && toCredits(toThousandths(credits)) === credits;
}
