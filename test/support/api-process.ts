import {type ChildProcess, spawn} from 'node:child_process';
import {createInterface} from 'node:readline';
import {fileURLToPath} from 'node:url';
import {type Operation, operationNames, operations} from '../../src/operations/table.ts';

/** What goes wrong at random; each but `stall` is something that a later attempt gets over. */
export type ProcessFault = '500' | '503' | '429' | 'reset' | 'cut' | 'stall';

export interface ProcessSettings {
  readonly key: string;
  readonly latency?: number;
  /** Calls let through in any sliding second; null: all. */
  readonly limit?: number | null;
  /** Share of the calls that fault, 0 to 1. */
  readonly error?: number;
  /** Calls after so many of them wait for their answers until this is null. */
  readonly hold?: number | null;
}

export interface ApiProcessOptions extends Omit<ProcessSettings, 'hold'> {
  readonly port?: number;
  readonly seed?: number;
  readonly faults?: readonly ProcessFault[];
  /** Attempts of one value that may fault; later ones never do. 2 by default. */
  readonly faultsPerValue?: number;
  /** Keep no values: attempts and repeated values are not known then. */
  readonly countersOnly?: boolean;
}

/** The books of the process: the counters of `Ledger`, by the same rules. */
export interface ProcessLedger {
  readonly requests: number;
  readonly calls: number;
  readonly charged: number;
  readonly credits: number;
  readonly by_operation: Readonly<Record<Operation, number>>;
  readonly by_status: Readonly<Partial<Record<ProcessFault | '200' | '401', number>>>;
  readonly connections: number;
  readonly peak_in_flight: number;
  readonly wrong_key: number;
  /** Requests that carried the key in the URL or a header. */
  readonly key_elsewhere: number;
  readonly violations: number;
  readonly distinct: number;
  /** Values that were asked for more than once. */
  readonly repeated: number;
  readonly max_per_second: number;
}

export interface ApiProcess extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  ledger(): Promise<ProcessLedger>;
  /** `<operation> <value>` → calls. */
  values(): Promise<ReadonlyMap<string, number>>;
  set(changes: Partial<ProcessSettings>): Promise<void>;
  /** Begins new books, in which nothing was asked for: faults too begin anew. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

/** Starts the API server as a process of its own; it ends when closed, or with the process that started it. */
export async function startApiProcess(options: ApiProcessOptions): Promise<ApiProcess> {
  const script = fileURLToPath(new URL('api-process.mjs', import.meta.url));
  const child = spawn(process.execPath, [script, ...argsOf(options)], {stdio: ['pipe', 'pipe', 'inherit']});
  const ended = new Promise<void>(resolve => child.once('close', () => resolve()));
  const url = await firstLine(child);
  const close = () => {
    child.stdin?.end();
    return ended;
  };
  return {
    url,
    pid: child.pid ?? 0,
    ledger: async () => (await (await fetch(`${url}/_ledger`)).json()) as ProcessLedger,
    values: async () => new Map(Object.entries((await (await fetch(`${url}/_values`)).json()) as object)),
    async set(changes) {
      await fetch(`${url}/_set`, {method: 'POST', body: JSON.stringify(changes)});
    },
    async reset() {
      await fetch(`${url}/_reset`, {method: 'POST'});
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function argsOf(options: ApiProcessOptions): string[] {
  const flags: Record<string, string | number | null | undefined> = {
    key: options.key,
    port: options.port,
    latency: options.latency,
    limit: options.limit,
    error: options.error,
    seed: options.seed,
    faults: options.faults?.join(','),
    'faults-per-value': options.faultsPerValue,
    operations: JSON.stringify(
      operationNames.map(name => ({name, path: operations[name].path, field: operations[name].field})),
    ),
  };
  const given = Object.entries(flags).filter(([, value]) => value !== undefined && value !== null);
  return [
    ...given.map(([name, value]) => `--${name}=${value}`),
    ...(options.countersOnly ? ['--counters-only'] : []),
  ];
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('the server process has no stdout');
  for await (const line of createInterface({input: child.stdout})) return line;
  throw new Error('the server process ended before it listened');
}
