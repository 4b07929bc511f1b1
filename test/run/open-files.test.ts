import {chmodSync, readdirSync, readlinkSync} from 'node:fs';
import {expect, test} from 'vitest';
import {openArena} from '../support/crash.ts';
import {ips, openStage} from '../support/stage.ts';
import {withFs} from '../support/with-fs.ts';

/** True if this process has a socket of this number. */
function isSocket(file: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${file}`).startsWith('socket:');
  } catch {
    return false;
  }
}

test.skipIf(process.platform !== 'linux')(
  'more calls at once than the system has files for: told before the calls, which are fewer then',
  async () => {
    await using arena = await openArena({latencyMs: 300});
    const {sandbox, env, api} = arena;
    sandbox.write('list.csv', ips(400));
    const node = sandbox.write('../few-files', `#!/bin/sh\nulimit -n 120\nexec '${process.execPath}' "$@"\n`);
    chmodSync(node, 0o755);
    const flags = [
      '--ip',
      'ip',
      '--rate',
      'unlimited',
      '--concurrency',
      '300',
      '--no-store',
      '--max-outage',
      '1s',
    ];
    const {code, stderr} = await sandbox.run(['run', 'list.csv', '-o', 'out.csv', ...flags], {env, node});
    expect([code, api.ledger.calls]).toEqual([0, 400]);
    expect(stderr.replaceAll('\n', ' ')).toMatch(
      /Warning: This process may have 120 files open \(ulimit -Hn; LimitNOFILE of systemd\), too few for 300 calls at once \(--concurrency\): it makes at most \d+ calls at once/,
    );
  },
);

test.skipIf(process.platform !== 'linux')(
  'idle connections are closed before files are put in place',
  async () => {
    await using stage = await openStage({latencyMs: 20});
    stage.write('list.csv', ips(60));
    const sockets = () => readdirSync('/proc/self/fd').filter(isSocket).length;
    const seen: Record<string, number> = {};
    stage.api.setScript(() => {
      seen.calling = Math.max(seen.calling ?? 0, sockets());
      return undefined;
    });
    const noting = withFs(
      ({renameSync}) => ({
        renameSync(from, to) {
          if (String(to).endsWith('out.csv')) seen.publishing = sockets();
          renameSync(from, to);
        },
      }),
      () => stage.run({ip: 'ip', concurrency: 30}),
    );
    expect((await noting).code).toBe(0);
    // Each has two ends in this process; the service's end may not have noticed yet.
    expect((seen.calling ?? 0) - (seen.publishing ?? 0)).toBeGreaterThan(20);
  },
);
