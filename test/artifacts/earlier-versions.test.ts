import {chmodSync, cpSync, readdirSync, readFileSync, rmSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {expect, test} from 'vitest';
import {startService} from '../e2e/service.ts';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {ips} from '../support/stage.ts';

/** For each version a home and a working directory as it left them: one run was complete, one had stopped. */
const left = new URL('left/', import.meta.url).pathname;
const {version} = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** Stored answers belong to a base URL, so the service is always at the same one, where systems give no ports away. */
const PORT = 21_977;
const ENDPOINT = `http://127.0.0.1:${PORT}`;

const ACCOUNT = `endpoint: ${ENDPOINT}\naccount: a\nrate: 1000/s\nmax_credits_per_day: 1000\n`;
const FIRST = ['run', 'first.csv', '--ip', 'ip', '--account', 'a'];
const JOB = 'name: nightly\ninput: list.csv\noutput: out.csv\nendpoint: live\nip: ip\naccount: a\n';

/** Leaves what the present version leaves. */
async function leave(): Promise<void> {
  await using service = await startService({port: PORT});
  using sandbox = createSandbox();
  sandbox.write('../home/config/bulk-enrich/accounts/a.yaml', ACCOUNT);
  sandbox.write('first.csv', ips(3));
  sandbox.write('list.csv', ips(9));
  sandbox.write('job.yaml', JOB);
  const run = async (...args: string[]) => (await runHere(sandbox, args, {env: service.env})).code;
  expect(await run(...FIRST, '-o', 'first.out.csv')).toBe(0);
  expect(await run('run', '--job', 'job.yaml', '--max-credits', '2')).toBe(7);
  const folder = join(left, version);
  rmSync(folder, {recursive: true, force: true});
  cpSync(dirname(sandbox.directory), folder, {recursive: true});
  // Names this process and this machine, and is of no use without the lock.
  rmSync(join(folder, 'work/out.csv.run/holder.json'));
}

if (process.env.UPDATE === '1') await leave();

test.each(readdirSync(left))(
  'this version resumes what %s left, and knows its answers and its history',
  async name => {
    await using service = await startService({port: PORT});
    using sandbox = createSandbox();
    cpSync(join(left, name), dirname(sandbox.directory), {recursive: true});
    // A checkout has the modes of its user.
    for (const path of ['out.csv.run', '../home/state/bulk-enrich', '../home/cache/bulk-enrich'])
      chmodSync(sandbox.path(path), 0o700);
    const run = async (...args: string[]) => (await runHere(sandbox, args, {env: service.env})).code;

    expect(await run(...FIRST, '-o', 'again.csv', '--max-age', '36500d')).toBe(0);
    expect(service.ledger.calls).toBe(0);
    expect(sandbox.read('again.csv')).toBe(sandbox.read('first.out.csv'));

    expect(await run('run', '--job', 'job.yaml')).toBe(0);
    expect(service.ledger.calls).toBe(4);
    const {credits, resumed, rows} = sandbox.summary('out.summary.json');
    expect([credits.spent, resumed.times, rows.written]).toEqual([6, 1, 9]);

    const {stdout} = await runHere(sandbox, ['runs', '--json', '--since', '36500d']);
    const {runs} = JSON.parse(stdout) as {runs: {credits: {spent: number}}[]};
    expect(runs.map(run => run.credits.spent)).toEqual([3, 2, 0, 4]);
  },
);
