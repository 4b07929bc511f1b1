import {setImmediate as nextTurn} from 'node:timers/promises';
import {expect, test} from 'vitest';
import type {PlannedCell} from '../../src/columns/plan-row.ts';
import type {Reject} from '../../src/input/row.ts';
import type {Lookups} from '../../src/lookup/lookups.ts';
import type {Layout} from '../../src/run/layout/layout.ts';
import {type PendingRecord, ReorderBuffer} from '../../src/run/rows/reorder-buffer.ts';
import {RowAdmission} from '../../src/run/rows/row-admission.ts';
import {Stopper} from '../../src/run/stop.ts';
import {csvRow} from '../lookup/rows.ts';
import {whole} from '../support/whole.ts';

const MIB = 1_048_576;

/** A row in the window, of a few bytes, whose lookup is not answered yet. */
const pending = (): PendingRecord => ({
  record: whole<Reject>({type: 'reject'}),
  results: [undefined],
  repairs: undefined,
  missing: 1,
  bytes: 100,
  queued: false,
});
const answer = {status: 'ok', data: 'x'.repeat(MIB), boughtAt: 1} as const;

test('answers behind a slow value fill the window as rows do, and leave it with their rows', async () => {
  const window = new ReorderBuffer();
  const rows = Array.from({length: 65}, pending);
  for (const row of rows) window.push(row);
  expect(window.full).toBe(false);
  for (const row of rows.slice(1)) window.complete(row, 0, answer);
  expect(window.full).toBe(true);
  window.complete(rows[0] as PendingRecord, 0, {status: 'failed', error: 'timeout'});
  expect((await window.take())?.length).toBe(65);
  expect(window.full).toBe(false);
});

test('768 records are in the window and with the writer at most, and behind a slow one any number', async () => {
  const window = new ReorderBuffer();
  const rows: PendingRecord[] = [];
  const add = (count: number) => {
    for (let row = 0; row < count; row++) {
      const entry = pending();
      window.push(entry);
      rows.push(entry);
    }
  };
  /** Adds groups as {@link RowAdmission} does, until there is no room. Returns the number of all rows. */
  const fill = async () => {
    for (;;) {
      const room = await Promise.race([window.waitForRoom(), nextTurn(0)]);
      if (room === 0 || rows.length > 2_000) return rows.length;
      add(Math.min(room, 256));
    }
  };
  const failed = {status: 'failed', error: 'timeout'} as const;
  const complete = () => {
    for (const row of rows) if (row.missing > 0) window.complete(row, 0, failed);
  };
  add(256);
  window.complete(rows[0] as PendingRecord, 0, failed);
  expect((await window.take())?.length).toBe(1);
  expect(await fill()).toBe(768);
  complete();
  expect((await window.take())?.length).toBe(256);
  expect(await fill()).toBe(769);
  expect((await window.take())?.length).toBe(256);
  expect(await fill()).toBe(1 + 256 + 768);
  expect((await window.take())?.length).toBe(255);
  void window.take();
  expect(await fill()).toBeGreaterThan(2_000);
});

test('an answer that comes before its row is in the window counts once', () => {
  const window = new ReorderBuffer();
  for (let row = 0; row < 63; row++) {
    const entry = pending();
    window.complete(entry, 0, answer);
    window.push(entry);
  }
  expect(window.full).toBe(false);
  const last = pending();
  window.push(last);
  window.complete(last, 0, answer);
  expect(window.full).toBe(true);
});

test('the window counts what lookups take, too: rows of short cells fill it sooner by theirs', async () => {
  const isFilledBy = async (plan: PlannedCell) => {
    const window = new ReorderBuffer();
    const layout = whole<Layout>({
      lookupConditions: undefined,
      mapping: {targets: [], planRow: () => [plan, plan]},
    });
    const lookups = whole<Lookups>({ask: async () => {}});
    const admission = new RowAdmission({layout, window, lookups, stopper: new Stopper()});
    const row = csvRow(['192.0.2.1']);
    await admission.admit(Array.from({length: 60_000}, () => row));
    return window.full;
  };
  const lookup = {operation: 'ip', key: '192.0.2.1', params: {ip: '192.0.2.1'}} as const;
  expect(await isFilledBy({status: 'ask', lookup})).toBe(true);
  expect(await isFilledBy({status: 'empty'})).toBe(false);
});
