/** The format that a setting or a file's name asks for. */
export type NamedFormat = 'csv' | 'tsv' | 'ndjson';

const byExtension: Readonly<Record<string, NamedFormat>> = {
  csv: 'csv',
  tsv: 'tsv',
  tab: 'tsv',
  ndjson: 'ndjson',
  jsonl: 'ndjson',
};

/** The format by the file's name, compression endings aside; undefined where the name says nothing. */
export function formatByName(path: string): NamedFormat | undefined {
  const extension = /\.([a-z]+)(?:\.(?:gz|zst|zstd))?$/i.exec(path)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(byExtension, extension) ? byExtension[extension] : undefined;
}
