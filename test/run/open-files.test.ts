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

/** Takes all files for the first connections: the limit alone can't tell that others will have them open. */
const GREEDY = `import {closeSync, openSync} from 'node:fs';
import {Socket} from 'node:net';
const {connect} = Socket.prototype;
let left = 12;
Socket.prototype.connect = function (...args) {
  const held = [];
  try {
    while (left > 0) held.push(openSync('/dev/null'));
  } catch {}
  left -= 1;
  setTimeout(() => held.forEach(closeSync), 1);
  return connect.apply(this, args);
};
`;

test.skipIf(process.platform !== 'linux').each([
  [
    'before the calls, which are fewer then',
    300,
    400,
    '',
    /Warning: This process may have 120 files open \(ulimit -Hn; LimitNOFILE of systemd\), too few for 300 calls at once \(--concurrency\): it makes at most \d+ calls at once/,
  ],
  [
    'while they are made',
    8,
    24,
    GREEDY,
    /This process has too many open files \(ulimit -Hn\), so the service can't be used \(emfile\)\. The run tries again by itself/,
  ],
])('more files than the system has are told %s', async (_, concurrency, rows, preloaded, told) => {
  await using arena = await openArena({latencyMs: 300});
  const {sandbox, env, api} = arena;
  sandbox.write('list.csv', ips(rows));
  const preload = sandbox.write('../preload.mjs', preloaded);
  const script = `#!/bin/sh\nulimit -n 120\nexec '${process.execPath}' --import '${preload}' "$@"\n`;
  const node = sandbox.write('../few-files', script);
  chmodSync(node, 0o755);
  const more = `--ip ip --rate unlimited --concurrency ${concurrency} --no-store --max-outage 1m`;
  const {code, stderr} = await sandbox.run(['run', 'list.csv', '-o', 'out.csv', ...more.split(' ')], {
    env,
    node,
  });
  expect([code, api.ledger.calls], stderr).toEqual([0, rows]);
  expect(stderr.replaceAll('\n', ' ')).toMatch(told);
});

test.skipIf(process.platform !== 'linux')(
  'idle connections are closed before files are put in place',
  async () => {
    await using stage = await openStage({list: ips(60), latencyMs: 20});
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
