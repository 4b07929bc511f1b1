import {dirname} from 'node:path';
import {beforeAll, expect, test} from 'vitest';
import {openArena} from '../support/crash.ts';
import {lacks} from '../support/real-parts.ts';
import {ips} from '../support/stage.ts';
import {tracedNode} from '../support/strace.ts';

const ROWS = 12;

/** The system calls of a run with a limit, which ends well. */
let lines: readonly string[] = [];
beforeAll(async () => {
  if (lacks('strace')) return;
  await using arena = await openArena();
  const {sandbox, env} = arena;
  sandbox.write('list.csv', ips(ROWS));
  const {node, log} = tracedNode(sandbox, 'mkdir,openat,pwrite64,fsync,fdatasync,writev');
  const flags = '--concurrency 4 --rate unlimited --max-credits 100 --state deep/er/state'.split(' ');
  const args = ['run', 'list.csv', '-o', 'out.csv', '--ip', 'ip', ...flags];
  expect((await sandbox.run(args, {env, node})).code).toBe(0);
  lines = log();
});

test.skipIf(lacks('strace'))(
  'where there is a limit, a call leaves once the disk has its reservation: a power cut forgets no credit',
  () => {
    const opened = lines.find(line => line.includes('ledger.db-wal"') && line.includes('openat('));
    const file = /= (\d+)$/.exec(opened ?? '')?.[1];
    let isSynced = true;
    let sent = 0;
    for (const line of lines.slice(lines.indexOf(opened ?? ''))) {
      if (line.includes(`pwrite64(${file},`)) isSynced = false;
      if (new RegExp(`f(data)?sync\\(${file}\\)`).test(line)) isSynced = true;
      if (!line.includes('"POST ')) continue;
      sent += 1;
      expect(isSynced, `call ${sent}`).toBe(true);
    }
    expect(sent).toBe(ROWS);
  },
);

test.skipIf(lacks('strace'))(
  'before a call leaves, the directories of the run’s state outlive a power cut',
  () => {
    const sent = lines.findIndex(line => line.includes('"POST '));
    const unsynced = new Set<string>();
    const opened = new Map<string, string>();
    for (const line of lines.slice(0, sent)) {
      // Newer Node also keeps compiled code, which a power cut may take.
      const [, made] = /mkdir\("([^"]*deep[^"]*)".* = 0$/.exec(line) ?? [];
      if (made !== undefined) unsynced.add(made);
      const [, path = '', file = ''] = /openat\(AT_FDCWD, "([^"]+)".* = (\d+)$/.exec(line) ?? [];
      opened.set(file, path);
      const [, synced = ''] = /fsync\((\d+)\) /.exec(line) ?? [];
      for (const one of unsynced) if (dirname(one) === opened.get(synced)) unsynced.delete(one);
    }
    const made = lines.slice(0, sent).filter(line => /mkdir\(.* = 0$/.test(line));
    expect(made.join('\n')).toContain('deep/er/state');
    expect([...unsynced]).toEqual([]);
  },
);
