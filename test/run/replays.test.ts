import {expect, test} from 'vitest';
import {openStage, type Stage} from '../support/stage.ts';

const settings = {verdict: {token: 'session', action: 'signup'}, output: 'out.ndjson', concurrency: 1};
const list = (...sessions: string[]) => ['session', ...sessions, ''].join('\n');

/** Each row's status, its `redeemed`, and if that counts as risk. */
function told(stage: Stage): unknown[] {
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
