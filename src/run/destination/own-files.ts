import {closeSync, constants, openSync, readSync, statSync} from 'node:fs';
import {UsageError} from '../../errors.ts';
import {type Said, say, set} from '../../sentence.ts';

/** Files that a run writes beside its output, with the beginning by which the next run recognizes each. */
const beginnings = {
  summary: /^\{\s*"schema_version": ?\d/,
  rejects: /^\{"file":"(?:[^"\\]|\\.)*","line":\d+,"row":\d+,"reason":"/,
  report: /^(?:<!doctype html>\n)?<!-- bulk-enrich report -->/,
  metrics: /^# HELP bulk_enrich_/,
} as const;

export type OwnFileKind = keyof typeof beginnings;

/** A path of a list may have 4,096 bytes, and each may be escaped in six characters. */
const LONGEST_BEGINNING = 32_768;

/** True if a run wrote the file at `path`, or if it is empty. A run may replace or remove only such a file. */
export function isOwnFile(kind: OwnFileKind, path: string): boolean {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const head = Buffer.alloc(LONGEST_BEGINNING);
    const bytes = readSync(file, head);
    return bytes === 0 || beginnings[kind].test(head.toString('utf8', 0, bytes));
  } catch {
    return false;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** True if a run may write the path: no file would be lost but one that a run wrote. */
export function mayWrite(kind: OwnFileKind, path: string): boolean {
  return statSync(path, {throwIfNoEntry: false})?.isFile() !== true || isOwnFile(kind, path);
}

/** @throws {UsageError} if a run would replace a file that no run wrote. `setting`: the setting that names it. */
export function refuseOthersFile(kind: OwnFileKind, path: string, setting: Said = say`${set(kind)}`): void {
  if (mayWrite(kind, path)) return;
  throw new UsageError(
    'file_exists',
    say`${setting}: ${path} exists, is not a run's ${kind}, and would be lost. Choose another path, or move it away.`,
  );
}
