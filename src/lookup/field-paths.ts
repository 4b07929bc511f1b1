import type {Row} from '../input/row.ts';

/** Deeper, and in more fields than this, nobody keeps what could be looked up. */
const MOST_LEVELS = 5;
const MOST_PATHS = 500;

/** The fields of NDJSON rows, those of the objects in them by their dotted paths: `user.ip`. */
export function fieldPaths(names: readonly string[], rows: readonly Row[]): string[] {
  const paths = new Set(names);
  const objects = new Set<string>();
  const walk = (value: object, prefix: string, levels: number) => {
    for (const [key, inner] of Object.entries(value)) {
      if (paths.size >= MOST_PATHS) return;
      const path = `${prefix}${key}`;
      const opens = typeof inner === 'object' && inner !== null && !Array.isArray(inner);
      if (opens) objects.add(path);
      if (opens && levels > 1) walk(inner, `${path}.`, levels - 1);
      else if (!opens) paths.add(path);
    }
  };
  for (const row of rows) if (row.type === 'ndjson') walk(row.value, '', MOST_LEVELS);
  return [...paths].filter(path => !objects.has(path));
}
