import {jsonMembers} from './records/json-members.ts';
import type {InputRecord} from './row.ts';

const SAMPLE_RECORDS = 1_000;

/** A sample with this many characters is full, so that long records don't fill the memory. */
const SAMPLE_CHARACTERS = 8 * 1024 * 1024;

/** Keeps the input's first records as a sample: the same records, whatever the size of the batches. */
export class SampleTaker {
  readonly records: InputRecord[] = [];
  readonly #keys = new Set<string>();
  #characters = 0;

  get full(): boolean {
    return this.records.length >= SAMPLE_RECORDS || this.#characters >= SAMPLE_CHARACTERS;
  }

  /** The keys of the NDJSON objects in the sample, in order of first appearance. */
  get keys(): readonly string[] {
    return [...this.#keys];
  }

  add(records: readonly InputRecord[]): void {
    for (const record of records) {
      if (this.full) return;
      this.records.push(record);
      this.#characters += characters(record);
      if (record.type === 'ndjson') for (const key of jsonMembers(record.raw).keys()) this.#keys.add(key);
    }
  }
}

function characters(record: InputRecord): number {
  if (record.type === 'object') return record.bytes;
  if (record.type !== 'csv') return record.raw.length;
  return record.fields.reduce((sum, field) => sum + field.length, 0);
}
