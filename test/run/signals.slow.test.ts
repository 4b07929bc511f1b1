import {existsSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {startApiServer} from '../support/api-server.ts';
import {bin, createSandbox, type RunningCommand, type Sandbox} from '../support/command.ts';
import {held, killedHere, runHere} from '../support/main.ts';
import {ips} from '../support/stage.ts';
import {openTerminal} from '../support/terminal.ts';
import {until} from '../support/until.ts';

const KEY = 'signal-key-0b7e';
const args = ['run', 'list.csv', '-o', 'out.csv', '--ip', 'ip', '--rate', 'unlimited', '--concurrency', '4'];

/** A run whose calls hang from the tenth on, until they are let go. */
async function hanging(sandbox: Sandbox, work: (run: RunningCommand, letGo: () => void) => Promise<void>) {
  await using api = await startApiServer({key: KEY});
  const env = {BULK_ENRICH_BASE_URL: api.url, BULK_ENRICH_API_KEY: KEY};
  const {gate, letGo} = held();
  api.setScript(({call}) => (call > 10 ? gate : undefined));
  sandbox.write('list.csv', ips(40));
  const run = sandbox.start(args, {env});
  await until(() => api.ledger.calls >= 14);
  await work(run, letGo);
  api.setScript(undefined);
  const {calls} = api.ledger;
  const again = await runHere(sandbox, args, {env});
  expect(again.code).toBe(0);
  return {api, calls, again};
}

// They mostly wait for processes and time limits.
describe.concurrent('a run that is told to end', () => {
  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)(
    '%s: nothing new is sent, calls in flight finish, all is saved, and the run names the command that resumes it',
    async (signal, code) => {
      using sandbox = createSandbox();
      const {api, calls, again} = await hanging(sandbox, async (run, letGo) => {
        run.kill(signal);
        await until(() => run.stderr.includes('Stopping'));
        letGo();
        const outcome = await run.outcome;
        expect(outcome).toMatchObject({code, signal: undefined});
        expect(outcome.stderr).toMatch(/^Safe: every answer paid for/m);
        expect(outcome.stderr).toContain(`To continue: bulk-enrich ${args.join(' ')}`);
        expect(sandbox.summary('out.summary.json')).toMatchObject({
          status: 'interrupted',
          reason: 'signal',
          exit_code: code,
          credits: {spent: 14, maybe_spent: 0},
        });
        expect(existsSync(sandbox.path('out.csv'))).toBe(false);
      });
      expect(calls).toBe(14);
      expect(again.stderr).toContain('Resuming: what the 14 calls made before answered is not asked again');
      expect(api.ledger.repeated()).toEqual([]);
    },
  );

  test('without a terminal the end of one (SIGHUP) is not heard: nohup, a closed terminal, a logout', async () => {
    using sandbox = createSandbox();
    await hanging(sandbox, async (run, letGo) => {
      run.kill('SIGHUP');
      run.kill('SIGHUP');
      letGo();
      const outcome = await run.outcome;
      expect(outcome).toMatchObject({code: 0, signal: undefined});
      expect(outcome.stderr).not.toContain('Stopping');
    });
  });

  test('the end of its own terminal (SIGHUP) stops a run, which saves its state', async () => {
    using sandbox = createSandbox();
    await using api = await startApiServer({key: KEY});
    const {gate, letGo} = held();
    api.setScript(({call}) => (call > 10 ? gate : undefined));
    sandbox.write('list.csv', ips(40));
    const terminal = openTerminal(`echo "pid $$ "; exec ${process.execPath} ${bin} ${args.join(' ')} --yes`, {
      cwd: sandbox.directory,
      env: {
        PATH: process.env.PATH ?? '',
        HOME: sandbox.home,
        BULK_ENRICH_BASE_URL: api.url,
        BULK_ENRICH_API_KEY: KEY,
      },
    });
    await until(() => api.ledger.calls >= 14);
    process.kill(Number(/pid (\d+) /.exec(terminal.written)?.[1]), 'SIGHUP');
    await until(() => terminal.written.includes('Stopping'));
    letGo();
    expect(await terminal.ended).toBe(143);
    expect(sandbox.summary('out.summary.json')).toMatchObject({reason: 'signal', credits: {spent: 14}});
  });

  test('a second signal exits now; calls in flight count as maybe spent, and are sent again', async () => {
    using sandbox = createSandbox();
    const {api} = await hanging(sandbox, async run => {
      run.kill('SIGINT');
      await until(() => run.stderr.includes('Stopping'));
      run.kill('SIGINT');
      expect(await run.outcome).toMatchObject({code: 130, signal: undefined});
    });
    expect(sandbox.summary('out.summary.json').credits).toMatchObject({spent: 40, maybe_spent: 4});
    expect(api.ledger.calls).toBe(44);
  });

  test('a call that hangs gets five seconds: then the run ends, and its books say that it may have been charged', async () => {
    using sandbox = createSandbox();
    await hanging(sandbox, async run => {
      run.kill('SIGTERM');
      expect(await run.outcome).toMatchObject({code: 143});
      expect(sandbox.summary('out.summary.json').credits).toMatchObject({spent: 10, maybe_spent: 4});
    });
  });

  test('--resends 0: a call in flight at a kill is unknown, and not sent again', async () => {
    using sandbox = createSandbox();
    await using api = await startApiServer({key: KEY});
    const env = {BULK_ENRICH_BASE_URL: api.url, BULK_ENRICH_API_KEY: KEY};
    const {gate, letGo} = held();
    api.setScript(({call}) => (call > 10 ? gate : undefined));
    sandbox.write('list.csv', ips(40));
    await killedHere(
      sandbox,
      [...args, '--resends', '0'],
      {env},
      {holds: () => api.ledger.calls >= 14, letGo},
    );
    api.setScript(undefined);
    expect((await runHere(sandbox, [...args, '--resends', '0'], {env})).code).toBe(3);
    expect(sandbox.summary('out.summary.json')).toMatchObject({
      lookups: {ip: {answered: 36, unknown: 4}},
      credits: {spent: 36, maybe_spent: 4},
    });
    expect(api.ledger.calls).toBe(40);
    expect(sandbox.read('out.csv').match(/,unknown,interrupted,/g)).toHaveLength(4);
  });

  test('one run per output: a second exits 11 without calls and names the holder; a dead holder blocks no run', async () => {
    using sandbox = createSandbox();
    const {api} = await hanging(sandbox, async (run, letGo) => {
      const calls = 14;
      const second = await runHere(sandbox, args, {
        env: {BULK_ENRICH_BASE_URL: 'http://127.0.0.1:9', BULK_ENRICH_API_KEY: KEY},
      });
      expect(second.code).toBe(11);
      expect(second.stderr).toContain(`process ${run.pid} on `);
      expect(existsSync(sandbox.path('out.summary.json'))).toBe(false);
      expect(calls).toBe(14);
      run.kill('SIGKILL');
      await run.outcome;
      letGo();
    });
    expect(api.ledger.distinct()).toBe(40);
  });
});
