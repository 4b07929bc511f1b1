import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {readdirSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {perOperation} from '../../src/operations/table.ts';
import {Credits} from '../../src/service/credits.ts';
import {State} from '../../src/service/saved-state.ts';
import {ServiceSetupError, startService} from '../../src/service/start.ts';
import {Accounts} from '../../src/service/verdict/accounts.ts';
import {UserSessions} from '../../src/service/verdict/user-session.ts';
import {bin} from '../support/command.ts';
import {lacks} from '../support/real-parts.ts';
import {askService, running, temporaryFolder} from './running.ts';

const ip = '/intelligence/ip';

/** A state and what it is restored into, as the service has them. */
function open(folder: string, rewriteAfter: number) {
  const state = new State(folder, rewriteAfter);
  const credits = new Credits({...perOperation(() => 1), ip: 2}, undefined, ledger => state.keep({ledger}));
  const parts = {credits, sessions: new UserSessions(), accounts: new Accounts()};
  state.restore(parts);
  return {state, ...parts};
}

describe('the journal', () => {
  it('is written anew as it grows, and loses nothing by it', () => {
    const folder = temporaryFolder();
    const first = open(folder, 10);
    first.state.keep({session: {token: 't', ip: '9.9.9.9'}});
    first.sessions.redeem('t', digest => first.state.keep({redeemed: digest}));
    for (let call = 0; call < 1000; call++) first.credits.charge('ip', false);
    expect(readFileSync(join(folder, 'state.ndjson'), 'utf8').split('\n').length).toBeLessThan(20);
    first.state.close();

    const {state, credits, sessions} = open(folder, 10);
    expect(credits.ledger()).toMatchObject({spent: 2000, operations: {ip: {calls: 1000, credits: 2000}}});
    expect(sessions.find('t')).toEqual({token: 't', ip: '9.9.9.9'});
    expect(sessions.redeem('t', () => {})).toBe(true);
    state.close();
  });

  it('keeps the latest version of a session, once', () => {
    const folder = temporaryFolder();
    for (const ip of ['9.9.9.9', '8.8.8.8']) {
      const {state} = open(folder, 10);
      state.keep({session: {token: 't', ip}});
      state.close();
    }
    open(folder, 10).state.close();
    const lines = readFileSync(join(folder, 'state.ndjson'), 'utf8')
      .split('\n')
      .filter(line => line.includes('session'));
    expect(lines).toEqual(['{"session":{"token":"t","ip":"8.8.8.8"}}']);
  });
});

describe('state', () => {
  const verify = {action_id: 'a', token: 'kept'};
  const session = {token: 'kept', ip: '9.9.9.9', fingerprint: 'f'};

  it('survives a restart: ledger, balance, added sessions, redeemed tokens, accounts', async () => {
    const stateDir = temporaryFolder();
    const first = await startService({apiKey: 'k', credits: 10, stateDir});
    await askService(first, '/_sessions', {sessions: [session, {...session, token: 'other'}]});
    await askService(first, '/verify', {...verify, id: 'one', email: 'a.b@gmail.com'});
    await askService(first, ip, {ip: 'no'});
    const before = first.ledger();
    await first.close();
    for (const round of [1, 2]) {
      const next = await startService({apiKey: 'k', credits: 10, stateDir});
      if (round === 1) expect(next.ledger()).toEqual(before);
      const {json} = await askService(next, '/verify', verify);
      expect(json.verdict.redeemed).toBe(true);
      const other = await askService(next, '/verify', {action_id: 'a', token: 'other', id: 'two'});
      expect(other.json.multi_accounting.accounts).toMatchObject([
        {user_id: 'one', email: 'a.b@gmail.com', session_count: 1},
      ]);
      await next.close();
    }
  });

  it('survives a kill at any instant: every answered call is in the ledger', async () => {
    const stateDir = temporaryFolder();
    const script = `import {startService} from ${JSON.stringify(join(process.cwd(), 'dist/index.js'))};
      const service = await startService({apiKey: 'k', stateDir: ${JSON.stringify(stateDir)}});
      console.log(service.url);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const url = await new Promise<string>(resolve =>
      child.stdout.once('data', text => resolve(String(text).trim())),
    );
    let answered = 0;
    const asking = Array.from({length: 8}, async () => {
      while (child.exitCode === null && child.signalCode === null) {
        const reply = await askService({url, apiKey: 'k'} as never, ip, {ip: '8.8.8.8'}).catch(
          () => undefined,
        );
        if (reply?.status === 200) answered++;
        if (answered > 100) child.kill('SIGKILL');
        if (reply === undefined) return;
      }
    });
    await Promise.all([...asking, once(child, 'exit')]);
    const next = await running({stateDir});
    const {spent} = next.ledger();
    expect(spent).toBeGreaterThanOrEqual(answered);
    expect(spent).toBeLessThanOrEqual(answered + 8);
  });

  it('in a place that is no folder is an error that names it', async () => {
    const starting = startService({stateDir: 'package.json/state'});
    await expect(starting).rejects.toThrow(ServiceSetupError);
    await expect(starting).rejects.toThrow(/package\.json\/state/);
  });

  it('is for its owner alone', async () => {
    const stateDir = join(temporaryFolder(), 'new');
    await running({stateDir});
    expect(statSync(stateDir).mode & 0o777).toBe(0o700);
    expect(statSync(join(stateDir, 'state.ndjson')).mode & 0o777).toBe(0o600);
  });

  it('holds neither key nor token', async () => {
    const stateDir = temporaryFolder();
    const service = await running({apiKey: 'canary-key', stateDir});
    await askService(service, '/verify', {action_id: 't/FFFFFFFFFFFFF/111111111', token: 'canary-token'});
    expect(readFileSync(join(stateDir, 'state.ndjson'), 'utf8')).not.toMatch(/canary/);
  });

  it('is not for two services at once, and leaves no lock behind', async () => {
    const stateDir = temporaryFolder();
    const first = await running({stateDir});
    await expect(startService({stateDir})).rejects.toThrow(`is in use by process ${process.pid} on `);
    await first.close();
    expect(readdirSync(stateDir)).toEqual(['state.ndjson']);
    await running({stateDir});
  });

  it.skipIf(lacks('namespaces'))(
    'is free again once its service was killed as process 1 of a container',
    async () => {
      const stateDir = temporaryFolder();
      const serve = () =>
        spawn(
          'unshare',
          [
            '--pid',
            '--fork',
            '--kill-child',
            process.execPath,
            bin,
            'serve',
            '--port',
            '0',
            '--state',
            stateDir,
          ],
          {stdio: ['ignore', 'pipe', 'pipe']},
        );
      for (const _ of [1, 2]) {
        const child = serve();
        const said = await Promise.race([once(child.stdout, 'data'), once(child.stderr, 'data')]);
        expect(String(said[0])).toContain('http://127.0.0.1:');
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
    },
  );

  it('drops a last line that was cut short, and refuses any other broken one', async () => {
    const stateDir = temporaryFolder();
    const path = join(stateDir, 'state.ndjson');
    writeFileSync(path, '{"ledger":{"op":"ip","cost":1}}\n{"ledger":{"op":"ip","co');
    const service = await startService({stateDir});
    expect(service.ledger().spent).toBe(1);
    await service.close();
    writeFileSync(path, '{"ledger":\n{"ledger":{"op":"ip","cost":1}}\n');
    await expect(startService({stateDir})).rejects.toThrow(/state\.ndjson:1 /);
  });
});
