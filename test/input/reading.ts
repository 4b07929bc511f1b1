import {mkdtempSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {Readable} from 'node:stream';
import {InputError} from '../../src/input/input-error.ts';
import type {InputDigest, InputFormat, InputRecord, Reject} from '../../src/input/row.ts';
import {openRecordSource, type SourceSettings} from '../../src/input/source.ts';
import {newDirectory} from '../support/new-directory.ts';

/** The content of a source read to its end. */
export interface Reading {
  readonly format: InputFormat;
  readonly sample: readonly InputRecord[];
  readonly records: InputRecord[];
  readonly blankLines: number;
  readonly bytesTotal: number | undefined;
  readonly position: InputDigest;
  readonly notes: readonly string[];
  readonly paddedRows: number;
}

export const DEFAULTS = {header: true, encoding: 'auto'} as const;

export async function readAll(
  paths: string | readonly string[],
  settings: Partial<SourceSettings> = {},
): Promise<Reading> {
  const source = await openRecordSource({...DEFAULTS, paths: [paths].flat(), ...settings});
  const records: InputRecord[] = [];
  for await (const batch of source.batches()) records.push(...batch);
  const {format, sample, blankLines, bytesTotal, position, notes, paddedRows} = source;
  return {format, sample, records, blankLines, bytesTotal, position, notes: notes.map(String), paddedRows};
}

/** Reads bytes as stdin, in chunks of the given size. */
export function readBytes(
  bytes: Buffer | string,
  settings: Partial<SourceSettings> = {},
  chunkSize = 64 * 1024,
): Promise<Reading> {
  return readAll('-', {stdin: streamOf(Buffer.from(bytes as string), chunkSize), ...settings});
}

export function streamOf(bytes: Buffer, chunkSize: number): Readable {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += chunkSize) chunks.push(bytes.subarray(at, at + chunkSize));
  return Readable.from(chunks, {objectMode: false});
}

/** The error that reading ends with. */
export async function failureOf(reading: Promise<unknown>): Promise<InputError> {
  const error: unknown = await reading.then(() => undefined).catch((reason: unknown) => reason);
  if (error instanceof InputError) return error;
  throw new Error('expected an InputError', {cause: error});
}

export function fieldsOf(records: readonly InputRecord[]): (readonly string[])[] {
  return records.flatMap(record => (record.type === 'csv' ? [record.fields] : []));
}

export function rejectsOf(records: readonly InputRecord[]): Reject[] {
  return records.filter(record => record.type === 'reject');
}

/** A function that writes files, each into a folder of its own, which goes when the test ends. */
export function useFiles(): (name: string, content: Buffer | string) => string {
  const within = newDirectory();
  return (name, content) => {
    const path = join(mkdtempSync(within('files-')), name);
    writeFileSync(path, content);
    return path;
  };
}
