import {z} from 'zod';
import {defaultCosts} from '../../operations/table.ts';
import {
  countOrShare,
  declareGroup,
  durationBetween,
  ratesSetting,
  textList,
  wholeNumber,
} from '../setting-types.ts';
import {costSetting} from './cost.ts';
import {untilSetting} from './time-limit.ts';

const callSetting = declareGroup('Calls');
const limitSetting = declareGroup('Limits');

const REDIS = 'expected redis://HOST:PORT, rediss:// with TLS, or none';
const redisUrl = z.union([z.literal('none'), z.url({protocol: /^rediss?$/, error: REDIS})], {error: REDIS});

/** Limits that can end a run before the end of its list. */
const limits = ['budget', 'outage', 'deadline'] as const;
export type PublishTrigger = (typeof limits)[number];

export const callSettings = {
  rate: callSetting(ratesSetting.optional(), {
    value: 'RATE',
    description:
      'Maximum rate of calls, such as 20/s, 100/m, 5/h or unlimited; by operation: ip=50/s,email=10/s.',
    defaultText: '20/s live, unlimited embedded',
  }),
  concurrency: callSetting(wholeNumber(1, 10_000).optional(), {
    value: 'N',
    description: 'Maximum of calls in flight, from 1 to 10000.',
    defaultText:
      'what the rate needs, 16 to 256; unlimited 64; a worker 16; a run with a fleet twice the sum of its workers',
    uses: ['run', 'library', 'worker'],
  }),
  timeout: callSetting(durationBetween('100ms', '1h').prefault('30s'), {
    value: 'TIME',
    description: 'Maximum time for one call, from 100ms to 1h.',
    uses: ['run', 'library', 'lookup', 'verify', 'doctor'],
  }),
  resends: callSetting(wholeNumber(0, 1_000).default(2), {
    value: 'N',
    description: 'How often a value may be sent again after a call that may have been charged; 0 is never.',
  }),
  maxOutage: callSetting(durationBetween('0s', '30d').prefault('15m'), {
    value: 'TIME',
    description: 'Maximum outage or Retry-After to wait for, up to 30d; see --publish-on.',
  }),
  fleet: callSetting(redisUrl.optional(), {
    value: 'URL',
    description: 'Redis of a fleet, whose workers make the calls of a run.',
    defaultText: 'BULK_ENRICH_REDIS_URL',
    uses: ['run', 'library', 'doctor'],
    changesResult: false,
  }),
  cost: callSetting(costSetting.prefault(defaultCosts), {
    value: 'CREDITS',
    description:
      'Credits of one call, such as 2 or ip=1,phone=2. rejected= and throttled= say if such calls are charged: free, spent, or maybe (not known).',
    defaultText: `${defaultCosts}; rejected=maybe,throttled=free`,
    uses: ['run', 'library', 'lookup', 'verify', 'doctor'],
  }),

  maxCredits: limitSetting(wholeNumber(0).optional(), {
    value: 'N',
    description: 'Maximum of credits for this run, all its sessions included.',
  }),
  until: limitSetting(untilSetting.optional(), {
    value: 'TIME',
    description:
      'Make no calls after this: a length of time such as 2h, or a time of day such as 06:00 or "06:00 Europe/Berlin".',
  }),
  publishOn: limitSetting(
    textList(',')
      .pipe(z.array(z.enum(limits)))
      .default([]),
    {
      value: 'LIMITS',
      repeatable: true,
      description:
        'Limits at which the run writes the whole output anyway (exit 3): budget, outage, deadline, with commas. At any other it stops, and can be resumed (exit 7 or 5).',
      defaultText: 'none',
    },
  ),
  maxErrors: limitSetting(countOrShare.optional(), {
    value: 'N|N%',
    description:
      'Stop after more failed lookups than this (exit 4, state saved). A percentage counts from 100 lookups on. Unless this is 100%, 100 rejections in a row stop a run, too.',
  }),
  maxRejects: limitSetting(countOrShare.optional(), {
    value: 'N|N%',
    description: 'Stop after more unreadable rows than this (exit 8). A percentage counts from 100 rows on.',
    uses: ['run'],
  }),
  failIf: limitSetting(textList().optional(), {
    value: 'EXPR',
    repeatable: true,
    description:
      'Exit with 4 after writing the output if this is true of the summary, such as risk.high > 500.',
  }),
};
