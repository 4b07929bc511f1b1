import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {pino} from 'pino';
import {expect, test} from 'vitest';
import type {Job} from '../../src/job/job.ts';
import {checkSettings} from '../../src/job/parse.ts';
import {Ledger} from '../../src/ledger/ledger.ts';
import {lookupOf} from '../../src/ledger/lookup.ts';
import type {RunIo} from '../../src/run/io.ts';
import {bookCollected} from '../../src/run/open/join-fleet.ts';
import type {Running} from '../../src/run/stop.ts';
import {noStore} from '../../src/store/store.ts';
import {whole} from '../support/whole.ts';

const params = {token: 'token-0', action_id: 'signup'};
const ask = {operation: 'verify', params, dispatch: 2} as const;
const redeemed = {verdict: {can_pass: true, redeemed: true}};
const known = {unknownFields: [], wrongTypes: []};
const answered = {
  kind: 'answered',
  status: 200,
  latencyMs: 5,
  boughtAt: 1_000,
  pace: {limits: {}},
  data: redeemed,
  ...known,
} as const;
const run = whole<Running>({
  job: whole<Job>({settings: checkSettings(undefined, {cost: {verify: 1}})}),
  io: whole<RunIo>({log: pino({level: 'silent'})}),
});

/** The result of a session that finds, with the fleet, the verdict that the killed session had requested. */
async function collected(isDoubtful: boolean): Promise<unknown> {
  const directory = mkdtempSync(join(tmpdir(), 'bulk-enrich-collected-'));
  try {
    const open = () => new Ledger(join(directory, 'ledger.db'), {});
    const {key} = lookupOf('verify', params);
    const call = {key, operation: 'verify', cost: 1_000, known: false} as const;
    const killed = open();
    if (isDoubtful) {
      killed.reserve([{...call, dispatch: 1}]);
      const attempt = {kind: 'ambiguous', code: 'timeout', latencyMs: 5, boughtAt: 1_000} as const;
      await killed.record({...call, dispatch: 1, attempt, charge: 'maybe', doubt: true, retry: false});
    }
    killed.reserve([{...call, known: isDoubtful, dispatch: 2}]);
    killed.abandon();
    const ledger = open();
    await bookCollected(Promise.resolve([{ask, attempt: answered}]), run, ledger, noStore);
    const outcome = ledger.find([key]).get(key)?.outcome;
    ledger.close();
    return outcome;
  } finally {
    rmSync(directory, {recursive: true});
  }
}

test('a verdict that the fleet finished is uncertain if an earlier attempt may have redeemed its token', async () => {
  expect(await collected(true)).toMatchObject({status: 'unknown', error: 'verdict_replay_uncertain'});
  expect(await collected(false)).toMatchObject({status: 'ok'});
});
