import {z} from 'zod';
import {defaultAges} from '../../operations/table.ts';
import {
  agesSetting,
  declareGroup,
  durationBetween,
  rateSetting,
  shareSetting,
  strictShape,
  textOrNumber,
  wholeNumber,
  withConversion,
} from '../setting-types.ts';

const storeSetting = declareGroup('Answer store');
const stateSetting = declareGroup('State');

const LABEL = 'expected 1 to 64 letters, digits, or . _ @ -';

export const storeSettings = {
  store: storeSetting(
    z.union([z.string(), z.boolean()], {error: 'expected a directory, or false'}).default(true),
    {
      value: 'DIR',
      description: 'Directory of the answer store.',
      defaultText: "the user's cache directory",
      uses: ['run', 'library', 'doctor'],
    },
  ),
  maxAge: storeSetting(agesSetting.prefault(defaultAges), {
    value: 'AGE',
    description: 'Maximum age of a stored answer; also ip=1d,phone=90d,rejected=7d.',
  }),
  stale: storeSetting(durationBetween('0s', '36500d').optional(), {
    value: 'TIME',
    description:
      'If no call is possible (outage, deadline, budget), use answers up to this long past their age.',
  }),
  offline: storeSetting(z.boolean().default(false), {
    description: 'Make no calls: use stored answers, and skip all other values. Needs no key.',
  }),
  account: storeSetting(
    withConversion(textOrNumber(LABEL), LABEL, given =>
      /^[\w.@-]{1,64}$/.test(String(given)) ? String(given) : undefined,
    ).prefault('default'),
    {
      value: 'LABEL',
      description:
        'Label of the account. Each has its own stored answers, and may have a file with its limits in ~/.config/bulk-enrich/accounts/.',
      uses: ['run', 'library', 'lookup', 'verify', 'doctor'],
    },
  ),
  requireStore: storeSetting(z.boolean().default(false), {
    description: "Stop before the first call (exit 9) if the answer store can't be used.",
  }),

  state: stateSetting(z.string().optional(), {
    value: 'DIR',
    description: 'Directory for the state of the run, with a folder for each {date} of a job.',
    defaultText: 'OUT.run',
    uses: ['run', 'doctor'],
    changesResult: false,
  }),
  date: stateSetting(z.iso.date('expected a day such as 2026-01-31').optional(), {
    value: 'DAY',
    description: 'The day for {date} in paths.',
    defaultText: 'today, UTC',
    changesResult: false,
  }),
  restart: stateSetting(z.boolean().default(false), {
    description: 'Begin a new count of credits, and look failed values up again. Answers are kept.',
    uses: ['run'],
    changesResult: false,
  }),
  force: stateSetting(z.boolean().default(false), {
    description: 'Replace an existing output. Values that failed are looked up again.',
    uses: ['run'],
    changesResult: false,
  }),
};

const ENDPOINT = 'expected embedded, or a base URL such as https://api.example.com';

const PRICE = 'expected an amount and a currency such as 0.004 EUR';
const price = withConversion(z.string(PRICE), PRICE, text => {
  const [, amount, currency] = /^(\d+(?:\.\d+)?) ?([A-Z]{3})$/.exec(text.trim()) ?? [];
  return amount && currency ? {per_credit: Number(amount), currency} : undefined;
});

/** The file of an account, for all jobs that use it: its identity, and its limits. */
export const accountSettingsSchema = strictShape({
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

export type AccountSettings = z.output<typeof accountSettingsSchema>;
