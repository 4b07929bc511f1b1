import {existsSync} from 'node:fs';
import {globSync} from 'tinyglobby';

const DATE = '{date}';

/** Whether any of these paths has a date in it. */
export function mentionsDate(paths: readonly (string | undefined)[]): boolean {
  return paths.some(path => path?.includes(DATE) === true);
}

/** `exports/signups-{date}.csv` → `exports/signups-2026-01-31.csv`. */
export function dated(path: string, date: string): string {
  return path.replaceAll(DATE, date);
}

/**
 * Replaces patterns such as `exports/*.csv` by the files that match, sorted by name. A path that exists is no pattern,
 * and a pattern that nothing matches stays, so that whoever opens it can say that it is not there.
 */
export function expandPatterns(paths: readonly string[]): string[] {
  return paths.flatMap(path => {
    if (path === '-' || !/[*?[{]/.test(path) || existsSync(path)) return [path];
    const found = globSync(path, {expandDirectories: false, absolute: path.startsWith('/')}).sort();
    return found.length === 0 ? [path] : found;
  });
}

/** The day in UTC, `2026-01-31`, of a moment in milliseconds since the epoch. */
export function utcDate(now: number): string {
  return new Date(now).toISOString().slice(0, 10);
}
