import {UsageError} from '../../errors.ts';
import {openSource} from '../../input/source.ts';
import {headerLine} from '../../output/rejects.ts';

/** One line of a file of rejects, as far as it matters here. */
interface Rejected {
  readonly file: string;
  readonly raw: string;
  readonly truncated: boolean;
}

/** Rejected rows as a list of their own. */
export interface RejectedList {
  readonly text: string;
  /** Rows that are too long to have been kept whole, and are left out. */
  readonly cut: number;
}

/** The rows in a file of rejects under the header that they had, to be put right and run again. @throws {UsageError} */
export async function rejectedList(path: string): Promise<RejectedList> {
  const rejects = await readRejects(path);
  const [first] = rejects;
  if (first === undefined) throw new UsageError('no_rejects', `${path} holds no rejected rows.`);
  if (first.file === 'stdin')
    throw new UsageError(
      'rejects_stdin',
      `The rows of ${path} came from stdin, so their header is gone. Each line's "raw" is a row.`,
    );
  const whole = rejects.filter(({truncated}) => !truncated);
  const text = `${await headerOf(first.file)}${whole.map(({raw}) => `${raw}\n`).join('')}`;
  return {text, cut: rejects.length - whole.length};
}

async function readRejects(path: string): Promise<Rejected[]> {
  const source = await openSource({
    paths: [path],
    header: true,
    encoding: 'utf-8',
    maxRecordSize: 2 ** 28,
    inputFormat: 'ndjson',
  });
  const rejects: Rejected[] = [];
  try {
    for await (const {records} of source.batches())
      for (const record of records) {
        if (record.type !== 'ndjson' || typeof record.value.raw !== 'string')
          throw new UsageError(
            'no_rejects',
            `${path} is no file of rejected rows, such as OUT.rejects.ndjson.`,
          );
        const {file, raw, raw_truncated: truncated} = record.value;
        rejects.push({file: String(file), raw, truncated: truncated === true});
      }
    return rejects;
  } finally {
    await source.close();
  }
}

/** The header as it stands in the file that the rows came from; nothing where that is NDJSON. */
async function headerOf(file: string): Promise<string> {
  const source = await openSource({paths: [file], header: true, encoding: 'auto', maxRecordSize: 2 ** 28});
  try {
    const {format} = source;
    return format.kind === 'csv' && format.header !== undefined
      ? headerLine(format.header, format.delimiter)
      : '';
  } finally {
    await source.close();
  }
}
