import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {BulkEnrichError} from '../../src/errors.ts';
import {runJob} from '../../src/library/run-job.ts';
import type {Summary} from '../../src/report/summary.ts';
import {type ApiServer, type ApiServerOptions, startApiServer} from '../support/api-server.ts';

/** A program that has the library: a directory, a home and a service over loopback. */
export interface Program extends AsyncDisposable {
  readonly api: ApiServer;
  path(name: string): string;
  write(name: string, text: string): void;
  read(name: string): string;
  run(settings: object): Promise<{
    readonly code: number;
    readonly reason: string | undefined;
    readonly summary: Summary | undefined;
  }>;
}

export async function openProgram(options: Partial<ApiServerOptions> = {}): Promise<Program> {
  const api = await startApiServer({key: 'key-of-the-seams', ...options});
  const root = mkdtempSync(join(tmpdir(), 'bulk-enrich-seam-'));
  const path = (name: string) => join(root, name);
  mkdirSync(path('home'));
  const env = {BULK_ENRICH_BASE_URL: api.url, BULK_ENRICH_API_KEY: 'key-of-the-seams', HOME: path('home')};
  return {
    api,
    path,
    write: (name, text) => writeFileSync(path(name), text),
    read: name => readFileSync(path(name), 'utf8'),
    async run(settings) {
      const all = {
        input: path('list.csv'),
        output: path('out.csv'),
        rate: 'unlimited',
        score: 'none',
        ...settings,
      };
      try {
        const {exitCode, stop, summary} = await runJob(all as never, {env});
        return {code: exitCode, reason: stop?.reason, summary};
      } catch (error) {
        if (!(error instanceof BulkEnrichError)) throw error;
        return {code: error.exitCode, reason: error.code, summary: undefined};
      }
    },
    async [Symbol.asyncDispose]() {
      await api.close();
      rmSync(root, {recursive: true, force: true});
    },
  };
}

/** The rows of a CSV text without quotes, as objects. */
export function rowsOf(csv: string): Record<string, string>[] {
  const [header = '', ...lines] = csv.split(/\r?\n/).slice(0, -1);
  const names = header.split(',');
  return lines.map(line => Object.fromEntries(line.split(',').map((cell, at) => [names[at] ?? '', cell])));
}
