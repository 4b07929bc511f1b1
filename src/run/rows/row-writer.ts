import {rmSync} from 'node:fs';
import {type Counters, countReject, countRow, judgeRejected, savedCounters} from '../../books/counters.ts';
import type {Reject, Row} from '../../input/row.ts';
import type {Layout} from '../../layout/layout.ts';
import type {EnrichedRow} from '../../output/encoder.ts';
import {rejectLine} from '../../output/rejects.ts';
import {FileSink, type Sink} from '../../output/sink.ts';
import type {Rejections} from '../../store/rejections.ts';
import {partialPath} from '../destination/partial.ts';
import type {Checkpoint, RunState, Written} from '../state/run-state.ts';
import type {ReadyRecord} from './in-order.ts';
import {parsedAnswer, sharedAnswers} from './parsed-answer.ts';

/** Writes rows and rejects to the partial files, counts them, and reports what is durable. */
export class RowWriter {
  /** Number of rows that the last checkpoint covers. */
  safeRows: number;
  readonly #counters: Counters;
  readonly #rejections: Rejections;
  readonly #layout: Layout;
  readonly #parse = sharedAnswers();
  readonly #output: Sink;
  /** Path of the partial rejects; undefined if none are kept. */
  readonly #rejectsPath: string | undefined;
  #rejects: Sink | undefined;
  #last: ReadyRecord | undefined;

  private constructor(
    layout: Layout,
    output: Sink,
    rejectsPath: string | undefined,
    counters: Counters,
    rejections: Rejections,
  ) {
    this.#layout = layout;
    this.#output = output;
    this.#rejectsPath = rejectsPath;
    this.#counters = counters;
    this.#rejections = rejections;
    this.safeRows = counters.rows.written;
  }

  /**
   * Opens the partial files, cut to the checkpoint.
   *
   * @throws {StateError | OutputError}
   */
  static async open(
    state: RunState,
    layout: Layout,
    checkpoint: Checkpoint | undefined,
    rejections: Rejections,
    stdout: NodeJS.WritableStream,
  ): Promise<RowWriter> {
    const {rejects} = state.written;
    const rejectsPath = rejects && partialPath(state, 'rejects', rejects);
    const sink = await state.destination.open(state, checkpoint?.outputBytes ?? 0, stdout);
    const counters = savedCounters(checkpoint?.counters);
    const writer = new RowWriter(layout, sink, rejectsPath, counters, rejections);
    if (checkpoint === undefined) await sink.write(layout.encoder.head);
    const kept = checkpoint?.rejectsBytes ?? 0;
    if (kept > 0) await writer.#openRejects(kept);
    else if (rejectsPath !== undefined) rmSync(rejectsPath, {force: true});
    return writer;
  }

  /**
   * Counts of the written rows. Once rejections are judged, a cell no longer counts as rejected if the
   * account may be at fault, not its value.
   */
  get counters(): Counters {
    judgeRejected(this.#counters, lookup => this.#rejections.isRejected(lookup));
    return this.#counters;
  }

  /** Judges the risk of a row, and counts the row. */
  judge<Kind extends Row>(
    row: Kind,
    {results, repairs, answers: parsed}: ReadyRecord,
    parse = parsedAnswer,
  ): EnrichedRow<Kind> {
    const {scorer, mapping, columns} = this.#layout;
    const answers = mapping.targets.map(
      ({operation}, index) => parsed?.[index] ?? parse(results[index], operation),
    );
    const judged = scorer?.score({row, results, answers});
    const enriched = {row, results, repairs, answers, risk: judged?.risk, outcomes: judged?.outcomes};
    countRow(this.#counters, enriched, columns);
    return enriched;
  }

  async write(entries: readonly ReadyRecord[]): Promise<void> {
    const rows: EnrichedRow[] = [];
    const rejects: Reject[] = [];
    for (const entry of entries) {
      const {record} = entry;
      if (record.type === 'reject') {
        countReject(this.#counters, record);
        rejects.push(record);
      } else if (record.type !== 'object') rows.push(this.judge(record, entry, this.#parse));
    }
    if (rows.length > 0) await this.#output.write(this.#layout.encoder.encode(rows));
    if (rejects.length > 0) {
      const header = this.#rejects === undefined ? this.#layout.header : undefined;
      const sink = await this.#openRejects(0);
      const lines = rejects.map((reject, index) => rejectLine(reject, index === 0 ? header : undefined));
      await sink?.write(lines.join(''));
    }
    this.#last = entries.at(-1) ?? this.#last;
  }

  /**
   * Makes all written rows durable, and returns the point that they reach. Returns undefined if a run can't resume
   * from there: before the first row, or in a stream.
   */
  async flush(): Promise<Written | undefined> {
    const outputBytes = await this.#output.flush();
    const rejectsBytes = (await this.#rejects?.flush()) ?? 0;
    const last = this.#last;
    if (last === undefined || outputBytes === undefined) return undefined;
    return {
      record: last.record.record,
      ...last.position,
      outputBytes,
      rejectsBytes,
      counters: this.counters,
    };
  }

  async close(): Promise<void> {
    await this.#output.close();
    await this.#rejects?.close();
  }

  async #openRejects(bytes: number): Promise<Sink | undefined> {
    if (this.#rejectsPath === undefined) return undefined;
    this.#rejects ??= await FileSink.open(this.#rejectsPath, bytes);
    return this.#rejects;
  }
}
