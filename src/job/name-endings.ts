/** By what a compressed input's name ends, by the way it is compressed: each has its decoder in `src/input`. */
export const compressedEndings = {gzip: ['gz'], zstd: ['zst', 'zstd']} as const;

export type Compression = keyof typeof compressedEndings;

const COMPRESSED = new RegExp(`\\.(?:${Object.values(compressedEndings).flat().join('|')})$`, 'i');

/** `list.csv.gz` → `list.csv`. */
export function withoutCompression(path: string): string {
  return path.replace(COMPRESSED, '');
}

/** The format that a setting or a file's name asks for. */
export type NamedFormat = 'csv' | 'tsv' | 'ndjson';

const formats = new Map<string | undefined, NamedFormat>(
  Object.entries({csv: 'csv', tsv: 'tsv', tab: 'tsv', ndjson: 'ndjson', jsonl: 'ndjson'} as const),
);

/** The format by the file's name, compression endings aside; undefined where the name says nothing. */
export function formatByName(path: string): NamedFormat | undefined {
  return formats.get(/\.([a-z]+)$/i.exec(withoutCompression(path))?.[1]?.toLowerCase());
}
