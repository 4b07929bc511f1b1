import {createWriteStream, rmSync} from 'node:fs';
import type {Reject} from '../../input/row.ts';
import type {Job} from '../../job/job.ts';
import type {EnrichedRow} from '../../output/encoder.ts';
import {rejectLine} from '../../output/rejects.ts';
import {FileSink, type Sink, StreamSink} from '../../output/sink.ts';
import {type Counters, countReject, countRow, savedCounters} from '../books/counters.ts';
import type {Layout} from '../layout/layout.ts';
import {type Checkpoint, partialPath, type RunState} from '../open/run-state.ts';
import {enrichedRow} from './enriched-row.ts';
import type {ReadyRecord} from './in-order.ts';

/** Writes rows and rejects to the partial files, counts them, and says what is durable. */
export class RowWriter {
  readonly counters: Counters;
  /** Where the output and the rejects are until they are published; undefined for a stream, or where there are none. */
  readonly partial: {readonly output: string | undefined; readonly rejects: string | undefined};
  /** Rows that the last checkpoint holds. */
  safeRows: number;
  readonly #layout: Layout;
  readonly #output: Sink;
  #rejects: Sink | undefined;
  #last: ReadyRecord | undefined;

  private constructor(layout: Layout, output: Sink, partial: RowWriter['partial'], counters: Counters) {
    this.#layout = layout;
    this.#output = output;
    this.partial = partial;
    this.counters = counters;
    this.safeRows = counters.rows.written;
  }

  /** Opens the partial files, cut back to the checkpoint. Throws StateError, OutputError. */
  static async open(
    job: Job,
    state: RunState,
    layout: Layout,
    checkpoint: Checkpoint | undefined,
    stdout: NodeJS.WritableStream,
  ): Promise<RowWriter> {
    const {output, rejects} = job.paths;
    const partial = {
      output: output === undefined ? undefined : partialPath(state, 'output'),
      rejects: rejects === undefined ? undefined : partialPath(state, 'rejects'),
    };
    const sink =
      partial.output === undefined
        ? streamSink(job.paths.stream, stdout)
        : await FileSink.open(partial.output, checkpoint?.outputBytes ?? 0);
    const writer = new RowWriter(layout, sink, partial, savedCounters(checkpoint?.counters));
    if (checkpoint === undefined) await sink.write(layout.encoder.head);
    const kept = checkpoint?.rejectsBytes ?? 0;
    if (kept > 0) await writer.#openRejects(kept);
    else if (partial.rejects !== undefined) rmSync(partial.rejects, {force: true});
    return writer;
  }

  async write(entries: readonly ReadyRecord[]): Promise<void> {
    const rows: EnrichedRow[] = [];
    const rejects: Reject[] = [];
    for (const entry of entries) {
      const {record} = entry;
      if (record.type === 'reject') {
        countReject(this.counters, record);
        rejects.push(record);
        continue;
      }
      const row = enrichedRow(this.#layout, record, entry);
      countRow(this.counters, row, this.#layout.columns);
      rows.push(row);
    }
    if (rows.length > 0) await this.#output.write(this.#layout.encoder.encode(rows));
    if (rejects.length > 0) {
      const sink = await this.#openRejects(0);
      await sink?.write(rejects.map(rejectLine).join(''));
    }
    this.#last = entries.at(-1) ?? this.#last;
  }

  /** Makes all that was written durable. Undefined before the first row. */
  async flush(): Promise<Omit<Checkpoint, 'timeline' | 'storedUntil'> | undefined> {
    const outputBytes = await this.#output.flush();
    const rejectsBytes = (await this.#rejects?.flush()) ?? 0;
    const last = this.#last;
    if (last === undefined) return undefined;
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
    if (this.partial.rejects === undefined) return undefined;
    this.#rejects ??= await FileSink.open(this.partial.rejects, bytes);
    return this.#rejects;
  }
}

function streamSink(path: string | undefined, stdout: NodeJS.WritableStream): StreamSink {
  return path === undefined ? new StreamSink(stdout, false) : new StreamSink(createWriteStream(path), true);
}
