import {parse} from 'csv-parse/sync';
import {expect, test} from 'vitest';
import type {Sandbox} from '../support/command.ts';
import {type Arena, openArena} from '../support/crash.ts';
import {held, killedHere, runHere} from '../support/main.ts';
import {ips} from '../support/stage.ts';

const IN_FLIGHT = 4;
const ANSWERED = 16;
const SENT = ANSWERED + IN_FLIGHT;

interface Killed extends Pick<Arena, 'sandbox' | 'api' | 'env'> {
  /** The same command again, with these words more. */
  again(...more: string[]): ReturnType<Sandbox['run']>;
}

/**
 * A run killed with {@link IN_FLIGHT} calls in flight: the service carries them out, and no process gets the answers.
 */
async function killed(
  list: string,
  words: readonly string[],
  work: (scene: Killed) => Promise<void>,
  input: 'list.csv' | '-' = 'list.csv',
): Promise<void> {
  await using arena = await openArena();
  const {sandbox, api, env} = arena;
  sandbox.write('list.csv', list);
  sandbox.write('job.yaml', 'endpoint: live\n');
  const args = ['run', input, '-o', 'out.csv', ...words, '--concurrency', String(IN_FLIGHT)];
  const given = {env, stdin: input === '-' ? list : ''};
  const {gate, letGo} = held();
  api.setScript(({call}) => (call > ANSWERED ? gate : undefined));
  await killedHere(sandbox, [...args, '--rate', 'unlimited'], given, {
    holds: () => api.ledger.calls === SENT,
    letGo,
  });
  api.setScript(undefined);
  await work({
    ...arena,
    again: (...more) => runHere(sandbox, [...args, '--rate', 'unlimited', ...more], given),
  });
}

const IPS = ['--ip', 'ip', '--max-credits', String(SENT), '--no-store'];

test('spent and maybe spent credits of a killed run count against its limit until --restart begins a new count', () =>
  killed(ips(30), IPS, async ({sandbox, api, again}) => {
    const resumed = await again();
    expect([resumed.code, resumed.stderr]).toEqual([7, expect.stringContaining('--restart')]);
    expect(api.ledger.credits).toBe(SENT);
    const {credits, calls} = sandbox.summary('out.summary.json');
    expect(credits.spent + credits.maybe_spent).toBe(SENT);
    expect(credits.maybe_spent).toBeGreaterThanOrEqual(IN_FLIGHT);
    expect(calls.total).toBe(credits.spent);

    expect((await again('--restart')).code).toBe(0);
    const after = sandbox.summary('out.summary.json').credits;
    expect(after.maybe_spent).toBe(0);
    expect(after.spent + SENT).toBe(api.ledger.credits);
    // Only what was in flight is asked for again.
    expect(api.ledger.repeated()).toHaveLength(credits.maybe_spent);
  }));

test('a new count is no way around `--resends 0`', () =>
  killed(ips(30), ['--ip', 'ip', '--resends', '0', '--no-store'], async ({sandbox, api, again}) => {
    expect((await again('--restart')).code).toBe(3);
    expect(api.ledger.repeated()).toEqual([]);
    const {lookups} = sandbox.summary('out.summary.json');
    expect(lookups.ip?.unknown).toBeGreaterThanOrEqual(IN_FLIGHT);
    expect(lookups.ip?.distinct).toBe(30);
  }));

const tokens = Array.from({length: 24}, (_, index) => `session-token-${index + 1}`);
const VERDICTS = ['--verdict', 'token=token,action=signup'];

test.each([
  ['resumes', []],
  ['begins a new count', ['--restart']],
])(
  'our own call does not pass for a replay of the user’s where a run %s: verdicts in doubt stay in doubt',
  (_, more) =>
    killed(`token\n${tokens.join('\n')}\n`, VERDICTS, async ({sandbox, api, again}) => {
      const ended = await again(...more);
      expect([ended.code, ended.stderr]).toEqual([3, expect.any(String)]);
      const rows = parse(sandbox.read('out.csv'), {columns: true}) as Record<string, string>[];
      expect(rows).toHaveLength(tokens.length);
      const asked = new Map(api.ledger.values.verify);
      for (const {token = '', verdict_status, verdict_error, verdict_redeemed} of rows) {
        const twice = (asked.get(token) ?? 0) > 1;
        expect([token, verdict_status, verdict_error, verdict_redeemed]).toEqual(
          twice ? [token, 'unknown', 'verdict_replay_uncertain', 'true'] : [token, 'ok', '', 'false'],
        );
      }
      const {stdout} = await runHere(sandbox, ['spend', '--json'], {});
      const {spent, maybe_spent: maybe} = JSON.parse(stdout).total;
      expect(spent + maybe).toBe(api.ledger.credits);
    }),
);

const BOTH = [
  ...Array.from({length: ANSWERED}, (_, index) => `192.0.2.${index + 1},`),
  ...Array.from({length: IN_FLIGHT}, (_, index) => `,person${index + 1}@example.com`),
];

test('doubtful calls of columns no longer looked up stay in the counts of their operation, and in the history', () =>
  killed(
    `ip,email\n${BOTH.join('\n')}\n`,
    ['--ip', 'ip', '--email', 'email'],
    async ({sandbox, api, env}) => {
      const again = ['run', 'list.csv', '-o', 'out.csv', '--ip', 'ip', '--rate', 'unlimited'];
      expect((await runHere(sandbox, again, {env})).code).toBe(0);
      const {credits} = sandbox.summary('out.summary.json');
      expect(credits.spent + credits.maybe_spent).toBe(api.ledger.credits);
      const ofEach = Object.values(credits.by_operation);
      const sumOf = (name: 'spent' | 'maybe_spent') => ofEach.reduce((sum, one) => sum + one[name], 0);
      expect([sumOf('spent'), sumOf('maybe_spent')]).toEqual([credits.spent, credits.maybe_spent]);
      const {stdout} = await runHere(sandbox, ['spend', '--by', 'operation', '--json'], {});
      expect(JSON.parse(stdout).total).toMatchObject({
        spent: credits.spent,
        maybe_spent: credits.maybe_spent,
      });
    },
  ));

test('a killed run over stdin resumes with the same list and other settings', () =>
  killed(
    ips(30),
    ['--ip', 'ip', '--no-store'],
    async ({sandbox, api, again}) => {
      expect((await again('--score', 'none', '--job', 'job.yaml')).code).toBe(0);
      const {spent, maybe_spent} = sandbox.summary('out.summary.json').credits;
      expect(spent + maybe_spent).toBe(api.ledger.credits);
      expect(api.ledger.repeated().length).toBeLessThanOrEqual(IN_FLIGHT);
      const {stdout} = await runHere(sandbox, ['spend', '--json'], {});
      expect(JSON.parse(stdout).total).toMatchObject({spent, maybe_spent});
    },
    '-',
  ));
