import {rmSync} from 'node:fs';
import type {FileDigest} from '../../disk/digest.ts';
import {CodedError, describeUnforeseenError} from '../../errors.ts';
import type {Reject, Row} from '../../input/row.ts';
import {makeInternalFailure} from '../../ledger/lookup-outcome.ts';
import {createSharedAnswerParser, parseAnswer} from '../../lookup/outcome-cache.ts';
import {packageVersion} from '../../operations/package-files.ts';
import {formatRejectAsJson} from '../../output/csv-line.ts';
import type {EnrichedRow} from '../../output/encoder.ts';
import {FileSink, type Sink} from '../../output/sink.ts';
import type {Risk} from '../../score/scorer.ts';
import type {RowView} from '../../score/subjects.ts';
import {countReject, countRow, emptyCounters} from '../counts/counters.ts';
import {partialPath} from '../destination.ts';
import type {EnrichedObject, RunIo} from '../io.ts';
import type {Layout} from '../layout/layout.ts';
import type {RunDirectory} from '../state/run-directory.ts';
import type {ReadyRecord} from './reorder-buffer.ts';

/** Digests of a run's files; null for those that don't exist. */
export interface PublishedDigests {
  readonly output: FileDigest | null;
  readonly rejects: FileDigest | null;
}

const NOT_SCORED = {risk: undefined, outcomes: undefined};
/** The risk of a row at which this program failed. */
const UNSCORED: Risk = {score: null, level: 'unknown', reasons: [], points: {}, missing: ['internal_error']};

/** Judges rows and counts them. Writes them and the rejects to the partial files, or gives them to the program. */
export class RowWriter {
  /** Counts of the written rows. */
  readonly counters = emptyCounters();
  readonly #layout: Layout;
  readonly #io: Pick<RunIo, 'program' | 'warn'>;
  readonly #parse = createSharedAnswerParser();
  readonly #output: Sink;
  /** Path of the partial rejects; undefined if none are kept. */
  readonly #rejectsPath: string | undefined;
  #rejects: Sink | undefined;
  #hasTold = false;

  private constructor(
    layout: Layout,
    io: Pick<RunIo, 'program' | 'warn'>,
    output: Sink,
    rejectsPath: string | undefined,
  ) {
    this.#layout = layout;
    this.#io = io;
    this.#output = output;
    this.#rejectsPath = rejectsPath;
  }

  /**
   * Creates the partial files, with the output's head.
   *
   * @throws {OutputError}
   */
  static async open(
    state: RunDirectory,
    layout: Layout,
    io: Pick<RunIo, 'stdout' | 'warn' | 'program'>,
  ): Promise<RowWriter> {
    const rejectsPath = state.written.rejects && partialPath(state, 'rejects');
    if (rejectsPath !== undefined) rmSync(rejectsPath, {force: true});
    const sink = await state.destination.open(state, io.stdout);
    await sink.write(layout.encoder.head);
    return new RowWriter(layout, io, sink, rejectsPath);
  }

  async write(entries: readonly ReadyRecord[]): Promise<void> {
    const {program} = this.#io;
    const rows: EnrichedRow[] = [];
    const rejects: Reject[] = [];
    const objects: EnrichedObject[] = [];
    for (const entry of entries) {
      const {record} = entry;
      if (record.type === 'reject') {
        countReject(this.counters, record);
        (program === undefined ? rejects : objects).push(record);
      } else if (record.type !== 'object') rows.push(this.#judged(record, entry, this.#parse));
      else {
        // A program may change what it gets: its rows share no answer.
        const judged = this.#judged(record, entry, parseAnswer);
        countRow(this.counters, judged, this.#layout.columns);
        objects.push(judged);
      }
    }
    program?.give(objects);
    const {text, written} = this.#encoded(rows);
    for (const row of written) countRow(this.counters, row, this.#layout.columns);
    if (rows.length > 0) await this.#output.write(text);
    if (rejects.length > 0) await this.#writeRejects(rejects);
  }

  #judged<Kind extends Row>(
    row: Kind,
    {results, repairs, answers: parsed}: ReadyRecord,
    parse: typeof parseAnswer,
  ): EnrichedRow<Kind> {
    for (const result of results) if ('thrown' in result) this.#tell(row, result.thrown);
    try {
      const answers = this.#layout.mapping.targets.map(
        ({operation}, index) => parsed?.[index] ?? parse(results[index], operation),
      );
      return {row, results, repairs, answers, ...this.#scored({row, results, answers})};
    } catch (thrown) {
      if (thrown instanceof CodedError) throw thrown;
      return this.#broken(row, thrown);
    }
  }

  #scored(view: RowView): Pick<EnrichedRow, 'risk' | 'outcomes'> {
    const {scorer, facts} = this.#layout;
    try {
      return scorer?.score({...view, shared: facts?.of(view.row)}) ?? NOT_SCORED;
    } catch (thrown) {
      if (thrown instanceof CodedError) throw thrown;
      this.#tell(view.row, thrown);
      return {risk: UNSCORED, outcomes: undefined};
    }
  }

  /** A row at which this program failed: it has no answers. Paid ones are in the ledger and the store. */
  #broken<Kind extends Row>(row: Kind, thrown: unknown): EnrichedRow<Kind> {
    this.#tell(row, thrown);
    const results = this.#layout.mapping.targets.map(() => makeInternalFailure(thrown));
    const risk = this.#layout.scorer && UNSCORED;
    return {row, results, repairs: undefined, answers: [], risk, outcomes: undefined};
  }

  /** Tells once per run that this program failed at a row. */
  #tell({record}: Row, thrown: unknown): void {
    if (this.#hasTold) return;
    this.#hasTold = true;
    this.#io.warn(
      `Row ${record}: this program failed at a cell, which is \`failed\` with \`internal_error\`; so is every other such cell. Please report this sentence (version ${packageVersion()}: ${describeUnforeseenError(thrown)}).`,
    );
  }

  /** The rows' text, and the rows as written: one that can't be written is {@link #broken}. */
  #encoded(rows: readonly EnrichedRow[]): {readonly text: string; readonly written: readonly EnrichedRow[]} {
    const {encoder} = this.#layout;
    try {
      return {text: encoder.encode(rows), written: rows};
    } catch (thrown) {
      if (thrown instanceof CodedError) throw thrown;
      const [first] = rows;
      if (first === undefined || rows.length > 1) {
        const each = rows.map(row => this.#encoded([row]));
        return {text: each.map(({text}) => text).join(''), written: each.flatMap(({written}) => written)};
      }
      const written = [this.#broken(first.row, thrown)];
      return {text: encoder.encode(written), written};
    }
  }

  async #writeRejects(rejects: readonly Reject[]): Promise<void> {
    if (this.#rejectsPath === undefined) return;
    const header = this.#rejects === undefined ? this.#layout.header : undefined;
    this.#rejects ??= await FileSink.create(this.#rejectsPath);
    const lines = rejects.map((reject, index) =>
      formatRejectAsJson(reject, index === 0 ? header : undefined),
    );
    await this.#rejects.write(lines.join(''));
  }

  /** Makes all written rows durable. @throws {RowsError} if a program's rows lacked a column. */
  async flush(): Promise<void> {
    this.#io.program?.end();
    await this.#output.flush();
    await this.#rejects?.flush();
  }

  /** Digests of the files as they were written; null for those that don't exist. */
  get digests(): PublishedDigests {
    return {output: this.#output.digest ?? null, rejects: this.#rejects?.digest ?? null};
  }

  async close(): Promise<void> {
    await this.#output.close();
    await this.#rejects?.close();
  }
}
