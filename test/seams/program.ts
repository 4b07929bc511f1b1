import {readFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {parse} from 'csv-parse/sync';
import {pino} from 'pino';
import {expect} from 'vitest';
import {BulkEnrichError} from '../../src/errors.ts';
import {runJob} from '../../src/library/run-job.ts';
import type {Summary} from '../../src/report/summary.ts';
import type {ApiServerOptions} from '../support/api-server.ts';
import {filesUnder} from '../support/command.ts';
import {openArena} from '../support/crash.ts';

/** A program that has the library: a directory, a home and a service over loopback. */
export async function openProgram(options: Partial<ApiServerOptions> = {}) {
  const {api, sandbox, env: service, ...arena} = await openArena(options);
  const {path, write, read} = sandbox;
  const said: string[] = [];
  const log = pino({level: 'trace'}, {write: (line: string) => void said.push(line)});
  return {
    ...arena,
    ...{api, path, write, read},
    async run(settings: object, url = api.url) {
      const env = {...service, BULK_ENRICH_BASE_URL: url, HOME: sandbox.home};
      const paths = {input: path('list.csv'), output: path('out.csv')};
      const all = {...paths, rate: 'unlimited', score: 'none', ...settings};
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
    /** Expects what always holds: the books are within the service's, and the key is in its requests alone. */
    expectSound(summary: Summary | undefined) {
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

/** The rows of a CSV text, as objects. */
export const rowsOf = (csv: string) => parse<Record<string, string>>(csv, {columns: true, bom: true});
