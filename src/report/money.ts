import {z} from 'zod';

/** Price of a credit, from the account's file. */
export const priceSchema = z.object({per_credit: z.number().min(0), currency: z.string()});

export type Price = z.output<typeof priceSchema>;

/** Credits as money: `2.62 EUR`. */
export function moneyOf(credits: number, {per_credit: each, currency}: Price): string {
  return amountOf(credits * each, currency);
}

/** An amount of money: `2.62 EUR`. Amounts below 0.10 have two significant digits. */
export function amountOf(amount: number, currency: string): string {
  const isSmall = amount !== 0 && Math.abs(amount) < 0.1;
  const digits = isSmall
    ? {maximumSignificantDigits: 2}
    : {minimumFractionDigits: 2, maximumFractionDigits: 2};
  return `${amount.toLocaleString('en-US', digits)} ${currency}`;
}

/** ` (2.62 EUR)`; empty without a price. */
export function inBrackets(credits: number, price: Price | undefined): string {
  return price === undefined ? '' : ` (${moneyOf(credits, price)})`;
}
