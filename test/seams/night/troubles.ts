import {again, type Night} from './table.ts';

const TWENTY = 'a b c d e f g h i j k l m n o p q r s t';
const six = 'a b c d e f';

/** Nights in which the service has troubles for many values. */
export const troubles: Readonly<Record<string, Night>> = {
  // outages
  'an outage that begins with the last value': {list: 'a b c', script: `c: ${again('refuse', 8)}`},
  'the last two values fail for ever': {
    list: 'a b c d',
    script: `c: ${again('500', 9)}; d: ${again('500', 9)}`,
  },
  'the last five values fail for ever': {
    list: 'a b c d e f g',
    script: ['c', 'd', 'e', 'f', 'g'].map(name => `${name}: ${again('500', 30)}`).join(';'),
    settings: {maxOutage: '2m'},
  },
  'the last five values fail at a gateway for ever': {
    list: 'a b c d e f g',
    script: ['c', 'd', 'e', 'f', 'g'].map(name => `${name}: ${again('502', 30)}`).join(';'),
    settings: {maxOutage: '1m'},
  },
  'after an outage calls ramp up': {
    list: TWENTY,
    script: `*: ${again('refuse', 10)}`,
    settings: {concurrency: 8},
  },
  'an outage with eight slots': {list: TWENTY, script: `*: ${again('500', 24)}`, settings: {concurrency: 8}},
  'an outage, resends 0': {list: six, script: `*: ${again('500', 6)}`, settings: {resends: 0}},
  'an outage of gateways, resends 1': {list: six, script: `*: ${again('502', 12)}`, settings: {resends: 1}},
  'an outage and a throttle together': {
    list: six,
    script: `*: ok ${again('refuse', 10)}; f: 429/3`,
    settings: {concurrency: 6},
  },
  'an outage, and then another': {
    list: TWENTY,
    script: `*: ${again('refuse', 6)} ${again('ok', 5)} ${again('refuse', 6)}`,
  },
  'a fatal answer in an outage': {list: six, script: `*: ${again('refuse', 7)} 401`},
  'an outage at a limit of credits': {
    list: six,
    script: `*: ${again('500', 40)}`,
    settings: {maxCredits: 8, publishOn: ['budget', 'outage'], maxOutage: '1m'},
  },
  'until, in an outage': {
    list: six,
    script: `*: ${again('refuse', 60)}`,
    settings: {until: '10s', publishOn: ['deadline']},
  },
  // throttled
  'a storm of 429': {list: 'a b', script: `*: ${again('429/1', 60)}`, settings: {maxOutage: '10s'}},
  'a storm of 429, published': {
    list: 'a b',
    script: `*: ${again('429/1', 60)}`,
    settings: {maxOutage: '10s', publishOn: ['outage']},
  },
  'a storm of 429 without seconds': {
    list: 'a b',
    script: `*: ${again('429', 8)}`,
    settings: {maxOutage: '60s'},
  },
  'a negative Retry-After': {list: 'a b', script: 'a: 429/-5'},
  'throttled calls that may cost, resends 1': {
    list: 'a b',
    script: 'a: 429/1 429/1 429/1',
    settings: {resends: 1, cost: {throttled: 'maybe'}},
  },
  'throttled calls that may cost, resends 0': {
    list: 'a b',
    script: 'a: 429/1',
    settings: {resends: 0, cost: {throttled: 'maybe'}},
  },
  'a 429 with a rate': {list: six, script: 'b: 429/2', settings: {rate: '4/s', concurrency: 4}},
  'a 429 among eight slots': {list: TWENTY, script: 'e: 429/1', settings: {concurrency: 8}},
  'a service that takes 10 a second, for a rate of 100': {
    list: Array.from({length: 400}, (_, n) => `198.18.${n >> 8}.${n & 255}`).join(' '),
    limit: 10,
    settings: {rate: '100/s', concurrency: 50, maxOutage: '2m'},
  },
  // quotas
  'a quota that runs out is waited for': {list: 'a b c', script: 'a: quota3/5; b: quota0/5'},
  'a quota that always reads 0 is none': {list: 'a b c', script: 'a: quota0/5; b: quota0/5'},
  'a quota for fewer than are in flight': {
    list: six,
    script: 'a: quota9/5; b: quota1/5',
    settings: {concurrency: 4},
  },
  // the first calls
  'four in flight until one is answered': {
    list: TWENTY,
    script: `*: ${again('ok/1', 4)}`,
    settings: {concurrency: 16},
  },
  'nine refused, and then an answer': {
    list: 'a b c d e f g h i j k l',
    script: `${'a b c d e f g h i'
      .split(' ')
      .map(name => `${name}: 422`)
      .join(';')}`,
    sessions: [{}, {output: 'other'}],
  },
  'a rejection without a later answer is a gap': {list: 'a b', script: 'b: 422'},
  'a rejection that no store keeps is a gap': {list: 'a b', script: 'a: 422', settings: {store: false}},
  'two new values refused, and nothing answered later': {
    list: 'a b c',
    script: 'd: 400; e: 400',
    sessions: [{}, {list: 'a b c d e'}, {list: 'a b c d e'}],
  },
  'a refusal takes no answer away that another job still uses': {
    list: 'a b',
    script: 'a: ok 400; b: ok 400',
    settings: {maxAge: '30d'},
    sessions: [{}, {afterHours: 48, settings: {maxAge: '1d'}}, {afterHours: 24}],
  },
  'doubtful sends before a refused run count as one': {
    list: 'a b c d e f g h i j k l',
    script: `a: 500 500; *: ${again('400', 10)}`,
    settings: {resends: 1},
    sessions: [{settings: {maxCredits: 1}}, {settings: {maxCredits: 2}}, {}, {}],
  },
  'one value that may not be sent again, and the same command': {
    list: 'a',
    script: 'a: 500',
    settings: {resends: 0, force: false},
    sessions: [{}, {}],
  },
  'two that can not be read': {list: 'a b', script: '*: garbled garbled'},
  'ten 403 at the beginning': {list: TWENTY, script: `*: ${again('403', 20)}`, sessions: [{}, {}]},
  'ten refused with several codes': {list: TWENTY, script: `*: ${again('422 400', 10)}`},
  'ten refused by a bare gateway after an answer': {
    list: TWENTY,
    script: `a: ok; *: ${again('404', 19)}`,
    sessions: [{}, {output: 'other'}],
  },
  'stale tokens among fresh ones': {list: 'a b c d', column: 'token', script: 'b: stale; c: stale'},
  'nothing but stale tokens': {
    list: 'a b c d e f g h i j k l',
    column: 'token',
    script: `*: ${again('stale', 12)}`,
  },
  'the first tokens stale, and one fresh': {
    list: 'a b c d e f g h i j k l',
    column: 'token',
    script: `${'a b c d e f g h i'
      .split(' ')
      .map(name => `${name}: stale`)
      .join(';')}`,
  },
  'ten unreadable after an answer': {
    list: TWENTY,
    script: `a: ok; *: ${again('garbled', 12)}`,
    settings: {maxErrors: 30},
  },
  // kills in troubles
  'killed in an outage': {
    list: six,
    script: `*: ${again('refuse', 8)}`,
    sessions: [{kill: ['after', 6]}, {}],
  },
  'killed in a throttle': {list: 'a b c', script: 'a: 429/5', sessions: [{kill: ['before', 2]}, {}]},
  'killed with two sends used up': {
    list: 'a b',
    script: `a: ${again('500', 9)}`,
    settings: {resends: 2},
    sessions: [{kill: ['after', 3]}, {}],
  },
  'killed at its limit while in flight': {
    list: six,
    settings: {maxCredits: 4, concurrency: 4, publishOn: ['budget']},
    sessions: [{kill: ['after', 4]}, {}],
  },
  'killed again and again, with a limit': {
    list: six,
    settings: {maxCredits: 7, publishOn: ['budget']},
    sessions: [{kill: ['after', 2]}, {kill: ['after', 2]}, {kill: ['after', 2]}, {}],
  },
  'killed, and other settings': {
    list: 'a b c d',
    sessions: [{kill: ['after', 3]}, {settings: {concurrency: 4, resends: 1}}],
  },
};
