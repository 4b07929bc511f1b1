import {z} from 'zod';
import {defaultAges} from '../../operations/table.ts';
import {ages, durationFrom, size} from '../values.ts';
import {settingsIn} from './declare.ts';

const storeSetting = settingsIn('Answer store');
const stateSetting = settingsIn('State');

const RESTART = 'expected fresh or nothing after --restart; true, false or fresh in a job file';

/** Settings of the state that is kept from one run, or one session, to the next. */
export const storeSettings = {
  store: storeSetting(
    z.union([z.string(), z.boolean()], {error: 'expected a directory, or false'}).default(true),
    {
      value: 'DIR',
      description: 'Directory of the answer store.',
      defaultText: "the user's cache directory",
      uses: ['run', 'library', 'doctor'],
      shapes: 'summary',
    },
  ),
  maxAge: storeSetting(ages.prefault(defaultAges), {
    value: 'AGE',
    description: 'How old a stored answer may be, from 0s to 36500d; also ip=1d,phone=90d,rejected=7d.',
    uses: ['run', 'library'],
    shapes: 'output',
  }),
  stale: storeSetting(durationFrom('0s', '36500d').optional(), {
    value: 'TIME',
    description:
      'Where the service can not be asked (outage, deadline, budget), use answers that are past their age by up to this.',
    uses: ['run', 'library'],
    shapes: 'output',
  }),
  offline: storeSetting(z.boolean().default(false), {
    description:
      'Ask nobody: only what the answer store has is used, and the rest skipped. No key is needed.',
    uses: ['run', 'library'],
    shapes: 'output',
  }),
  account: storeSetting(
    z
      .string()
      .regex(/^[\w.@-]{1,64}$/, 'expected 1 to 64 letters, digits, or . _ @ -')
      .default('default'),
    {
      value: 'LABEL',
      description: 'Which account it is: its stored answers are its own, and its limits where it has a file.',
      uses: ['run', 'library'],
      shapes: 'output',
    },
  ),
  maxStoreSize: storeSetting(size('1mb').optional(), {
    value: 'SIZE',
    description:
      'Beyond this size, 1mb at least, the answer store lets the oldest answers go; such as 500mb or 2gb.',
    uses: ['run', 'library'],
    shapes: 'nothing',
  }),
  requireStore: storeSetting(z.boolean().default(false), {
    description: "Stop before the first call (exit 9) where the answer store can't be used.",
    uses: ['run', 'library'],
    shapes: 'summary',
  }),

  state: stateSetting(z.string().optional(), {
    value: 'DIR',
    description: 'Directory of the run’s state.',
    defaultText: 'OUT.run',
    uses: ['run', 'doctor'],
    shapes: 'nothing',
  }),
  date: stateSetting(z.iso.date('expected a day such as 2026-01-31').optional(), {
    value: 'DAY',
    description: 'The day that {date} in paths stands for.',
    defaultText: 'today, UTC',
    uses: ['run', 'library'],
    shapes: 'nothing',
  }),
  restart: stateSetting(z.union([z.boolean(), z.literal('fresh')], {error: RESTART}).optional(), {
    value: '[fresh]',
    description:
      'Start over now, keeping every answer already paid for; fresh: with all of --max-credits. In a job file: how it starts over where its state does not fit; false: it stops (exit 10 or 8).',
    uses: ['run'],
    shapes: 'nothing',
  }),
  force: stateSetting(z.boolean().default(false), {
    description: 'Replace an existing output.',
    uses: ['run'],
    shapes: 'nothing',
  }),
};
