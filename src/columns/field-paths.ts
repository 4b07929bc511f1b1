import type {Row} from '../input/row.ts';
import {typedText} from './targets.ts';

/** Maximum depth of nested objects in which fields are searched. */
const MOST_LEVELS = 5;
/** Number of fields at which the search for fields ends. */
const MOST_PATHS = 500;

/**
 * The fields of NDJSON rows, and `names`. A field in a nested object is a dotted path: `user.ip`. Of a list, only
 * the first entry is a field: `user.emails.0`.
 */
export function fieldPaths(names: readonly string[], rows: readonly Row[]): string[] {
  const paths = new Set(names);
  const objects = new Set<string>();
  const walk = (value: object, prefix: string, levels: number) => {
    for (const [key, inner] of Object.entries(value).slice(0, Array.isArray(value) ? 1 : undefined)) {
      if (paths.size >= MOST_PATHS) return;
      const path = `${prefix}${key}`;
      const opens = typeof inner === 'object' && inner !== null && typedText(inner) === undefined;
      if (opens) objects.add(path);
      if (opens && levels > 1) walk(inner, `${path}.`, levels - 1);
      else if (!opens) paths.add(path);
    }
  };
  for (const row of rows) if (row.type === 'ndjson') walk(row.value, '', MOST_LEVELS);
  return [...paths].filter(path => !objects.has(path));
}

/** True for a path through the first entry of a list, such as `ips.0`. Further entries have no path. */
export function isInList(path: string): boolean {
  return /\.0(?:\.|$)/.test(path);
}
