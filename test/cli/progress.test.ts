import {afterEach, describe, expect, test, vi} from 'vitest';
import type {Console} from '../../src/cli/console.ts';
import {formatOpening} from '../../src/cli/terminal/opening.ts';
import {
  estimateTimeLeft,
  formatPhase,
  formatStatus,
  hasBar,
  type ProgressFigures,
  Speedometer,
  startProgress,
} from '../../src/cli/terminal/progress.ts';
import {emptyTally, zeroSpending} from '../../src/ledger/run/tally.ts';
import type {Session} from '../../src/run/session.ts';
import {whole} from '../support/whole.ts';

const UNSAID = {calls: undefined, maxCredits: undefined, pause: undefined, slowedTo: undefined};
const FIGURES = {now: 0, rows: 1_234, total: 10_000, callsPerSecond: 19.6, leftMs: 200_000, credits: 1_100};
const status: ProgressFigures = {...UNSAID, ...FIGURES, idle: false, windowFull: false};

/** A list from a pipe: its length is unknown. */
const PIPE = {total: undefined, leftMs: undefined};
const ALL_ASKED = {calls: {made: 4, total: 4}, leftMs: undefined};
const DONE = '1,234 rows · 1,100 credits';
const LEFT = `${DONE} · 20 calls/s · about 3 min 20 s left`;
const pause = (reason: 'throttled' | 'outage' | 'quota', detail: string, untilMs: number) => ({
  total: undefined,
  pause: {reason, detail, untilMs},
});

test.each<[Partial<ProgressFigures>, string]>([
  [{}, `██░░░░░░░░░░░░░░░░░░ 12% of rows · ${LEFT}`],
  [{rows: 10_000, leftMs: 0}, '████████████████████ 100% of rows · 10,000 rows · 1,100 credits · 20 calls/s'],
  [{total: 1_300, leftMs: 202}, `██████████████████░░ 94% of rows · ${DONE} · 20 calls/s · about 1 s left`],
  // Rows that are known cost no time.
  [{calls: {made: 3, total: 4}}, `███████████████░░░░░ 75% of calls · ${LEFT}`],
  // Its last calls are asked again.
  [ALL_ASKED, `███████████████████░ 99% of calls · ${DONE} · 20 calls/s`],
  [PIPE, `${DONE} · 20 calls/s`],
  [{rows: 0, total: 0, leftMs: undefined}, '0 rows · 1,100 credits · 20 calls/s'],
  [{...PIPE, maxCredits: 5_000}, '1,234 rows · 1,100 of 5,000 credits · 20 calls/s'],
  [{...PIPE, slowedTo: 7.64}, `${DONE} · 20 calls/s · slowed down to 7.6/s`],
  [{...PIPE, windowFull: true}, `${DONE} · 20 calls/s · all rows read wait for one value`],
  [{...PIPE, idle: true, windowFull: true}, `${DONE} · waiting to retry values that got no answer`],
  [pause('throttled', 'http_429', 12_000), `${DONE} · waiting: throttled (http_429), next try in 12 s`],
  [pause('outage', 'econnrefused', -5), `${DONE} · waiting: service down (econnrefused), next try in 0 ms`],
  [
    pause('quota', 'none left', 90_000),
    `${DONE} · waiting: quota used up (none left), next try in 1 min 30 s`,
  ],
])('the status line with %j', (change, line) => expect(formatStatus({...status, ...change})).toBe(line));

const waiting = {reason: 'throttled', detail: 'http_429', untilMs: 12_000} as const;

test.each<[number, Partial<ProgressFigures>, string]>([
  [87, {}, `░░░░░ 12% of rows · ${LEFT}`],
  [80, {}, `█░░░░░░░░░ 12% · ${LEFT}`],
  [79, {}, `░░░░░ 12% · ${LEFT}`],
  [74, {}, `12% · ${LEFT}`],
  [68, {}, '12% · 1,100 credits · 20 calls/s · about 3 min 20 s left'],
  [40, {}, '12% · 20 calls/s · about 3 min 20 s left'],
  [30, {}, '12% · about 3 min 20 s left'],
  [20, {}, '12% · about 3 min 20'],
  [60, {pause: waiting}, '12% · waiting: throttled (http_429), next try in 12 s'],
])(
  'in %i columns parts are left out whole, but for how far it is and what is said last',
  (width, change, line) => expect(formatStatus({...status, ...change}, width)).toBe(line),
);

test('the status line is never wider than it may be', () => {
  for (let width = 0; width < 120; width++)
    for (const pause of [undefined, waiting])
      expect(formatStatus({...status, pause}, width).length).toBeLessThanOrEqual(width);
});

test('the speed is that of the last ten seconds', () => {
  const speed = new Speedometer();
  expect(speed.read(0, 0)).toBe(0);
  expect(speed.read(100, 1_000)).toBe(100);
  for (let second = 2; second <= 20; second++) speed.read(100, second * 1_000);
  expect(speed.read(100, 21_000)).toBe(0);
  expect(speed.read(200, 22_000)).toBe(10);
});

test.each<[string, Parameters<typeof estimateTimeLeft>[0], number | undefined, number | undefined]>([
  ['calls', {left: 500, perSecond: 20}, 1_000, 25_000],
  ['calls, throttled since: what was quick before does not count', {left: 500, perSecond: 2}, 1_000, 250_000],
  ['rows, if all values are known', {left: 0, perSecond: 0}, 1_000, 2_500],
  ['nobody knows what', {left: undefined, perSecond: 20}, undefined, undefined],
])('the time left is that of the %s left, at the current speed', (_, calls, rows, ms) => {
  expect(estimateTimeLeft(calls, {left: rows, perSecond: 400})).toBe(ms);
});

test.each([
  [{share: 0.431, rows: 1_234}, undefined, '████████░░░░░░░░░░░░ 43% · counting · 1,234 rows'],
  [{rows: 1_234}, undefined, 'counting · 1,234 rows'],
  [{share: 1.2}, 16, '100% · counting'],
])('around the calls: %j in %s columns', (reached, width, line) => {
  expect(formatPhase('counting', reached, width)).toBe(line);
});

const RESUMING =
  'Resuming: what the 6 calls made before answered is not asked again, and its rows are written again.';

test.each([
  [6, 0, RESUMING],
  [0, 0, 'Answers already paid for are kept.'],
  [6, 1, `${RESUMING} 1 call in flight when the last session ended may have been charged.`],
])(
  'a resumed run says what is kept, and what may have been charged: %i calls in its count, %i in flight at its end',
  (calls, interrupted, sentence) => {
    const spending = zeroSpending();
    const made = {...spending, ip: {...spending.ip, calls}};
    const ledger = {interrupted, spending: made, isResumed: true};
    const session = whole<Session>({
      job: {endpoint: {kind: 'live'}, settings: {}},
      input: {layout: {mapping: {targets: [], countries: new Map()}}},
      asking: {executor: {pace: () => ({limit: undefined})}, ledger},
    });
    expect(formatOpening(session).at(-1)).toBe(sentence);
  },
);

describe('a run under way', () => {
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllEnvs();
  });

  const layout = {mapping: {targets: [], countries: new Map()}};

  /** The events of half a minute, in which a run wrote 150 rows by 60 calls. */
  function eventsOf(
    {settings = {}, pace = {}, ...job}: {settings?: object; pace?: object; onlyRecords?: ReadonlySet<number>},
    counted?: number,
    console: Partial<Console> = {},
  ) {
    vi.useFakeTimers();
    const tally = emptyTally();
    const rows = {written: 0, rejected: 0};
    const session = whole<Session>({
      ...{startedAt: Date.now(), clock: Date.now},
      job: {endpoint: {kind: 'live'}, settings: {maxOutage: 60_000, ...settings}, ...job},
      input: {layout, source: {recordsRead: 150, position: {bytes: 1_500}, bytesTotal: 3_000}},
      asking: {
        executor: {pace: () => ({inFlight: 1, waiting: 0, ...pace})},
        ledger: {tally, interrupted: 0, budget: {committed: 160_000}},
      },
      output: {writer: {counters: {rows}}, window: {full: false}},
    });
    const events: {fields: Record<string, unknown>; line: string}[] = [];
    const log = {info: (fields: object, line = '') => events.push({fields: {...fields}, line})};
    const quietly = {say: () => {}, draw: () => {}};
    const heard = whole<Console>({...quietly, forMachine: true, quiet: false, log, ...console});
    const end = startProgress(session, heard, counted);
    Object.assign(rows, {written: 140, rejected: 10});
    Object.assign(tally.operations.ip, {calls: 60, retries: 10});
    vi.advanceTimersByTime(30_000);
    end();
    return {...events[0], count: events.length};
  }

  test('a log has its rows, credits, speed, and the time that its calls take', () => {
    const {fields, line} = eventsOf({}, 80);
    expect(fields).toMatchObject({rows: 150, rows_total: 300, credits: 160});
    expect(fields).toMatchObject({calls_per_second: 2, left_ms: 15_000});
    expect(line).toBe(
      '████████████░░░░░░░░ 62% of calls · 150 rows · 160 credits · 2 calls/s · about 15 s left',
    );
  });

  test('if its calls were not counted, the rows of this session tell how many each row needs', () => {
    expect(eventsOf({settings: {limit: 200}}).fields).toMatchObject({rows_total: 200, left_ms: 10_000});
    expect(eventsOf({settings: {limit: 900}}).fields).toMatchObject({rows_total: 300, left_ms: 30_000});
  });

  test('throttling is told by the rate that it leaves, and not if it leaves nearly all', () => {
    const line = (current: number, limit?: number) => eventsOf({pace: {current, limit}}).line;
    expect([line(5, 10), line(7)]).toEqual([
      expect.stringMatching(/ · slowed down to 5\/s$/),
      expect.stringMatching(/ · slowed down to 7\/s$/),
    ]);
    expect(line(9.8, 10)).not.toContain('slowed');
  });

  test('quiet, a program hears of no progress', () => {
    expect(eventsOf({}, 80, {quiet: true}).count).toBe(0);
  });

  test('a line is redrawn at a terminal, and not in the log of a CI runner', () => {
    vi.stubEnv('TERM', 'xterm');
    const {isTTY} = process.stderr;
    process.stderr.isTTY = true;
    try {
      const drawn = (CI: string, quiet: boolean) => {
        vi.stubEnv('CI', CI);
        return hasBar({quiet, forMachine: false} as Console);
      };
      expect([drawn('', false), drawn('true', false), drawn('', true)]).toEqual([true, false, false]);
    } finally {
      process.stderr.isTTY = isTTY;
    }
  });
});
