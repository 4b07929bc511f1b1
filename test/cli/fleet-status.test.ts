import {expect, test} from 'vitest';
import {renderFleet} from '../../src/cli/commands/fleet.ts';
import type {FleetStatus} from '../../src/fleet/status.ts';
import {whole} from '../support/whole.ts';

const worker = {
  ...{host: 'worker-7.batch.internal.example.com', pid: 123_456, version: '1.10.12', startedAt: 0},
  ...{inFlight: 16, concurrency: 16, calls: {answered: 1_234_567, throttled: 12, ambiguous: 3}},
  clockAheadMs: 12,
};
const run = {
  ...{host: 'coordinator.batch.internal.example.com', version: '1.10.11', startedAt: 0},
  ...{job: 'nightly-signups-of-all-shops', rate: 'ip=200/s,phone=100/s,email=50/s'},
  ...{rows: 2_000_000, out: 1_234, calls: 1_234_567, spent: 1_234_567, maybeSpent: 12, limit: 2_000_000},
};
const status = whole<FleetStatus>({
  protocol: 'protocol 1 and the endpoint https://api.example.com/',
  workers: [worker],
  runs: [run],
  unreadable: ['evil'],
  chunks: {waiting: 0, active: 1},
  closedMs: 0,
});

test('the status of a fleet fits a terminal of 80 columns, and keeps what it has cost', () => {
  const shown = renderFleet(status, 7_200_000, 80);
  for (const line of shown.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
  expect(shown).toMatch(/1,234,567 +12 +2,000,000/);
  expect(shown).toMatch(/^1 worker$/m);
  expect(shown).toContain(`can't be read in Redis: "evil".`);
});

test('all columns are shown where there is room', () => {
  const shown = renderFleet(status, 7_200_000, 250);
  expect(shown).toContain('worker-7.batch.internal.example.com');
  for (const head of ['version', '1.10.12', '1.10.11', 'at most', 'answered', 'clock', 'values out', 'rate'])
    expect(shown).toContain(head);
});
