import {expect, test} from 'vitest';
import {Stopper} from '../../src/run/stop.ts';
import {reply} from '../support/api-server-reply.ts';
import {interrupt, openStage, type Stage} from '../support/stage.ts';

const settings = {verdict: {token: 'session', action: 'signup'}, output: 'out.ndjson', concurrency: 1};
const list = (...sessions: string[]) => ['session', ...sessions, ''].join('\n');

/** Each row's status, its `redeemed`, and if that counts as risk. */
function told(stage: Stage): unknown[][] {
  const rows = stage.read('out.ndjson').trimEnd().split('\n');
  return rows.map(row => {
    const {session, enrichment} = JSON.parse(row);
    const {verify, risk} = enrichment;
    return [session, verify.status, verify.data.verdict.redeemed, risk.reasons.includes('token_replayed')];
  });
}

const expected = [
  ['s-1', 'ok', false, false],
  ['s-2', 'ok', false, false],
  ['s-1', 'ok', true, true],
  ['s-2', 'ok', true, true],
];

test('later rows of a token are replays, in a run that was resumed too', async () => {
  await using stage = await openStage();
  stage.write('list.csv', list('s-1', 's-2', 's-1', 's-2'));
  // The first row is written, the second is not asked.
  expect((await stage.run({...settings, maxCredits: 1})).code).toBe(7);
  expect((await stage.run({...settings, maxCredits: 2})).code).toBe(0);
  expect(told(stage)).toEqual(expected);
  expect(stage.api.ledger.calls).toBe(2);
});

test('a row whose answer was known before it was written is no replay of itself', async () => {
  await using stage = await openStage();
  stage.write('list.csv', list('s-1', 's-2', 's-1', 's-2'));
  expect((await stage.run({...settings, maxCredits: 1})).code).toBe(7);
  // Its answers are taken over, and its rows begin anew.
  expect((await stage.run({...settings, maxCredits: 2, restart: true})).code).toBe(0);
  expect(told(stage)).toEqual(expected);
  expect(stage.api.ledger.calls).toBe(2);
});

/** Fills the first 64 KiB of a list, which are read at once: what follows may change before a run is resumed. */
const readAtOnce = Array<string>(16_382).fill('s-1');

test.each([
  {change: 'a row joins', rest: ['s-2', 's-new', 's-3', 's-3']},
  {change: 'a row goes', rest: ['s-3', 's-3']},
])(
  'a row whose answer was known before it was written is no replay where $change before it',
  async ({rest}) => {
    await using stage = await openStage();
    stage.write('list.csv', list(...readAtOnce, 's-2', 's-3'));
    const stopper = new Stopper();
    stage.api.setScript(({value}) => {
      if (value === 's-3') setTimeout(() => interrupt(stopper), 100);
      return value === 's-2' ? reply.stall() : undefined;
    });
    const raw = {...settings, concurrency: 2, timeout: '1s'};
    expect(await stage.run(raw, {stopper})).toMatchObject({
      code: 130,
      summary: {rows: {written: readAtOnce.length}},
    });
    stage.api.setScript(undefined);
    stage.write('list.csv', list(...readAtOnce, ...rest));
    await stage.run(raw);
    expect(told(stage).filter(([session]) => session === 's-3')).toEqual([
      ['s-3', 'ok', false, false],
      ['s-3', 'ok', true, true],
    ]);
  },
);
