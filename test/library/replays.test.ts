import {expect, it} from 'vitest';
import {enrich} from '../../src/index.ts';
import {ALWAYS_PASS_ACTION_ID} from '../../src/operations/verify.ts';
import type {Call} from '../support/api-server.ts';
import {reply} from '../support/api-server-reply.ts';
import {bySpeed, startProgram} from './program.ts';

const settings = {...bySpeed, verdict: {token: 'session', action: 'signup'}} as const;

/** A row's result for a replay: the answer, and the default rule for it. */
function replayOf({enrichment}: {enrichment: object}) {
  const {verify, risk} = enrichment as {
    verify: {status: string; data: {verdict?: {redeemed?: boolean}} | null};
    risk: {reasons: readonly string[]};
  };
  return [verify.status, verify.data?.verdict?.redeemed, risk.reasons.includes('token_replayed')];
}

const FIRST = ['ok', false, false];
const REPLAY = ['ok', true, true];

async function replays(enriched: AsyncIterable<{enrichment: object}>) {
  const found: unknown[] = [];
  for await (const row of enriched) found.push(replayOf(row));
  return found;
}

const rows = (...sessions: string[]) => sessions.map(session => ({session}));

it('a test action id redeems like any other: its rows say what the service says', async () => {
  await using program = await startProgram();
  const tests = {...settings, verdict: {...settings.verdict, action: ALWAYS_PASS_ACTION_ID}};
  const list = rows('s-1', 's-1', 's-1');
  expect(await replays(enrich(list, tests, program.options))).toEqual([FIRST, REPLAY, REPLAY]);
  expect(program.api.ledger.calls).toBe(3);
});

it('a later row is sure of a replay also where the first can not know', async () => {
  const redeemed = {success: true, verdict: {can_pass: true, redeemed: true}};
  const script = ({attempt}: Call) => (attempt === 1 ? reply.drop() : reply.json(redeemed));
  await using program = await startProgram({script});
  const found: unknown[] = [];
  for await (const {enrichment} of enrich(rows('s-1', 's-1'), settings, program.options))
    found.push([enrichment.verify.status, enrichment.verify.error]);
  expect(found).toEqual([
    ['unknown', 'verdict_replay_uncertain'],
    ['ok', null],
  ]);
});

it('tokens that are refused where other calls are answered are not a wrong key', async () => {
  const script = ({operation}: Call) =>
    operation === 'verify' ? reply.error(401, 'invalid_token') : undefined;
  await using program = await startProgram({script});
  const both = {...settings, ip: 'ip', concurrency: 1} as const;
  const rows = Array.from({length: 12}, (_, n) => ({ip: '192.0.2.1', session: `s-${n}`}));
  const reading = replays(enrich(rows, both, program.options));
  await expect(reading).rejects.toMatchObject({code: 'refused', exitCode: 2});
});
