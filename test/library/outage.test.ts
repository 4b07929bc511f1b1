import {afterEach, beforeEach, expect, it, vi} from 'vitest';
import {enrich} from '../../src/index.ts';
import {policyNumbers} from '../../src/lookup/retry-policy.ts';
import {reply} from '../support/api-server-reply.ts';
import {until} from '../support/until.ts';
import {address, bySpeed, startProgram} from './program.ts';

const settings = {...bySpeed, ip: 'ip', score: 'none', concurrency: 2} as const;

/** Time stands still, but for what a test lets pass. */
let passedMs = 0;
beforeEach(() => {
  const start = performance.now();
  passedMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => start + passedMs);
});
afterEach(() => vi.restoreAllMocks());

const rows = (from: number, count: number) =>
  Array.from({length: count}, (_, n) => ({ip: address(from + n)}));

it('rows of enrich wait for maxOutage, and then end with the outage: none comes without its answer', async () => {
  await using program = await startProgram({script: () => reply.drop()});
  const out: unknown[] = [];
  const warnings: string[] = [];
  const reading = async () => {
    const asked = {...settings, maxOutage: '10s'} as const;
    const options = {...program.options, onWarning: (sentence: string) => warnings.push(sentence)};
    for await (const row of enrich(rows(0, 12), asked, options)) out.push(row);
  };
  const ended = expect(reading()).rejects.toMatchObject({code: 'outage', exitCode: 5});
  await until(() => program.api.ledger.calls >= policyNumbers.outageValues);
  // The run may take another moment to hear of the last of them: time passes until it has.
  const passing = setInterval(() => {
    passedMs += 10_000;
  }, 20);
  await ended;
  clearInterval(passing);
  expect(out).toEqual([]);
  expect(warnings.filter(text => text.includes('tries again by itself'))).toEqual([
    expect.stringMatching(/until \S+Z at most \(maxOutage\)/),
  ]);
});
