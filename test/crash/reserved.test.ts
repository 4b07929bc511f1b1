import {dirname} from 'node:path';
import {expect, test} from 'vitest';
import {startApiServer} from '../support/api-server.ts';
import {createSandbox} from '../support/command.ts';
import {ips} from '../support/stage.ts';
import {canTrace, tracedNode} from '../support/strace.ts';

const KEY = 'reserved-key-2c71';
const ROWS = 40;

test.runIf(canTrace())(
  'where there is a limit, a call leaves once the disk has its reservation: a power cut forgets no credit',
  async () => {
    using sandbox = createSandbox();
    await using api = await startApiServer({key: KEY});
    const env = {BULK_ENRICH_BASE_URL: api.url, BULK_ENRICH_API_KEY: KEY};
    sandbox.write('list.csv', ips(ROWS));
    const {node, log} = tracedNode(sandbox, 'openat,pwrite64,fsync,fdatasync,writev');
    const args = 'run list.csv -o out.csv --ip ip --concurrency 4 --rate unlimited'.split(' ');
    expect((await sandbox.run([...args, '--max-credits', '100'], {env, node})).code).toBe(0);
    const lines = log();
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

test.runIf(canTrace())(
  'before a call leaves, the directories of the run’s state outlive a power cut',
  async () => {
    using sandbox = createSandbox();
    await using api = await startApiServer({key: KEY});
    const env = {BULK_ENRICH_BASE_URL: api.url, BULK_ENRICH_API_KEY: KEY};
    sandbox.write('list.csv', ips(1));
    const {node, log} = tracedNode(sandbox, 'mkdir,openat,fsync,writev');
    const args = 'run list.csv -o out.csv --ip ip --state deep/er/state'.split(' ');
    expect((await sandbox.run(args, {env, node})).code).toBe(0);
    const lines = log();
    const sent = lines.findIndex(line => line.includes('"POST '));
    const unsynced = new Set<string>();
    const opened = new Map<string, string>();
    for (const line of lines.slice(0, sent)) {
      const [, made] = /mkdir\("([^"]+)".* = 0$/.exec(line) ?? [];
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
