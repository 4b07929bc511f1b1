import {execFileSync} from 'node:child_process';
import {mkdirSync, readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {expect} from 'vitest';
import type {RunRecord} from '../../src/report/run-record.ts';
import {type CommandOutcome, createSandbox, type Sandbox} from '../support/command.ts';
import {lacks} from '../support/real-parts.ts';
import {until} from '../support/until.ts';
import {type Service, startService} from './service.ts';

const clock = new URL('shifted-clock.mjs', import.meta.url).href;
const NIGHTS = fileURLToPath(new URL('../../docs/nights.md', import.meta.url));
/** Rows of a list that the night before had too, and new ones. */
export const ROWS = 30;
const NEW = 20;

/** What the operator sees of a night. */
interface Seen extends CommandOutcome {
  /** `bulk_enrich_last_run_success` in the metrics. */
  readonly success: number;
}

interface NightOptions {
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Ends the process by this signal at the n-th call of the night. */
  readonly signal?: readonly [NodeJS.Signals, number];
}

/** A month of nights with the job of docs/nights.md, each a process whose clock is at 02:15 of its day. */
export interface Month extends AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly service: Service;
  list(day: number, rows?: number): string;
  /** Writes the day's list, and runs the night. */
  night(day: number, options?: NightOptions): Promise<Seen>;
  /** The command once more, with the list as it is. */
  again(day: number, options?: NightOptions): Promise<Seen>;
  start(day: number, options?: NightOptions): ReturnType<Sandbox['start']>;
  /** Rows of the day's output. */
  rows(day: number): string[];
  account(perDay: number): void;
  runs(): Promise<RunRecord[]>;
  spent(): Promise<{readonly spent: number; readonly maybe_spent: number}>;
}

export async function openMonth(): Promise<Month> {
  const service = await startService({latencyMs: 2});
  const sandbox = createSandbox();
  mkdirSync(sandbox.path('scored'));
  const mounted = !lacks('mounts');
  if (mounted)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=32m', 'tmpfs', sandbox.path('scored')], {
      stdio: 'ignore',
    });
  sandbox.write('nightly-signups.yaml', job());
  const environment = (day: number) => ({
    ...service.env,
    NODE_OPTIONS: `--import ${clock}`,
    NIGHT: `${dateOf(day)}T02:15:00Z`,
  });
  const month: Month = {
    sandbox,
    service,
    list: (day, rows = ROWS) => listOf(day, rows),
    async night(day, options) {
      sandbox.write(`exports/signups-${dateOf(day)}.csv`, listOf(day, ROWS));
      return month.again(day, options);
    },
    start(day, {flags = [], env = {}} = {}) {
      const args = ['run', '--job', 'nightly-signups.yaml', '--quiet', ...flags];
      return sandbox.start(args, {env: {...environment(day), ...env}});
    },
    async again(day, options = {}) {
      const before = service.ledger.calls;
      const command = month.start(day, options);
      if (options.signal !== undefined) {
        const [signal, call] = options.signal;
        await until(() => service.ledger.calls >= before + call);
        command.kill(signal);
      }
      const outcome = await command.outcome;
      const [, success = '-1'] =
        /^bulk_enrich_last_run_success\{.*\} (\d)$/m.exec(sandbox.read('scored/nightly.prom')) ?? [];
      return {...outcome, success: Number(success)};
    },
    rows: day =>
      sandbox
        .read(`scored/signups-${dateOf(day)}.csv`)
        .trimEnd()
        .split('\n')
        .slice(1),
    account(perDay) {
      const text = `endpoint: ${service.url}\nmax_credits_per_day: ${perDay}\n`;
      sandbox.write('../home/config/bulk-enrich/accounts/a.yaml', text);
    },
    runs: async () => (await told(['runs', '--since', '60d', '--json'])).runs,
    spent: async () => (await told(['spend', '--since', '60d', '--json'])).total,
    async [Symbol.asyncDispose]() {
      await service.close();
      if (mounted) execFileSync('umount', ['-l', sandbox.path('scored')]);
      sandbox[Symbol.dispose]();
    },
  };
  const told = async (args: readonly string[]) => {
    const {code, stdout, stderr} = await sandbox.run(args, {env: environment(31)});
    expect([code, stderr]).toEqual([0, '']);
    return JSON.parse(stdout);
  };
  return month;
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
