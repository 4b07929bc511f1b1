import {existsSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {bin, type RunningCommand} from '../support/command.ts';
import {openArena} from '../support/crash.ts';
import {held, killedHere, runHere} from '../support/main.ts';
import {ips} from '../support/stage.ts';
import {openTerminal} from '../support/terminal.ts';
import {until} from '../support/until.ts';

const args = ['run', 'list.csv', '-o', 'out.csv', '--ip', 'ip', '--rate', 'unlimited', '--concurrency', '4'];

const stopped = {status: 'interrupted', reason: 'signal'};

/** A list of 40 values, and a service whose calls hang from the tenth on, until they are let go. */
async function openHanging() {
  const arena = await openArena();
  const {gate, letGo} = held();
  arena.api.setScript(({call}) => (call > 10 ? gate : undefined));
  arena.sandbox.write('list.csv', ips(40));
  return {...arena, letGo, isHanging: () => arena.api.ledger.calls >= 14};
}

/** Starts a run, works while its calls hang, and runs it again. */
async function hanging(
  {sandbox, api, env, isHanging}: Awaited<ReturnType<typeof openHanging>>,
  work: (run: RunningCommand) => Promise<void>,
) {
  const run = sandbox.start(args, {env});
  await until(isHanging);
  await work(run);
  api.setScript(undefined);
  const {calls} = api.ledger;
  const again = await runHere(sandbox, args, {env});
  expect(again.code).toBe(0);
  return {calls, again};
}

// They mostly wait for processes and time limits.
describe.concurrent('a run that is told to end', () => {
  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)(
    '%s: nothing new is sent, calls in flight finish, all is saved, and the run names the command that resumes it',
    async (signal, code) => {
      await using arena = await openHanging();
      const {sandbox, api, letGo} = arena;
      const {calls, again} = await hanging(arena, async run => {
        run.kill(signal);
        await until(() => run.stderr.includes('Stopping'));
        letGo();
        const outcome = await run.outcome;
        expect(outcome).toMatchObject({code, signal: undefined});
        expect(outcome.stderr).toMatch(/^Safe: every answer paid for/m);
        expect(outcome.stderr).toContain(`To continue: bulk-enrich ${args.join(' ')}`);
        const saved = {exit_code: code, credits: {spent: 14, maybe_spent: 0}};
        expect(sandbox.summary('out.summary.json')).toMatchObject({...stopped, ...saved});
        expect(existsSync(sandbox.path('out.csv'))).toBe(false);
      });
      expect(calls).toBe(14);
      expect(again.stderr).toContain('Resuming: what the 14 calls made before answered is not asked again');
      expect(api.ledger.repeated()).toEqual([]);
    },
  );

  test('without a terminal the end of one (SIGHUP) is not heard: nohup, a closed terminal, a logout', async () => {
    await using arena = await openHanging();
    await hanging(arena, async run => {
      run.kill('SIGHUP');
      run.kill('SIGHUP');
      arena.letGo();
      const outcome = await run.outcome;
      expect(outcome).toMatchObject({code: 0, signal: undefined});
      expect(outcome.stderr).not.toContain('Stopping');
    });
  });

  test('the end of its own terminal (SIGHUP) stops a run, which saves its state', async () => {
    await using arena = await openHanging();
    const {sandbox, env, letGo, isHanging} = arena;
    const line = `echo "pid $$ "; exec '${process.execPath}' '${bin}' ${args.join(' ')} --yes`;
    const all = {PATH: process.env.PATH ?? '', HOME: sandbox.home, ...env};
    const terminal = openTerminal(line, {cwd: sandbox.directory, env: all});
    await until(isHanging);
    process.kill(Number(/pid (\d+) /.exec(terminal.written)?.[1]), 'SIGHUP');
    await until(() => terminal.written.includes('Stopping'));
    letGo();
    expect(await terminal.ended).toBe(143);
    expect(sandbox.summary('out.summary.json')).toMatchObject({reason: 'signal', credits: {spent: 14}});
  });

  test('a second signal exits now; calls in flight count as maybe spent, and are sent again', async () => {
    await using arena = await openHanging();
    const {sandbox, api} = arena;
    await hanging(arena, async run => {
      run.kill('SIGINT');
      await until(() => run.stderr.includes('Stopping'));
      run.kill('SIGINT');
      expect(await run.outcome).toMatchObject({code: 130, signal: undefined});
    });
    expect(sandbox.summary('out.summary.json').credits).toMatchObject({spent: 40, maybe_spent: 4});
    expect(api.ledger.calls).toBe(44);
  });

  test('a call that hangs gets five seconds: then the run ends, and its books say that it may have been charged', async () => {
    await using arena = await openHanging();
    const {sandbox} = arena;
    await hanging(arena, async run => {
      run.kill('SIGTERM');
      expect(await run.outcome).toMatchObject({code: 143});
      expect(sandbox.summary('out.summary.json').credits).toMatchObject({spent: 10, maybe_spent: 4});
    });
  });

  test('--resends 0: a call in flight at a kill is unknown, and not sent again', async () => {
    await using arena = await openHanging();
    const {sandbox, api, env, letGo, isHanging} = arena;
    await killedHere(sandbox, [...args, '--resends', '0'], {env}, {holds: isHanging, letGo});
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
    await using arena = await openHanging();
    const {sandbox, api, env, letGo} = arena;
    await hanging(arena, async run => {
      const second = await runHere(sandbox, args, {env});
      expect(second.code).toBe(11);
      expect(second.stderr).toContain(`process ${run.pid} on `);
      expect(existsSync(sandbox.path('out.summary.json'))).toBe(false);
      expect(api.ledger.calls).toBe(14);
      run.kill('SIGKILL');
      await run.outcome;
      letGo();
    });
    expect(api.ledger.distinct()).toBe(40);
  });
});
