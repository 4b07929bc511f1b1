import {once} from 'node:events';
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import type {Readable} from 'node:stream';
import {setTimeout as sleep} from 'node:timers/promises';
import {expect, test} from 'vitest';
import {FAST, KEY, startService} from '../e2e/service.ts';
import {createSandbox} from '../support/command.ts';
import {lacks} from '../support/real-parts.ts';
import {startRedis} from '../support/redis.ts';
import {until} from '../support/until.ts';

test.runIf(existsSync('/proc/self/cmdline'))('the process shows neither key nor arguments', async () => {
  await using service = await startService({latencyMs: 60_000});
  using sandbox = createSandbox();
  const {BULK_ENRICH_API_KEY: _, ...env} = service.env;
  const list = 'somebody@example.com.csv';
  sandbox.write(list, 'ip\n192.0.2.1\n');
  const run = sandbox.start(['run', list, ...FAST], {
    env: {
      ...env,
      BULK_ENRICH_API_KEY_COMMAND: `cat '${sandbox.write('../key', KEY)}'`,
      NODE_OPTIONS: `--report-on-signal --report-directory=${sandbox.home}`,
    },
  });
  try {
    await until(() => service.ledger.calls > 0);
    expect(service.ledger.keySeen).toBe(1);
    const seen = (name: string) => readFileSync(`/proc/${run.pid}/${name}`, 'utf8');
    expect(seen('cmdline').replaceAll('\0', ' ').trim()).toBe('bulk-enrich run');
    expect(seen('environ')).not.toContain(KEY);
    run.kill('SIGUSR2');
    const reports = () => readdirSync(sandbox.home).filter(name => /^report.*json$/.test(name));
    const text = () =>
      reports()
        .map(name => sandbox.read(`../home/${name}`))
        .join('');
    await until(() => text().trim().endsWith('}'));
    expect(text()).toContain('environmentVariables');
    expect(text()).not.toContain(KEY);
  } finally {
    run.kill('SIGKILL');
    await run.outcome;
  }
});

const QUIET = /^(?!.*Debugger)/s;

test
  .skipIf(process.platform === 'win32')
  .each<[string, string[], RegExp]>([
    ['run', ['run', 'list.csv', '--quiet', ...FAST], / 0 rows · \d credits · /],
    ['run that logs JSON', ['run', 'list.csv', '--log', 'json', ...FAST], /"event":"run_progress".*"rows":0/],
    ['serve', ['serve', '--port', '0'], QUIET],
    ...(lacks('redis') ? [] : [['worker', ['worker'], QUIET] as [string, string[], RegExp]]),
  ])(
  'SIGUSR1, as logrotate sends it, opens no debugger of a %s; a run tells its progress',
  async (_, args, told) => {
    await using service = await startService({latencyMs: 60_000});
    using sandbox = createSandbox();
    sandbox.write('list.csv', 'ip\n192.0.2.1\n');
    const isRun = args[0] === 'run';
    await using redis = args[0] === 'worker' ? await startRedis() : undefined;
    const command = sandbox.start(args, {env: {...service.env, BULK_ENRICH_REDIS_URL: redis?.url}});
    try {
      if (isRun) await until(() => service.ledger.calls > 0);
      else
        await Promise.race(
          (['stdout', 'stderr'] as const).map(name => once(command.child[name] as Readable, 'data')),
        );
      const before = command.stderr.length;
      for (let n = 0; n < 3; n++) {
        command.kill('SIGUSR1');
        await sleep(100);
      }
      await until(() => !isRun || command.stderr.length > before);
      expect(command.stderr).not.toContain('Debugger');
      expect(command.stderr.slice(before)).toMatch(told);
    } finally {
      command.kill('SIGKILL');
      await command.outcome;
    }
  },
);
