import {UsageError} from '../../errors.ts';
import {openSource} from '../../input/source.ts';

/** Rejected rows as a list that can be run again. */
export interface RejectedList {
  /** The list in bytes, since some rows are rejected because they are not valid text. */
  readonly bytes: Buffer;
  /** Number of rows left out: they were too long to be kept whole. */
  readonly cut: number;
}

/**
 * Reads rejected rows from their file, and puts their old header above them, so that the user can fix and run them.
 *
 * @throws {UsageError}
 */
export async function rejectedList(path: string): Promise<RejectedList> {
  const lines = await readLines(path);
  const [first] = lines;
  if (typeof first?.header !== 'string') {
    const why = first === undefined ? '' : ": its lines are not those of a run's rejects";
    throw new UsageError('no_rejects', `${path} holds no rejected rows${why}.`);
  }
  const rows = lines.map(rowOf).filter(row => row !== undefined);
  const ended = rows.flatMap(row => (row.length === 0 ? [] : [row, Buffer.from('\n')]));
  return {bytes: Buffer.concat([Buffer.from(first.header), ...ended]), cut: lines.length - rows.length};
}

type Line = Readonly<Record<string, unknown>>;

/** The row as it was in its list; undefined if it was too long to be kept. */
function rowOf({raw, raw_base64: base64, raw_truncated: isCut}: Line): Buffer | undefined {
  if (typeof base64 === 'string') return Buffer.from(base64, 'base64');
  return isCut === true ? undefined : Buffer.from(String(raw));
}

async function readLines(path: string): Promise<Line[]> {
  const format = {header: true, encoding: 'utf-8', maxRecordSize: 2 ** 28, inputFormat: 'ndjson'} as const;
  const source = await openSource({paths: [path], ...format});
  const lines: Line[] = [];
  try {
    for await (const records of source.batches())
      for (const record of records) {
        if (record.type !== 'ndjson' || typeof record.value.raw !== 'string')
          throw new UsageError(
            'no_rejects',
            `${path} is not a file of rejected rows, such as OUT.rejects.ndjson.`,
          );
        lines.push(record.value);
      }
    return lines;
  } finally {
    await source.close();
  }
}
