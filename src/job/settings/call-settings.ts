import {z} from 'zod';
import {defaultCosts} from '../../operations/table.ts';
import {countOrShare, durationFrom, list, rates, redisUrl, whole} from '../values.ts';
import {cost} from './cost.ts';
import {settingsIn} from './declare.ts';
import {until} from './until.ts';

const callSetting = settingsIn('Calls');
const limitSetting = settingsIn('Limits');

/** Limits that can end a run before the end of its list. */
const limits = ['budget', 'outage', 'deadline'] as const;
export type PublishedLimit = (typeof limits)[number];

/** Settings of calls and of a run's limits. */
export const callSettings = {
  rate: callSetting(rates.optional(), {
    value: 'RATE',
    description:
      'Most calls a second (/s), minute (/m) or hour (/h), from one a day to 1000000 in the unit, or unlimited; also ip=50/s,email=10/s.',
    defaultText: '20/s live, unlimited embedded',
    uses: ['run', 'library'],
    shapes: 'summary',
  }),
  concurrency: callSetting(whole(1, 10_000).optional(), {
    value: 'N',
    description: 'Most calls in flight, from 1 to 10000.',
    defaultText: "16; in a fleet, its workers'",
    uses: ['run', 'library', 'worker'],
    shapes: 'summary',
  }),
  timeout: callSetting(durationFrom('100ms', '1h').prefault('30s'), {
    value: 'TIME',
    description: 'Longest time for one call, from 100ms to 1h.',
    uses: ['run', 'library', 'lookup', 'verify', 'doctor'],
    shapes: 'summary',
  }),
  resends: callSetting(whole(0, 1_000).default(2), {
    value: 'N',
    description:
      'Most times a value is sent again after a call that may have been charged, outages included, from 0 (never) to 1000.',
    uses: ['run', 'library'],
    shapes: 'summary',
  }),
  maxOutage: callSetting(durationFrom('0s', '30d').prefault('15m'), {
    value: 'TIME',
    description: 'Longest outage or Retry-After to wait for, from 0s to 30d; see --publish-on.',
    uses: ['run', 'library'],
    shapes: 'summary',
  }),
  fleet: callSetting(redisUrl.optional(), {
    value: 'URL',
    description: 'Workers on other machines make the calls, by way of this Redis; none: this process does.',
    defaultText: 'BULK_ENRICH_REDIS_URL',
    uses: ['run', 'library', 'doctor'],
    shapes: 'nothing',
  }),
  cost: callSetting(cost.prefault(defaultCosts), {
    value: 'CREDITS',
    description:
      'Credits of one call, such as 2 or ip=1,phone=2; rejected=… and throttled=…: whether rejected calls (other 4xx) and throttled ones count as free, maybe or spent.',
    defaultText: `${defaultCosts}; rejected=maybe,throttled=free`,
    uses: ['run', 'library', 'doctor'],
    shapes: 'summary',
  }),

  maxCredits: limitSetting(whole(0).optional(), {
    value: 'N',
    description: 'Most credits for this run, resumes and restarts included.',
    uses: ['run', 'library'],
    shapes: 'summary',
  }),
  until: limitSetting(until.optional(), {
    value: 'TIME',
    description:
      'Make no more calls from then on: after a length of time such as 2h, from 100ms to 365d, or at a time of day such as 06:00 or "06:00 Europe/Berlin".',
    uses: ['run', 'library'],
    shapes: 'summary',
  }),
  publishOn: limitSetting(
    list(',')
      .pipe(z.array(z.enum(limits)))
      .default([]),
    {
      value: 'LIMITS',
      description:
        'Publish what there is (exit 3) at these limits, such as budget,outage,deadline; at the others, stop and resume later (exit 7 or 5).',
      defaultText: 'none',
      uses: ['run', 'library'],
      shapes: 'summary',
    },
  ),
  maxErrors: limitSetting(countOrShare.optional(), {
    value: 'N|N%',
    description:
      'More failed lookups than this: stop with state saved; exit 4. 100%: a hundred rejections in a row stop nothing either.',
    uses: ['run', 'library'],
    shapes: 'summary',
  }),
  maxRejects: limitSetting(countOrShare.optional(), {
    value: 'N|N%',
    description: 'More unreadable rows than this: stop; exit 8.',
    uses: ['run'],
    shapes: 'summary',
  }),
  failIf: limitSetting(list().optional(), {
    value: 'EXPR',
    repeatable: true,
    description: 'Exit 4, with the output published, if this holds of the summary, such as risk.high > 500.',
    uses: ['run', 'library'],
    shapes: 'summary',
  }),
};
