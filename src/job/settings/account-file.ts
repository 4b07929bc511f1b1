import {z} from 'zod';
import {rateSetting, shareSetting, strictShape, wholeNumber, withConversion} from '../setting-types.ts';
import {storeSettings} from './store-settings.ts';

const ENDPOINT = 'expected embedded, or a base URL such as https://api.example.com';

const PRICE = 'expected an amount and a currency such as 0.004 EUR';
const price = withConversion(z.string(PRICE), PRICE, text => {
  const [, amount, currency] = /^(\d+(?:\.\d+)?) ?([A-Z]{3})$/.exec(text.trim()) ?? [];
  return amount && currency ? {per_credit: Number(amount), currency} : undefined;
});

/** The file of an account, for all jobs that use it: its identity, and its limits. */
export const accountFileSchema = strictShape({
  endpoint: z
    .union([z.literal('embedded'), z.url({protocol: /^https?$/, error: ENDPOINT})], {error: ENDPOINT})
    .meta({description: "The account's service: its base URL, or embedded."}),
  account: storeSettings.account.schema.meta({description: 'The label that jobs use (--account).'}),
  rate: rateSetting.optional().meta({
    description: 'Maximum of calls a second (/s), minute (/m) or hour (/h) of each run, such as 20/s.',
  }),
  max_credits_per_day: wholeNumber(0).optional().meta({description: 'Maximum of credits in one day (UTC).'}),
  max_credits_per_month: wholeNumber(0)
    .optional()
    .meta({description: 'Maximum of credits in one month (UTC).'}),
  price: price
    .optional()
    .meta({description: 'Price of a credit, such as 0.004 EUR, to show money beside credits.'}),
  warn_at: shareSetting
    .prefault('80%')
    .meta({description: 'Warn when this share of the credits of a day or month is used.'}),
});

export type AccountFile = z.output<typeof accountFileSchema>;
