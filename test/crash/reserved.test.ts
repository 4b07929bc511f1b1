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
