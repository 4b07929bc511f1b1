import {readFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {pino} from 'pino';
import {expect} from 'vitest';
import {BulkEnrichError} from '../../src/errors.ts';
import {runJob} from '../../src/library/run-job.ts';
import type {Summary} from '../../src/report/summary.ts';
import type {ApiServer, ApiServerOptions} from '../support/api-server.ts';
import {filesUnder, type Sandbox} from '../support/command.ts';
import {openArena} from '../support/crash.ts';

/** A program that has the library: a directory, a home and a service over loopback. */
export interface Program extends AsyncDisposable, Pick<Sandbox, 'path' | 'write' | 'read'> {
  readonly api: ApiServer;
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
  const {api, sandbox, env: service, ...arena} = await openArena(options);
  const {path, write, read} = sandbox;
  const said: string[] = [];
  const log = pino({level: 'trace'}, {write: (line: string) => void said.push(line)});
  return {
    ...arena,
    ...{api, path, write, read},
    async run(settings, url = api.url) {
      const env = {...service, BULK_ENRICH_BASE_URL: url, HOME: sandbox.home};
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
      const root = dirname(sandbox.directory);
      const texts = filesUnder(root).map(name => readFileSync(join(root, name), 'latin1'));
      for (const text of [...texts, ...said]) expect(text).not.toContain(service.BULK_ENRICH_API_KEY);
    },
  };
}

/** The rows of a CSV text without quotes, as objects. */
export function rowsOf(csv: string): Record<string, string>[] {
  const [header = '', ...lines] = csv.split(/\r?\n/).slice(0, -1);
  const names = header.split(',');
  return lines.map(line => Object.fromEntries(line.split(',').map((cell, at) => [names[at] ?? '', cell])));
}
