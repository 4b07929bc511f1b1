import {readFileSync, writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {afterAll, describe, expect, test} from 'vitest';
import type {FaultCase} from './case.ts';
import {answerCases} from './cases-answers.ts';
import {networkCases} from './cases-network.ts';
import {refusalCases} from './cases-refusals.ts';
import {throttlingCases} from './cases-throttling.ts';
import {timeCases} from './cases-time.ts';
import {verdictCases} from './cases-verdicts.ts';

/**
 * Every fault that a run may meet, with what is expected of it. The table in README.md beside this file is what these
 * tests saw: they fail where they see something else. `UPDATE=1 npx vitest run test/fault/faults.test.ts` writes it.
 */

const quick = [...networkCases, ...answerCases, ...refusalCases, ...throttlingCases, ...verdictCases];
const all = [...quick, ...timeCases];
const table = fileURLToPath(new URL('README.md', import.meta.url));
const updating = process.env.UPDATE === '1';
const seen = new Map<string, string>();

const line = ({fault, expected}: FaultCase, saw: string) => `| ${fault} | ${expected} | ${saw} |`;
const committed = () => readFileSync(table, 'utf8').split('\n');

async function check(each: FaultCase): Promise<void> {
  const saw = await each.see();
  seen.set(each.fault, saw);
  if (!updating) expect(committed()).toContain(line(each, saw));
}

describe.concurrent('a fault', () => {
  for (const each of quick) test(each.fault, {timeout: 150_000}, () => check(each));
});

describe('a fault that lasts', () => {
  for (const each of timeCases) test(each.fault, {timeout: 150_000}, () => check(each));
});

test('the table names these faults and no others', () => {
  if (updating) return;
  const rows = committed().filter(each => each.startsWith('| ') && !each.startsWith('| fault '));
  expect(rows.map(row => row.split(' | ')[0]?.slice(2))).toEqual(all.map(({fault}) => fault));
});

afterAll(() => {
  if (!updating || seen.size < all.length) return;
  const text = committed();
  const from = text.findIndex(each => each.startsWith('| fault '));
  const rows = all.map(each => line(each, seen.get(each.fault) ?? ''));
  writeFileSync(table, [...text.slice(0, from + 2), ...rows, ''].join('\n'));
});
