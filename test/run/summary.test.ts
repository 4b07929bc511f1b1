import {setTimeout as sleep} from 'node:timers/promises';
import {expect, test} from 'vitest';
import {summarySchema} from '../../src/report/summary.ts';
import {FAST, startService} from '../e2e/service.ts';
import {reply} from '../support/api-server-reply.ts';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {type Ended, ips, openStage} from '../support/stage.ts';
import {expectAccounts} from '../support/summary.ts';

/** A run in which something of everything happens: 15 rows, one of them unreadable. */
async function mixedRun() {
  await using service = await startService();
  using sandbox = createSandbox();
  service.setScript(call => (call.value === '192.0.2.2' ? reply.error(422, 'odd_value') : undefined));
  const cells = [
    '192.0.2.1',
    ' 192.0.2.1',
    '192.0.2.2',
    '192.0.2.2',
    '',
    'n/a',
    '192.0.2.256',
    '2001:db8::1',
    '192.0.2.3',
    '192.0.2.4',
  ];
  sandbox.write('warm.csv', 'ip,n\n192.0.2.3,1\n');
  expect((await runHere(sandbox, ['run', 'warm.csv', ...FAST], service)).code).toBe(0);
  sandbox.write('list.csv', `ip,n\n${cells.map((cell, n) => `${cell},${n}\n`).join('')}too,many,fields\n`);
  const args = ['run', 'list.csv', '--cost', 'ip=2.5', '--max-credits', '100', ...FAST];
  const outcome = await runHere(sandbox, args, {
    env: {...service.env, BULK_ENRICH_BASE_URL: `${service.url}/`},
  });
  return {outcome, summary: sandbox.summary('list.enriched.summary.json'), ledger: service.ledger};
}

test('the summary is as its schema says, and its accounts balance', async () => {
  const {outcome, summary, ledger} = await mixedRun();
  expectAccounts(summary);
  // The parsed summary would lack fields that the schema does not name.
  expect(summarySchema.parse(summary)).toEqual(summary);
  expect(outcome.code).toBe(3);
  expect(summary).toMatchObject({
    schema_version: 2,
    job: null,
    status: 'partial',
    reason: 'lookups_failed',
    exit_code: 3,
    endpoint: {kind: 'live'},
    rows: {read: 11, written: 10, rejected: 1, ok: 8, with_errors: 2},
    lookups: {
      ip: {
        ...{values: 10, empty: 2, invalid: 2, answered: 4, failed: 2, unknown: 0, skipped: 0},
        ...{distinct: 4, from_store: 1, deduplicated: 2, calls: 3, retries: 0, rejected: 0, stale: 0},
      },
    },
    calls: {total: 3, by_status: {200: 2, 422: 1}, retries: 0},
    credits: {spent: 5, maybe_spent: 2.5, limit: 100, saved: {dedupe: 5, store: 2.5, prefilter: 5}},
    pace: {rate_limit: null, pauses: 0, paused_ms: 0},
    resumed: {times: 0},
  });
  expect(summary.errors).toEqual(
    expect.arrayContaining([
      {code: 'ip.odd_value', count: 2, rows: [3, 4], service: true},
      {code: 'ip.ip_malformed', count: 1, rows: [7]},
      {code: 'ip.ipv6_unsupported', count: 1, rows: [8]},
      {code: 'rejected.column_count', count: 1, rows: [11]},
    ]),
  );
  // One call of the warm-up run, and the three of this one.
  expect(ledger.calls).toBe(4);
});

test('the timeline has the last stretch of a session that was interrupted', async () => {
  await using stage = await openStage({list: ips(10), script: () => sleep(20, undefined)});
  const settings = {ip: 'ip', concurrency: 1, store: false};
  // A busy machine divides a session into several stretches.
  const calls = ({summary}: Ended) => summary?.timeline.calls.reduce((sum, each) => sum + each, 0);
  const first = await stage.run({...settings, maxCredits: 5});
  expect([first.code, calls(first)]).toEqual([7, 5]);
  // A session has a timeline of its own.
  expect(calls(await stage.run(settings))).toBe(5);
});
