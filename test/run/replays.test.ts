import {expect, test} from 'vitest';
import {reply} from '../support/api-server-reply.ts';
import {openStage, type Stage} from '../support/stage.ts';

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

test('a later row of a token asks after the first, also in a run that is resumed: the service says that it is redeemed', async () => {
  await using stage = await openStage({list: list('s-1', 's-2', 's-1', 's-2')});
  expect((await stage.run({...settings, maxCredits: 3})).code).toBe(7);
  expect((await stage.run({...settings, maxCredits: 4})).code).toBe(0);
  expect(told(stage)).toEqual(expected);
  expect(stage.api.ledger.calls).toBe(4);
  // A forced run buys nothing, and says the same.
  expect((await stage.run({...settings, force: true})).code).toBe(0);
  expect([told(stage), stage.api.ledger.calls]).toEqual([expected, 4]);
});

test('calls of one token go one after another, in the order of the rows, however many are in flight', async () => {
  await using stage = await openStage();
  const rows = Array.from({length: 40}, (_, n) => `s-${n % 5}`);
  stage.write('list.csv', list(...rows));
  stage.api.setScript(({call}) => reply.ok({delayMs: (call * 7) % 20}));
  expect((await stage.run({...settings, concurrency: 16})).code).toBe(0);
  expect(told(stage).map(([, , redeemed]) => redeemed)).toEqual(rows.map((_, n) => n >= 5));
});

test("a row that joins before a token's first is its first when the list is read again", async () => {
  await using stage = await openStage({list: list('s-1', 's-2', 's-1')});
  expect((await stage.run({...settings, maxCredits: 2})).code).toBe(7);
  stage.write('list.csv', list('s-new', 's-1', 's-2', 's-1'));
  expect((await stage.run({...settings, maxCredits: 4})).code).toBe(0);
  expect(told(stage).map(row => row.slice(0, 3))).toEqual([
    ['s-new', 'ok', false],
    ['s-1', 'ok', false],
    ['s-2', 'ok', false],
    ['s-1', 'ok', true],
  ]);
});

test('a token that a lost call may have redeemed is no replay', async () => {
  await using stage = await openStage({list: list('s-1')});
  stage.api.setScript(({attempt}) => (attempt === 1 ? reply.drop('reset', {charge: true}) : undefined));
  expect((await stage.run(settings)).code).toBe(5);
  expect(told(stage)).toEqual([['s-1', 'unknown', true, false]]);
  // The advised --force buys it no second time, and says the same.
  const {calls} = stage.api.ledger;
  expect((await stage.run({...settings, force: true})).code).toBe(5);
  expect([told(stage), stage.api.ledger.calls]).toEqual([[['s-1', 'unknown', true, false]], calls]);
});

test('an answer without a verdict is one, also after a lost call', async () => {
  await using stage = await openStage({list: list('s-1')});
  const plain = reply.json({success: true, score: 5});
  stage.api.setScript(({attempt}) => (attempt === 1 ? reply.drop('reset', {charge: true}) : plain));
  expect((await stage.run(settings)).code).toBe(0);
  expect(JSON.parse(stage.read('out.ndjson')).enrichment.verify).toMatchObject({status: 'ok', error: null});
});
