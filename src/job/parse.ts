import {readFileSync} from 'node:fs';
import {isNode, LineCounter, parseDocument} from 'yaml';
import type {z} from 'zod';
import {closest} from './closest.ts';
import {systemCode, UsageError} from './errors.ts';
import {type JobSettings, jobSchema, type SettingsInput, spelled} from './settings.ts';

/** Settings as they were written, by the schema's names. */
export type RawSettings = Readonly<Record<string, unknown>>;

/** A job file that was read, but not checked yet. */
export interface RawJob {
  readonly path: string;
  readonly settings: RawSettings;
  /** The line of a setting, by its dotted path of the schema's names. */
  readonly lines: ReadonlyMap<string, number>;
}

/** @throws {UsageError} when the file can't be read or is no YAML mapping; the message has file and line. */
export function readJobFile(path: string): RawJob {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError('job_file', `The job file ${path} can't be read: ${systemCode(error)}.`);
  }
  const counter = new LineCounter();
  const document = parseDocument(text, {lineCounter: counter, prettyErrors: false});
  const [problem] = document.errors;
  if (problem !== undefined)
    throw new UsageError('job_syntax', `${path}:${counter.linePos(problem.pos[0]).line}: ${problem.message}`);
  const value: unknown = document.toJS();
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UsageError(
      'job_syntax',
      `${path}: expected settings such as "input: signups.csv", one a line.`,
    );
  }
  const settings: Record<string, unknown> = {};
  const lines = new Map<string, number>();
  for (const [key, inner] of Object.entries(value)) {
    const name = camelCase(key);
    settings[name] = inner;
    const node = document.get(key, true);
    const offset = isNode(node) ? node.range?.[0] : undefined;
    if (offset !== undefined) lines.set(name, counter.linePos(offset).line);
  }
  return {path, settings, lines};
}

/**
 * Checks settings from a job file and from flags, the flags going first. `jobOnly` settings have no defaults.
 *
 * @throws {UsageError} naming the flag, or file, line and key, what was expected, and the nearest known name.
 */
export function checkSettings(file: RawJob | undefined, flags: RawSettings): JobSettings {
  const merged = {...file?.settings, ...flags};
  const result = jobSchema.safeParse({input: [], ...merged});
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new UsageError(
    'settings',
    issue === undefined ? 'The settings are not valid.' : describeIssue(issue, file, flags),
  );
}

function describeIssue(issue: z.core.$ZodIssue, file: RawJob | undefined, flags: RawSettings): string {
  if (issue.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys;
    const near = closest(key, Object.keys(jobSchema.shape));
    const hint = near === undefined ? '' : ` Did you mean "${spelled(near, '_')}"?`;
    return `${place(issue.path.length === 0 ? key : String(issue.path[0]), file, flags)}: there is no such setting.${hint}`;
  }
  const name = String(issue.path[0] ?? '');
  const inner = issue.path.slice(1).map(String).join('.');
  return `${place(name, file, flags)}${inner === '' ? '' : ` (${inner})`}: ${firstMessage(issue)}.`;
}

/** In a union each alternative has its own complaint; one that was written for people is the best of them. */
function firstMessage(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_union') {
    const inner = issue.errors.flat();
    const own = inner.find(candidate => candidate.message.startsWith('expected')) ?? inner.at(-1);
    if (own !== undefined) return firstMessage(own);
  }
  return issue.message.replace(/^Invalid (input|option): /, '');
}

function place(name: string, file: RawJob | undefined, flags: RawSettings): string {
  if (file === undefined || name in flags) return `--${spelled(name, '-')}`;
  const line = file.lines.get(name);
  return `${file.path}${line === undefined ? '' : `:${line}`}: ${spelled(name, '_')}`;
}

function camelCase(key: string): string {
  return key.replace(/[_-]([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

export type {SettingsInput};
