import {existsSync, readdirSync} from 'node:fs';
import {basename, dirname} from 'node:path';
import {readIfFile} from '../disk/path.ts';
import {type Said, say, setting} from '../sentence.ts';

export type Compression = 'gzip' | 'zstd';

/** Compressions by name ending. Each has its decoder in `src/input`. */
export const compressions: ReadonlyMap<string | undefined, Compression> = new Map([
  ['gz', 'gzip'],
  ['zst', 'zstd'],
  ['zstd', 'zstd'],
]);

const COMPRESSED = new RegExp(`\\.(${[...compressions.keys()].join('|')})$`, 'i');

/** `list.csv.gz` → `list.csv`. */
export function withoutCompression(path: string): string {
  return path.replace(COMPRESSED, '');
}

/** The compression that a name's ending stands for, such as `.gz`; undefined for other endings. */
export function compressionOf(path: string): Compression | undefined {
  return compressions.get(COMPRESSED.exec(path)?.[1]?.toLowerCase());
}

const SPREADSHEET = say`Write a .csv: spreadsheets open it. Add ${setting('outputFormat', 'csv-bom')} if it has letters beyond ASCII.`;
const PAGE = say`Write the rows as .csv or .ndjson. For a page about the run: ${setting('report', 'FILE.html')}.`;

/** Name endings of formats that this program can't write, with advice for the user. */
const otherFormats: readonly (readonly [endings: string, advice: Said])[] = [
  ['xlsx xls xlsm ods numbers', SPREADSHEET],
  ['html htm md pdf', PAGE],
  ['json', 'Write .ndjson, one object a line; `jq -s .` makes one list of it.'],
  ['zip 7z rar bz2 xz br', 'Write .gz.'],
  [
    'parquet arrow feather avro orc db sqlite sqlite3 duckdb xml yaml yml',
    'Write a .csv or .ndjson and convert it, with duckdb for example.',
  ],
];

/** Advice for an output of this name; undefined if rows can be written under it. */
export function adviseOtherFormat(path: string): Said | undefined {
  const ending = /\.([a-z0-9]+)$/i.exec(withoutCompression(path))?.[1]?.toLowerCase() ?? '';
  return otherFormats.find(([endings]) => endings.split(' ').includes(ending))?.[1];
}

/** The formats that a setting or a file's name can give. */
export const formatNames = ['csv', 'tsv', 'ndjson'] as const;
export type NamedFormat = (typeof formatNames)[number];

const formats = new Map<string | undefined, NamedFormat>(
  Object.entries({csv: 'csv', tsv: 'tsv', tab: 'tsv', ndjson: 'ndjson', jsonl: 'ndjson'} as const),
);

/** The format by a file's name, without compression endings; undefined if the name gives none. */
export function formatByName(path: string): NamedFormat | undefined {
  return formats.get(/\.([a-z]+)$/i.exec(withoutCompression(path))?.[1]?.toLowerCase());
}

/** Default paths beside `out.csv`: `out.summary.json`, or `out.csv.summary.json` if another output has these names. */
export function sidePathsOfOutput(output: string): {readonly summary: string; readonly rejects: string} {
  const stem = stemOf(output);
  return namesOf(isTaken(stem, output) ? output : stem);
}

/** All default paths of an output's files: the output, its run's directory, and the short and long names. */
export function listOutputPaths(output: string): string[] {
  return [output, `${output}.run`, ...[stemOf(output), output].flatMap(name => Object.values(namesOf(name)))];
}

function namesOf(name: string) {
  return {summary: `${name}.summary.json`, rejects: `${name}.rejects.ndjson`};
}

function stemOf(output: string): string {
  return withoutCompression(output).replace(/\.[^./]+$/, '');
}

/** True if another output has or may get the short names, or an earlier run of this one has the long ones. */
function isTaken(stem: string, output: string): boolean {
  const owner = readSummarizedOutput(namesOf(stem).summary);
  if (owner !== undefined) return owner !== basename(output);
  return existsSync(namesOf(output).summary) || othersUnderWay(stem, output);
}

function othersUnderWay(stem: string, output: string): boolean {
  const own = `${basename(output)}.run`;
  try {
    return readdirSync(dirname(output)).some(
      name =>
        name.endsWith('.run') && name !== own && stemOf(name.slice(0, -'.run'.length)) === basename(stem),
    );
  } catch {
    // The directory does not exist: the run reports it.
    return false;
  }
}

/** Reads the name of the output from a summary file; undefined if the file is not a summary. */
export function readSummarizedOutput(path: string): string | undefined {
  try {
    const {output, schema_version: version} = JSON.parse(readIfFile(path) ?? '');
    return version === 2 && typeof output?.path === 'string' ? basename(output.path) : undefined;
  } catch {
    return undefined;
  }
}
