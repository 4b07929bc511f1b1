import {expect, test} from 'vitest';
import {startService} from '../e2e/service.ts';
import {reply} from '../support/api-server-reply.ts';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';

const IPS = Array.from({length: 9}, (_, n) => `192.0.2.${n}`);
const LIST = `ip,token\n${[...IPS, ...IPS].map((ip, n) => `${ip},token-${n % 4}\n`).join('')}`;
const VERDICT = ['--verdict', 'token=token,action=a'];

test.each<[string, readonly string[], {limit: number; need: number; calls: number; lost?: number}]>([
  ['with an answer store', [], {limit: 2, need: 9, calls: 9}],
  ['without one', ['--no-store'], {limit: 2, need: 9, calls: 9}],
  ['at another price', ['--cost', 'ip=1.5'], {limit: 4, need: 14, calls: 9}],
  // Each row of a token has a verdict of its own.
  ['with verdicts', VERDICT, {limit: 5, need: 27, calls: 27}],
  ['with verdicts, without a store', ['--no-store', ...VERDICT], {limit: 5, need: 27, calls: 27}],
  ['with calls that brought no answer', [], {limit: 4, need: 11, calls: 11, lost: 2}],
])(
  'a run that stops at its limit names what all rows need, %s',
  async (_, flags, {limit, need, calls, lost = 0}) => {
    await using service = await startService({script: ({call}) => (call <= lost ? reply.drop() : undefined)});
    using sandbox = createSandbox();
    sandbox.write('list.csv', LIST);
    const run = (...words: readonly string[]) => runHere(sandbox, ['run', ...words], {env: service.env});
    const args = ['list.csv', '--ip', 'ip', ...flags, '--rate', 'unlimited', '--score', 'none'];
    const stopped = await run(...args, '--max-credits', String(limit));
    const [, command = ''] = /^To continue: bulk-enrich run (.*)$/m.exec(stopped.stderr) ?? [];
    expect([stopped.code, command]).toEqual([7, `${args.join(' ')} --max-credits ${need}`]);
    expect((await run(...command.split(' '))).code).toBe(0);
    expect(service.ledger.calls).toBe(calls);
  },
);

test('a pipe can not be counted again: the limit is doubled', async () => {
  await using service = await startService();
  using sandbox = createSandbox();
  const args = ['run', '-', '-o', 'out.csv', '--ip', 'ip', '--max-credits', '2'];
  const {stderr} = await runHere(sandbox, args, {env: service.env, stdin: LIST});
  expect(stderr).toMatch(/^To continue: .* --max-credits 4$/m);
});

test('a run of which each lookup has a condition asks before it spends, too', async () => {
  await using service = await startService();
  using sandbox = createSandbox({'list.csv': 'ip,buys\n192.0.2.1,yes\n'});
  sandbox.write('job.yaml', 'input: list.csv\nendpoint: live\nip: {column: ip, when: row.buys == "yes"}\n');
  const terminal = {env: service.env, stdin: 'n\n', isTerminal: true};
  const {code, stderr} = await runHere(sandbox, 'run --job job.yaml', terminal);
  expect([code, service.ledger.requests]).toEqual([130, 0]);
  expect(stderr).toContain('0 to 1 call, 0 to 1 credit (3 at worst)');
});
