import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {pino} from 'pino';
import {expect} from 'vitest';
import {BulkEnrichError} from '../../src/errors.ts';
import {runJob} from '../../src/library/run-job.ts';
import type {Summary} from '../../src/report/summary.ts';
import {type ApiServer, type ApiServerOptions, startApiServer} from '../support/api-server.ts';
import {filesUnder} from '../support/command.ts';

/** A text that can't turn up anywhere by chance. */
const KEY = 'canary-key-of-the-seams';

/** A program that has the library: a directory, a home and a service over loopback. */
export interface Program extends AsyncDisposable {
  readonly api: ApiServer;
  path(name: string): string;
  write(name: string, text: string): void;
  read(name: string): string;
  run(
    settings: object,
    url?: string,
  ): Promise<{
    readonly code: number;
    readonly reason: string | undefined;
    readonly summary: Summary | undefined;
  }>;
  /** Expects what always holds: the books are within the service's, and the key is in its requests alone. */
  expectSound(summary: Summary | undefined): void;
}

export async function openProgram(options: Partial<ApiServerOptions> = {}): Promise<Program> {
  const api = await startApiServer({key: KEY, ...options});
  const said: string[] = [];
  const log = pino({level: 'trace'}, {write: (line: string) => void said.push(line)});
  const root = mkdtempSync(join(tmpdir(), 'bulk-enrich-seam-'));
  const path = (name: string) => join(root, name);
  mkdirSync(path('home'));
  return {
    api,
    path,
    write: (name, text) => writeFileSync(path(name), text),
    read: name => readFileSync(path(name), 'utf8'),
    async run(settings, url = api.url) {
      const env = {BULK_ENRICH_BASE_URL: url, BULK_ENRICH_API_KEY: KEY, HOME: path('home')};
      const all = {
        input: path('list.csv'),
        output: path('out.csv'),
        rate: 'unlimited',
        score: 'none',
        ...settings,
      };
      try {
        const onWarning = (sentence: string) => void said.push(sentence);
        const {exitCode, message, stop, summary} = await runJob(all as never, {env, log, onWarning});
        said.push(message);
        return {code: exitCode, reason: stop?.reason, summary};
      } catch (error) {
        if (!(error instanceof BulkEnrichError)) throw error;
        return {code: error.exitCode, reason: error.code, summary: undefined};
      }
    },
    expectSound(summary) {
      const {credits, violations, keyElsewhere} = api.ledger;
      const {spent = 0, maybe_spent: maybe = 0} = summary?.credits ?? {};
      expect(spent).toBeLessThanOrEqual(credits);
      expect(credits).toBeLessThanOrEqual(spent + maybe);
      expect([violations, keyElsewhere]).toEqual([[], []]);
      const texts = filesUnder(root).map(name => readFileSync(path(name), 'latin1'));
      for (const text of [...texts, ...said]) expect(text).not.toContain(KEY);
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
