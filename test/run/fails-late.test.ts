import {appendFileSync, rmSync} from 'node:fs';
import {afterEach, beforeEach, expect, test, vi} from 'vitest';
import {Sqlite} from '../../src/disk/sqlite.ts';
import {enrich} from '../../src/index.ts';
import type {Summary} from '../../src/report/summary.ts';
import {ips, openStage, type Stage} from '../support/stage.ts';

const ROWS = 12;

let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
  stage.write('list.csv', ips(ROWS));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await stage[Symbol.asyncDispose]();
});

const settings = () =>
  ({ip: 'ip', score: 'none', store: false, summary: stage.path('summary.json')}) as const;
const isAllSent = () => stage.api.ledger.calls >= ROWS;

/** From the last call on, the disk takes no transaction of the ledger. */
function fillDisk(): void {
  const {transaction} = Sqlite.prototype;
  vi.spyOn(Sqlite.prototype, 'transaction').mockImplementation(function (this: Sqlite, work: () => unknown) {
    if (isAllSent()) throw Object.assign(new Error('full'), {code: 'SQLITE_FULL'});
    return transaction.call(this, work);
  } as typeof transaction);
}

async function takeAll(): Promise<number> {
  const rows = Array.from({length: ROWS}, (_, n) => ({ip: `203.0.113.${n}`}));
  const enriched = enrich(rows, {...settings(), rate: 'unlimited'}, {env: stage.env});
  try {
    for await (const _ of enriched);
    return 0;
  } catch (error) {
    return (error as {exitCode: number}).exitCode;
  }
}

test.each<[string, () => Promise<number>, number]>([
  [
    'the ledger of a program’s rows',
    () => {
      fillDisk();
      return takeAll();
    },
    9,
  ],
  [
    'the ledger of a stream',
    async () => {
      fillDisk();
      return (await stage.run({...settings(), output: '-'})).code;
    },
    9,
  ],
  [
    'a list that is to be read again',
    async () => {
      const list = stage.path('list.csv');
      stage.api.setScript(({call}) => {
        if (call === ROWS) appendFileSync(list, '203.0.113.0\n');
        return undefined;
      });
      const warned = (sentence: string) => sentence.includes('read again') && rmSync(list);
      return (await stage.run(settings(), {warned, stillMs: {least: 1, most: 1}})).code;
    },
    8,
  ],
])('calls that were sent are in the summary, though %s fails afterwards', async (_, run, code) => {
  expect([await run(), isAllSent()]).toEqual([code, true]);
  const {credits, exit_code} = JSON.parse(stage.read('summary.json')) as Summary;
  expect([exit_code, credits.spent + credits.maybe_spent]).toEqual([code, ROWS]);
});
