import {existsSync} from 'node:fs';
import {createRequire} from 'node:module';
import {isAbsolute, sep} from 'node:path';
import {identifyFile} from '../disk/path.ts';
import {UsageError} from '../errors.ts';

const require = createRequire(import.meta.url);

/** Loaded only for paths that are patterns. */
const globs = (): typeof import('tinyglobby') => require('tinyglobby');

/** Stands for the day in a path. */
export const DATE = '{date}';

/** True if one of these paths contains `{date}`. */
export function mentionsDate(paths: readonly (string | undefined)[]): boolean {
  return paths.some(path => path?.includes(DATE) === true);
}

/** `exports/signups-{date}.csv` → `exports/signups-2026-01-31.csv`. */
export function fillDate(path: string, date: string): string {
  return path.replaceAll(DATE, date);
}

/**
 * Replaces patterns such as `exports/*.csv` by the files that match, sorted, without those that the job writes
 * (`ownAmong`). Existing paths, and patterns without a match, stay. Throws UsageError if a pattern matches only own
 * files.
 */
export function expandPatterns(
  paths: readonly string[],
  ownAmong: (found: readonly string[]) => (path: string) => boolean = () => () => false,
): string[] {
  return paths.flatMap(path => {
    if (path === '-' || !/[*?[{]/.test(path) || existsSync(path)) return [path];
    const found = globs()
      .globSync(patternOf(path), {expandDirectories: false, absolute: isAbsolute(path)})
      .sort();
    if (found.length === 0) return [path];
    const isOwn = ownAmong(found);
    const others = found.filter(name => !isOwn(name));
    if (others.length === 0)
      throw new UsageError(
        'own_files',
        `${path} matches only files that this job writes, so there is nothing to read. Use a narrower pattern, or another directory for the outputs.`,
      );
    return others;
  });
}

/** The path as a pattern, in which `\` would escape: on Windows it separates folders. */
function patternOf(path: string): string {
  return sep === '\\' ? path.replaceAll('\\', '/') : path;
}

/** Returns a test for files at these paths and below them. `{date}` in a path matches any day. */
export function createDatedPathMatcher(paths: readonly string[]): (path: string) => boolean {
  const anyDay = new RegExp(
    `^(${paths.map(path => anyDayPattern(identifyFile(path).path)).join('|')})([\\\\/]|$)`,
  );
  return path => anyDay.test(identifyFile(path).path);
}

function anyDayPattern(path: string): string {
  return path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('\\{date\\}', '\\d{4}-\\d{2}-\\d{2}');
}

/** Days before `date`, oldest first, for which `path` with that day in place of `{date}` exists. */
export function listEarlierDays(path: string, date: string): string[] {
  const anyDay = '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]';
  const {escapePath, globSync} = globs();
  const pattern = escapePath(patternOf(path)).replaceAll(escapePath(DATE), anyDay);
  const found = globSync(pattern, {expandDirectories: false, onlyFiles: false, dot: true});
  const days = found.flatMap(name => name.match(/\d{4}-\d{2}-\d{2}/g) ?? []);
  return [...new Set(days)].filter(day => day < date && existsSync(fillDate(path, day))).sort();
}

/** The day in UTC, `2026-01-31`, of a time in milliseconds since the epoch. */
export function utcDate(now: number): string {
  return new Date(now).toISOString().slice(0, 10);
}

/** True for a URL such as `s3://…`. As a path it would be a directory `s3:`, which is not meant. */
export function isUrl(path: string): boolean {
  return /^[a-z][a-z\d+.-]+:\/\//i.test(path);
}
