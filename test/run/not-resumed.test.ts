import {expect, test} from 'vitest';
import {ips, openStage} from '../support/stage.ts';

const plain = {ip: 'ip', concurrency: 1, store: false};

test('a run that can not be resumed keeps its books in the summary: rows, answers, credits and input as they were', async () => {
  await using stage = await openStage();
  stage.write('list.csv', ips(10));
  const {code, summary: stopped} = await stage.run({...plain, maxCredits: 5});
  expect([code, stopped?.rows.written, stopped?.lookups.ip?.answered]).toEqual([7, 5, 5]);
  const refused = await stage.run({...plain, score: 'none'});
  expect(refused).toMatchObject({code: 10, errorCode: 'settings_changed'});
  expect(refused.summary).toMatchObject({
    ...{run_id: stopped?.run_id, started_at: stopped?.started_at, exit_code: 10},
    ...{rows: stopped?.rows, calls: stopped?.calls, errors: stopped?.errors},
    input: stopped?.input,
    lookups: {ip: stopped?.lookups.ip},
    credits: {spent: 5},
    resumed: {times: 1, from_row: null},
  });
  // It spent nothing itself, so the history counts nothing twice.
  expect(refused.summary?.session?.by_operation).toMatchObject({ip: {calls: 0, spent: 0}});
  expect(stage.api.ledger.calls).toBe(5);
});
