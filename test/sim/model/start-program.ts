import {existsSync, readFileSync} from 'node:fs';
import {pino} from 'pino';
import {BulkEnrichError, exitCodes} from '../../../src/errors.ts';
import {enrich} from '../../../src/library/enrich.ts';
import {type RunJobOptions, runJob} from '../../../src/library/run-job.ts';
import type {Summary} from '../../../src/report/summary.ts';
import type {RunOutcome} from '../../../src/run/run-outcome.ts';
import type {Stop} from '../../../src/run/stop.ts';
import {environmentOf, HEADER, inputNames, outputName} from './places.ts';
import {type Around, GRACE_MS, type Work} from './report.ts';

/** Settings of files that a program with rows of its own has none of. */
const OF_FILES = new Set([
  ...['state', 'force', 'restart', 'rejects', 'report', 'calls'],
  ...['inputFormat', 'outputFormat', 'flatten'],
]);

type Settings = Readonly<Record<string, unknown>>;

/** A program that has the library: it runs a job, or enriches rows of its own. */
export async function runProgram(given: Settings, work: Work, around: Around): Promise<void> {
  const {spec} = work;
  const {asker, report, service} = around;
  const controller = new AbortController();
  asker.process.onTerm = () => {
    report.unwantedAt = service.calls.length;
    controller.abort();
  };
  let isBegun = false;
  const write = (line: string) => {
    isBegun ||= line.includes('run_started');
  };
  const options: RunJobOptions = {
    env: environmentOf(spec),
    signal: controller.signal,
    graceMs: GRACE_MS,
    onWarning: sentence => report.warnings.push(sentence),
    log: pino({level: 'info'}, {write}),
  };
  if (spec.way === 'runJob') {
    const files = {input: inputNames(spec), output: outputName(spec)};
    report.outcome = await runJob({...given, ...files}, options);
    return;
  }
  const settings = Object.fromEntries(Object.entries(given).filter(([name]) => !OF_FILES.has(name)));
  const program = new Program(settings, options, work, around);
  try {
    report.outcome = await program.loop();
  } catch (error) {
    if (!isBegun || !(error instanceof BulkEnrichError)) throw error;
    report.outcome = program.stoppedBy(error);
  }
}

/** A row as the program has it; a line that can't be read is no object. */
type Given = Readonly<Record<string, string>> | string;

/** A program with rows of its own, and what it gets back. */
class Program {
  readonly #settings: Settings;
  readonly #options: RunJobOptions;
  readonly #work: Work;
  readonly #around: Around;
  readonly #rows: readonly Given[];
  /** The file's text before this run. If the disk fails, that of an earlier run stays. */
  readonly #earlierSummary: string | undefined;
  #taken = 0;

  constructor(settings: Settings, options: RunJobOptions, work: Work, around: Around) {
    this.#settings = settings;
    this.#options = options;
    this.#work = work;
    this.#around = around;
    this.#rows = work.input.split('\n').slice(1, -1).map(rowOf);
    this.#earlierSummary = this.#summaryText();
  }

  /** Takes rows in a loop, which it may leave. */
  async loop(): Promise<RunOutcome> {
    const {world} = this.#around;
    const rows = world.random() < 0.5 ? this.#rows : oneByOne(this.#rows);
    let index = 0;
    for await (const row of enrich(rows as object[], this.#settings as never, this.#options)) {
      this.#take(row, index);
      index += 1;
      if (this.#leaves()) break;
    }
    return this.#ended();
  }

  /** The row that came back for one of its own. */
  #take(row: object, index: number): void {
    const {world, report} = this.#around;
    const given = this.#rows[index];
    const {enrichment, ...own} = row as {enrichment: Results};
    const {rejected} = enrichment;
    this.#taken += 1;
    world.step(
      () => `take row ${index + 1}`,
      () => {
        if (typeof given === 'string') {
          if (rejected?.index !== index)
            report.odd ??= `what is no row, at ${index}, came as ${rejected?.index}`;
        } else if (row !== given) report.odd ??= `row ${index + 1} came back as another object`;
        else report.taken[index] = `${JSON.stringify({...own, ...flat(enrichment)})}\n`;
      },
    );
  }

  /** True at the moment at which its reader leaves. */
  #leaves(): boolean {
    const {report, service} = this.#around;
    if (this.#taken !== this.#work.leavesAfter) return false;
    report.unwantedAt = service.calls.length;
    report.isLeft = true;
    return true;
  }

  #ended(): RunOutcome {
    const summary = this.#summary();
    const {isLeft = false} = this.#around.report;
    // A loop may be left once its run has stopped for a reason of its own.
    const hasEnded = summary === undefined || ['completed', 'partial'].includes(summary.status);
    const isStopped = !hasEnded && summary.reason !== 'signal';
    const exitCode = isLeft && !isStopped ? exitCodes.interrupted : (summary?.exit_code ?? exitCodes.ok);
    const reason = isStopped ? (summary.reason as Stop['reason']) : 'signal';
    const stop = isLeft ? {...LEAVING, reason} : undefined;
    return {exitCode: exitCode as RunOutcome['exitCode'], summary, stop, message: '', safeRows: 0};
  }

  stoppedBy({code, exitCode, message}: BulkEnrichError): RunOutcome {
    const reason = code === 'aborted' ? 'signal' : code;
    return {
      exitCode,
      summary: this.#summary(),
      stop: {...LEAVING, reason, exitCode, message},
      message,
      safeRows: 0,
    };
  }

  /** A loop has no outcome: the file has its run's summary, unless the disk failed. */
  #summary(): Summary | undefined {
    const text = this.#summaryText();
    return text === undefined || text === this.#earlierSummary ? undefined : (JSON.parse(text) as Summary);
  }

  #summaryText(): string | undefined {
    const path = this.#settings['summary'] as string;
    return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  }
}

const LEAVING = {
  status: 'interrupted',
  reason: 'signal',
  exitCode: exitCodes.interrupted,
  message: '',
} as const;

function rowOf(line: string): Given {
  const cells = line.split(',');
  if (cells.length > HEADER.length) return line;
  return Object.fromEntries(HEADER.map((name, at) => [name, cells[at] ?? '']));
}

/** Rows that come one after the other, as from a database. */
async function* oneByOne(rows: readonly Given[]): AsyncGenerator<Given> {
  for (const row of rows) {
    await new Promise(resolve => setTimeout(resolve, 1));
    yield row;
  }
}

type Results = Readonly<Record<string, object>> & {readonly rejected?: {readonly index: number}};

/** Results with the names that they have as columns of a file: a verdict's own fields are under no name of their own. */
function flat(results: Results): Record<string, unknown> {
  const columns: Record<string, unknown> = {};
  for (const [key, {data, ...said}] of Object.entries(results) as [string, {data?: object}][]) {
    const prefix = key === 'verify' ? 'verdict_' : `${key}_`;
    for (const [name, value] of fieldsOf({...said, ...data}, prefix)) columns[name] = value;
  }
  return columns;
}

function fieldsOf(object: object, prefix: string): (readonly [string, unknown])[] {
  return Object.entries(object).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? fieldsOf(value, name === 'verdict' ? prefix : `${prefix}${name}_`)
      : [[prefix + name, value] as const],
  );
}
