import {rmSync} from 'node:fs';
import type {FileDigest} from '../../disk/digest.ts';
import {CodedError} from '../../errors.ts';
import type {Reject} from '../../input/row.ts';
import {formatRejectAsJson} from '../../output/csv-line.ts';
import type {EnrichedRow} from '../../output/encoder.ts';
import {FileSink, type Sink} from '../../output/sink.ts';
import {countReject, countRow, emptyCounters} from '../counts/counters.ts';
import {partialPath} from '../destination.ts';
import type {EnrichedObject, RunIo} from '../io.ts';
import type {Layout} from '../layout/layout.ts';
import type {RunDirectory} from '../state/run-directory.ts';
import {createSharedAnswerParser, parseAnswer} from './answer-parser.ts';
import type {ReadyRecord} from './reorder-buffer.ts';
import {RowJudge} from './row-judge.ts';

/** Digests of a run's files; null for those that don't exist. */
export interface PublishedDigests {
  readonly output: FileDigest | null;
  readonly rejects: FileDigest | null;
}

/** Writes enriched rows and rejects to the partial files, or gives them to the program, and counts what it wrote. */
export class RowWriter {
  /** Counts of the written rows. */
  readonly counters = emptyCounters();
  readonly #layout: Layout;
  readonly #program: RunIo['program'];
  readonly #judge: RowJudge;
  readonly #parse = createSharedAnswerParser();
  readonly #output: Sink;
  /** Path of the partial rejects; undefined if none are kept. */
  readonly #rejectsPath: string | undefined;
  #rejects: Sink | undefined;

  private constructor(
    layout: Layout,
    io: Pick<RunIo, 'program' | 'warn'>,
    output: Sink,
    rejectsPath: string | undefined,
  ) {
    this.#layout = layout;
    this.#judge = new RowJudge(layout, io.warn);
    this.#program = io.program;
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
    const program = this.#program;
    const rows: EnrichedRow[] = [];
    const rejects: Reject[] = [];
    const objects: EnrichedObject[] = [];
    for (const entry of entries) {
      const {record} = entry;
      if (record.type === 'reject') {
        countReject(this.counters, record);
        (program === undefined ? rejects : objects).push(record);
      } else if (record.type !== 'object') rows.push(this.#judge.enrich(record, entry, this.#parse));
      else {
        // A program may change what it gets: its rows share no answer.
        const enriched = this.#judge.enrich(record, entry, parseAnswer);
        countRow(this.counters, enriched, this.#layout.columns);
        objects.push(enriched);
      }
    }
    program?.give(objects);
    const {text, written} = this.#encode(rows);
    for (const row of written) countRow(this.counters, row, this.#layout.columns);
    if (rows.length > 0) await this.#output.write(text);
    if (rejects.length > 0) await this.#writeRejects(rejects);
  }

  /** The rows' text, and the rows as written: one that can't be written is {@link RowJudge.fail}. */
  #encode(rows: readonly EnrichedRow[]): {readonly text: string; readonly written: readonly EnrichedRow[]} {
    const {encoder} = this.#layout;
    try {
      return {text: encoder.encode(rows), written: rows};
    } catch (thrown) {
      if (thrown instanceof CodedError) throw thrown;
      const [first] = rows;
      if (first === undefined || rows.length > 1) {
        const each = rows.map(row => this.#encode([row]));
        return {text: each.map(({text}) => text).join(''), written: each.flatMap(({written}) => written)};
      }
      const written = [this.#judge.fail(first.row, thrown)];
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
    this.#program?.end();
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
