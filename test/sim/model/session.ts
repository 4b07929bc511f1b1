import {existsSync, readFileSync} from 'node:fs';
import {BulkEnrichError} from '../../../src/errors.ts';
import {enrich} from '../../../src/library/enrich.ts';
import {type RunJobOptions, runJob} from '../../../src/library/run-job.ts';
import type {Summary} from '../../../src/report/summary.ts';
import type {RunOutcome} from '../../../src/run/exit.ts';
import type {Process} from '../world/process.ts';
import type {World} from '../world/world.ts';
import {environmentOf, GRACE_MS, HEADER, settingsOf, summaryPath} from './places.ts';
import type {RunSpec} from './sequences.ts';

/** A session's end. A killed one reports nothing. */
export interface Said {
  readonly code: number;
  readonly message: string;
  /** `refused`: it could not start. `wrote`: it wrote its rows. `complete`: an earlier session had written them. */
  readonly end: 'refused' | 'stopped' | 'wrote' | 'complete';
  /** The code of the error or stop. */
  readonly reason: string | undefined;
  readonly summary: Summary | undefined;
}

/** What is known of a session so far. */
export interface Report {
  said?: Said;
  /** An error that is not the user's. */
  crash?: unknown;
  readonly warnings: string[];
  /** Rows that a program has got back. */
  readonly rows: object[];
}

/** A program that has the library: one session of a run. */
export async function session(
  spec: RunSpec,
  input: string,
  {process, world, report}: {process: Process; world: World; report: Report},
): Promise<void> {
  const controller = new AbortController();
  process.onTerm = () => controller.abort();
  const options: RunJobOptions = {
    env: environmentOf(spec),
    signal: controller.signal,
    graceMs: GRACE_MS,
    onWarning: sentence => report.warnings.push(sentence),
  };
  const before = textOf(summaryPath(spec));
  try {
    report.said =
      spec.way === 'file'
        ? saidBy(await runJob(settingsOf(spec) as never, options))
        : await loop(spec, input, options, world, report.rows);
  } catch (error) {
    if (!(error instanceof BulkEnrichError)) report.crash = error;
    else {
      const summary = before === textOf(summaryPath(spec)) ? undefined : readSummary(spec);
      // Only its summary tells that a loop had begun, and a disk may have refused it.
      const hasBegun = summary !== undefined || (spec.way === 'rows' && process.refused !== false);
      const {exitCode, message, code} = error;
      report.said = {code: exitCode, message, end: hasBegun ? 'stopped' : 'refused', reason: code, summary};
    }
  }
}

function saidBy({exitCode, message, stop, found, summary}: RunOutcome): Said {
  const end = stop === undefined ? (found ?? 'wrote') : 'stopped';
  return {code: exitCode, message: String(message), end, reason: stop?.reason, summary};
}

/** Gives rows to `enrich`, and takes them back. */
async function loop(
  spec: RunSpec,
  input: string,
  options: RunJobOptions,
  world: World,
  taken: object[],
): Promise<Said> {
  const rows = input.split('\n').slice(1, -1).map(rowOf);
  for await (const row of enrich(rows as object[], settingsOf(spec) as never, options))
    world.step(`take row ${taken.length + 1}`, () => taken.push(row));
  const summary = readSummary(spec);
  return {code: summary?.exit_code ?? 0, message: '', end: 'wrote', reason: undefined, summary};
}

/** A line that can't be read is no object. */
function rowOf(line: string): object | string {
  const cells = line.split(',');
  if (cells.length > HEADER.length) return line;
  return Object.fromEntries(HEADER.map((name, at) => [name, cells[at] ?? '']));
}

function textOf(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

function readSummary(spec: RunSpec): Summary | undefined {
  const text = textOf(summaryPath(spec));
  return text === undefined ? undefined : (JSON.parse(text) as Summary);
}
