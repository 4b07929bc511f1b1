import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {parse} from 'csv-parse/sync';
import {pino} from 'pino';
import {expect} from 'vitest';
import type {JobInput} from '../../src/library/job-input.ts';
import {runJob} from '../../src/library/run-job.ts';
import type {Summary} from '../../src/report/summary.ts';
import {type ApiServer, type ApiServerOptions, startApiServer} from '../support/api-server.ts';
import {createSandbox, filesUnder, type Sandbox} from '../support/command.ts';
import {accelerated} from '../support/fast-clock.ts';
import {type FaultProxy, type ProxyOptions, startFaultProxy} from './proxy.ts';

/** Long and odd enough to be found wherever it should not be. */
export const KEY = 'canary-key-7d1f4b9e02';
export const OTHER_KEY = 'canary-key-a3c85e6610';

/** `count` distinct addresses from a network for documentation. */
export function addresses(count: number): string[] {
  return Array.from({length: count}, (_, index) => `198.51.100.${index + 1}`);
}

export interface RunSpec {
  /** Flags of the command, each with its value. */
  readonly flags?: readonly string[];
  /** Starts the built command; else the same run is in this process, which takes a tenth of the time. */
  readonly command?: boolean;
  readonly url?: string;
  readonly key?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** How a run ended, as its user sees it. */
export interface Ran {
  readonly code: number | undefined;
  readonly stderr: string;
  readonly summary: Summary;
  /** The output's rows; empty where none was published. */
  readonly rows: readonly Readonly<Record<string, string>>[];
}

/** A server, a sandbox with one list, and what stands between them. */
export class World implements AsyncDisposable {
  readonly server: ApiServer;
  readonly sandbox: Sandbox = createSandbox();
  readonly values: readonly string[];
  readonly #open: AsyncDisposable[] = [];
  readonly #said: string[] = [];
  readonly #column: string;

  private constructor(server: ApiServer, values: readonly string[], column: string) {
    this.server = server;
    this.values = values;
    this.#column = column;
    const lines = values.map((value, index) => `${index + 1},${value}`);
    this.sandbox.write('in.csv', `id,${column}\n${lines.join('\n')}\n`);
  }

  static async open(
    options: Partial<ApiServerOptions> & {values?: readonly string[]; column?: string} = {},
  ): Promise<World> {
    const {values = addresses(12), column = 'ip', ...more} = options;
    return new World(await startApiServer({key: KEY, ...more}), values, column);
  }

  async proxy(options: Omit<ProxyOptions, 'target'> = {}): Promise<FaultProxy> {
    return this.keep(await startFaultProxy({target: this.server.url, ...options}));
  }

  keep<T extends AsyncDisposable>(open: T): T {
    this.#open.push(open);
    return open;
  }

  /** True if the runs so far have printed or logged this text. */
  hasSaid(text: string): boolean {
    return this.#said.some(said => said.includes(text));
  }

  /** Runs the list. */
  async run({flags = [], url = this.server.url, key = KEY, command = false}: RunSpec = {}): Promise<Ran> {
    const env = {BULK_ENRICH_BASE_URL: url, BULK_ENRICH_API_KEY: key};
    const columns = this.#column === 'ip' ? ['--ip', 'ip'] : ['--verdict', 'token=token,action=action-1'];
    const settings = ['--rate', 'unlimited', ...columns, ...flags];
    if (!command) return this.#runHere(settings, env);
    const all = ['run', 'in.csv', '-o', 'out.csv', '--log', 'trace', ...settings];
    const {code, stdout, stderr} = await this.sandbox.run(all, {env});
    this.#said.push(stdout, stderr);
    return this.#ran(code, stderr);
  }

  /** Runs the same where time passes `factor` times as fast. */
  runFast(factor: number, flags: readonly string[] = []): Promise<Ran> {
    const env = {BULK_ENRICH_BASE_URL: this.server.url, BULK_ENRICH_API_KEY: KEY};
    return accelerated(factor, () => this.#runHere(['--rate', '200/s', '--ip', 'ip', ...flags], env));
  }

  async #runHere(flags: readonly string[], env: Readonly<Record<string, string>>): Promise<Ran> {
    const log = pino({level: 'trace'}, {write: (line: string) => void this.#said.push(line)});
    const settings: JobInput = {
      ...settingsOf(flags),
      input: this.sandbox.path('in.csv'),
      output: this.sandbox.path('out.csv'),
      store: join(this.sandbox.home, 'cache'),
    };
    const onWarning = (sentence: string) => void this.#said.push(sentence);
    const {exitCode, message} = await runJob(settings, {env, log, onWarning});
    this.#said.push(message);
    return this.#ran(exitCode, message);
  }

  #ran(code: number | undefined, stderr: string): Ran {
    const published = this.sandbox.files().includes('out.csv');
    return {
      code,
      stderr,
      summary: this.sandbox.summary('out.summary.json'),
      rows: published ? parse(this.sandbox.read('out.csv'), {columns: true}) : [],
    };
  }

  /** Expects what always holds: no row lost, order kept, counts balanced, retries bounded, the key nowhere. */
  expectSound(ran: Ran, {callsPerValue = 3} = {}): void {
    const {ledger} = this.server;
    if (ran.code === 0 || ran.code === 3)
      expect(ran.rows.map(row => [row.id, row[this.#column]])).toEqual(
        this.values.map((value, index) => [String(index + 1), value]),
      );
    const {spent, maybe_spent} = ran.summary.credits;
    expect(ledger.credits).toBeGreaterThanOrEqual(spent);
    expect(ledger.credits).toBeLessThanOrEqual(spent + maybe_spent);
    const {total, unconfirmed} = ran.summary.calls;
    expect(total + unconfirmed).toBeGreaterThanOrEqual(ledger.calls);
    const most = Math.max(0, ...ledger.values.ip.values(), ...ledger.values.verify.values());
    expect(most).toBeLessThanOrEqual(callsPerValue);
    expect([ledger.violations, ledger.keyElsewhere]).toEqual([[], []]);
    this.#expectNoKey();
  }

  #expectNoKey(): void {
    for (const said of this.#said) expect(said).not.toContain('canary-key');
    for (const directory of [this.sandbox.directory, this.sandbox.home])
      for (const file of filesUnder(directory))
        expect([file, readFileSync(join(directory, file)).includes('canary-key')]).toEqual([file, false]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const each of this.#open.reverse()) await each[Symbol.asyncDispose]();
    await this.server.close();
    this.sandbox[Symbol.dispose]();
  }
}

/** `--max-outage 1s` → `{maxOutage: '1s'}`. */
function settingsOf(flags: readonly string[]): Partial<JobInput> {
  const settings: Record<string, unknown> = {};
  for (let index = 0; index < flags.length; index += 2) {
    const name =
      flags[index]?.slice(2).replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()) ?? '';
    settings[name] = flags[index + 1];
  }
  return settings;
}

/** One line on how a run ended: exit code, why, and how many rows got what. */
export function describeRun({code, summary, rows}: Ran, prefix = 'ip'): string {
  const reason = code === 0 || code === 3 ? '' : ` (${summary.reason})`;
  if (rows.length === 0) return `exit ${code}${reason}, nothing written`;
  const counts = new Map<string, number>();
  for (const row of rows) {
    const error = row[`${prefix}_error`];
    const what = `${row[`${prefix}_status`]}${error ? ` (${error})` : ''}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return `exit ${code}${reason}: ${[...counts].map(([what, count]) => `${count} ${what}`).join(', ')}`;
}

/** The run's own count of its spending. */
export function describeMoney({summary: {credits}}: Ran): string {
  return `${credits.spent} spent, ${credits.maybe_spent} maybe`;
}
