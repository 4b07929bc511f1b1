import {execFileSync} from 'node:child_process';
import {mkdirSync, readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {expect} from 'vitest';
import type {RunRecord, Spend} from '../../src/report/run-record.ts';
import {createSandbox} from '../support/command.ts';
import {lacks} from '../support/real-parts.ts';
import {until} from '../support/until.ts';
import {startService} from './service.ts';

const clock = new URL('shifted-clock.mjs', import.meta.url).href;
const NIGHTS = fileURLToPath(new URL('../../docs/nights.md', import.meta.url));
/** Rows of a list that the night before had too, and new ones. */
export const ROWS = 30;
const NEW = 20;

interface NightOptions {
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Ends the process by this signal at the n-th call of the night. */
  readonly signal?: readonly [NodeJS.Signals, number];
}

export type Month = Awaited<ReturnType<typeof openMonth>>;

/** A month of nights with the job of docs/nights.md, each a process whose clock is at 02:15 of its day. */
export async function openMonth() {
  const service = await startService({latencyMs: 2});
  const sandbox = createSandbox();
  mkdirSync(sandbox.path('scored'));
  const scored = sandbox.path('scored');
  const mounted = !lacks('mounts');
  if (mounted) execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=32m', 'tmpfs', scored], {stdio: 'ignore'});
  sandbox.write('nightly-signups.yaml', job());
  const environment = (day: number) => ({
    ...service.env,
    NODE_OPTIONS: `--import ${clock}`,
    NIGHT: `${dateOf(day)}T02:15:00Z`,
  });
  const start = (day: number, {flags = [], env = {}}: NightOptions = {}) => {
    const args = ['run', '--job', 'nightly-signups.yaml', '--quiet', ...flags];
    return sandbox.start(args, {env: {...environment(day), ...env}});
  };
  /** The command once more, with the list as it is; `success` is `bulk_enrich_last_run_success` in the metrics. */
  const again = async (day: number, options: NightOptions = {}) => {
    const before = service.ledger.calls;
    const command = start(day, options);
    if (options.signal !== undefined) {
      const [signal, call] = options.signal;
      await until(() => service.ledger.calls >= before + call);
      command.kill(signal);
    }
    const outcome = await command.outcome;
    const metrics = sandbox.read('scored/nightly.prom');
    const [, success = '-1'] = /^bulk_enrich_last_run_success\{.*\} (\d)$/m.exec(metrics) ?? [];
    return {...outcome, success: Number(success)};
  };
  const told = async (command: string) => {
    const args = [command, '--since', '60d', '--json'];
    const {code, stdout, stderr} = await sandbox.run(args, {env: environment(31)});
    expect([code, stderr]).toEqual([0, '']);
    return JSON.parse(stdout);
  };
  return {
    ...{sandbox, service, start, again},
    list: (day: number, rows = ROWS) => listOf(day, rows),
    /** Writes the day's list, and runs the night. */
    night(day: number, options?: NightOptions) {
      sandbox.write(`exports/signups-${dateOf(day)}.csv`, listOf(day, ROWS));
      return again(day, options);
    },
    /** Rows of the day's output. */
    rows: (day: number) =>
      sandbox
        .read(`scored/signups-${dateOf(day)}.csv`)
        .trimEnd()
        .split('\n')
        .slice(1),
    account(perDay: number) {
      const text = `endpoint: ${service.url}\nmax_credits_per_day: ${perDay}\n`;
      sandbox.write('../home/config/bulk-enrich/accounts/a.yaml', text);
    },
    runs: async () => (await told('runs')).runs as RunRecord[],
    spent: async () => (await told('spend')).total as Spend['total'],
    async [Symbol.asyncDispose]() {
      await service.close();
      if (mounted) execFileSync('umount', ['-l', scored]);
      sandbox[Symbol.dispose]();
    },
  };
}

/** The n-th day from today: the history goes by the times of its files, which are those of this machine. */
export function dateOf(day: number): string {
  return new Date(Date.now() + day * 86_400_000).toISOString().slice(0, 10);
}

/** The job of docs/nights.md, with metrics; it does not wait for hours. */
function job(): string {
  const [, text = ''] = /^## Write the job$.*?^```yaml$(.*?)^```$/ms.exec(readFileSync(NIGHTS, 'utf8')) ?? [];
  expect(text).toContain('max_outage: 3h');
  const small = text.replace('rows.read < 1000', `rows.read < ${ROWS}`);
  return `${small.replace('max_outage: 3h', 'max_outage: 1s')}metrics: scored/nightly.prom\nrate: 500/s\n`;
}

function listOf(day: number, rows: number): string {
  const users = Array.from({length: rows}, (_, nth) => day * NEW + nth);
  const row = (user: number) =>
    `198.18.${user >> 8}.${user & 255},u${user}@example.com,+4930901820${10 + (user % 90)},DE`;
  return `signup_ip,email,phone,country\n${users.map(row).join('\n')}\n`;
}
