import {beforeAll, expect, test} from 'vitest';
import {reply} from '../support/api-server-reply.ts';
import type {Sandbox} from '../support/command.ts';
import {openArena} from '../support/crash.ts';
import {runHere} from '../support/main.ts';
import {rowsOf} from './program.ts';

/**
 * Scores by `bulk-enrich score`, over a finished output with an answer, a failed lookup, one that is in doubt, a value
 * that is none and an empty cell.
 */

let box: Sandbox;

beforeAll(async () => {
  const arena = await openArena({
    script({value}) {
      if (value === '8.8.8.1')
        return reply.json({success: true, data: {is_vpn: true, country: 'DE', latitude: 50}});
      return value === '8.8.8.2' ? reply.error(400, 'not_known') : reply.drop();
    },
  });
  box = arena.sandbox;
  box.write('list.csv', 'id,ip\nanswered,8.8.8.1\nfailed,8.8.8.2\nlost,8.8.8.3\ninvalid,nonsense\nempty,\n');
  const args = ['run', 'list.csv', '-o', 'whole.csv', '--ip', 'ip', '--resends', '0', '--score', 'none'];
  expect((await runHere(box, args, arena)).code).toBe(3);
  return () => arena[Symbol.asyncDispose]();
});

const rule = (when: string, reason: string, add = 40) => `{when: '${when}', add: ${add}, reason: ${reason}}`;
const always = (...points: readonly number[]) =>
  points.map((add, nth) => rule('row.id != "x"', `r${nth}`, add)).join('\n  - ');
const withTor = (points: number, add?: number) =>
  `${always(points)}\n  - ${rule('ip.is_tor_node', 'tor', add)}`;

/** Rows without an answer. */
const unknown = Array(4).fill('unknown ip');
const others = Array(3).fill('unknown');
/** All rows have this score, and lack what {@link withTor} reads. */
const lacking = (score: string) => [`${score} ip.is_tor_node`, ...Array(4).fill(`${score} ip`)];
const DOUBT = rule('status.ip == "unknown"', 'doubt');
const EITHER = 'row.id == "failed" || ip.is_vpn';
const NOTHING = 'status.ip == "empty" || status.ip == "invalid"';

/** Rules, and each row's score, level, reasons and what its rules lacked. */
const table: readonly (readonly [name: string, rules: string, rows: readonly string[]])[] = [
  ['no points', always(0), Array(5).fill('0 low r0')],
  ['a sum below zero is zero', always(10, -100), Array(5).fill('0 low r0,r1')],
  ['a sum is kept only at its end', always(-100, 60, 60), Array(5).fill('20 low r0,r1,r2')],
  ['a sum above a hundred is a hundred', always(60, 60), Array(5).fill('100 high r0,r1')],
  ['points above a hundred are kept until the end', always(60, 60, -30), Array(5).fill('90 high r0,r1,r2')],
  ['just below medium', always(29), Array(5).fill('29 low r0')],
  ['medium', always(30), Array(5).fill('30 medium r0')],
  ['just below high', always(59), Array(5).fill('59 medium r0')],
  ['high', always(60), Array(5).fill('60 high r0')],
  ['a missing answer never lowers the risk', rule('!ip.is_vpn', 'clean', -50), ['0 low', ...unknown]],
  ['a field of the answer', rule('ip.is_vpn', 'vpn'), ['40 medium vpn', ...unknown]],
  ['a field that the answer lacks', rule('ip.is_tor_node', 'tor'), ['0 low ip.is_tor_node', ...unknown]],
  ['a field that may be missing', rule('has(ip.is_tor_node)', 'tor'), ['0 low', ...unknown]],
  ['a status', rule('status.ip == "failed"', 'failed'), ['0 low', '40 medium failed', ...others]],
  ['a code', rule('error.ip.startsWith("not_known")', 'no'), ['0 low', '40 medium no', ...others]],
  ['a doubt', DOUBT, ['0 low', 'unknown', '40 medium doubt', ...others.slice(1)]],
  [
    'nothing to look up',
    rule(NOTHING, 'no'),
    ['0 low', 'unknown', 'unknown', ...Array(2).fill('40 medium no')],
  ],
  ['a missing answer beside points', withTor(45), lacking('45 medium r0')],
  ['a missing answer beside high points', withTor(70), lacking('70 high r0')],
  ['a missing answer that could only lower', withTor(45, -40), lacking('45 medium r0')],
  ['a number', rule('ip.latitude > 49.5', 'north', 10), ['10 low north', ...unknown]],
  ['one side decides', rule(EITHER, 'either'), ['40 medium either', '40 medium either', ...unknown.slice(1)]],
];

test.each(table)('%s', async (_, rules, rows) => {
  box.write('rules.yaml', `levels: {medium: 30, high: 60}\nrules:\n  - ${rules}\n`);
  const args = ['score', 'whole.csv', '--rules', 'rules.yaml', '-o', 'out.csv', '--force'];
  const {code, stderr} = await runHere(box, args);
  expect(stderr).not.toContain('Error');
  expect(code).toBe(0);
  const list = (json = '') => (JSON.parse(json || '[]') as string[]).join();
  const scored = rowsOf(box.read('out.csv')).map(row => {
    const cells = [row.risk_score, row.risk_level, list(row.risk_reasons), list(row.risk_missing)];
    return cells.filter(Boolean).join(' ');
  });
  expect(scored).toEqual(rows);
});
