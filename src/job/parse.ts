import type {YAMLError} from 'yaml';
import type {z} from 'zod';
import {readFileText} from '../disk/path.ts';
import {systemCode, systemReason, UsageError} from '../errors.ts';
import {camelCase, closestName, didYouMean, spellName} from '../sentence.ts';
import {describeSettings, type JobSettings, jobSchema} from './settings.ts';
import {findYamlFault, loadYaml, parseYamlDocument, TooDeepError} from './yaml.ts';

/** Settings as the user wrote them, not checked, by the names in the schema such as `maxCredits`. */
export type RawSettings = Readonly<Record<string, unknown>>;

/** A YAML file: its content, and its path. */
export interface YamlFile {
  readonly path: string;
  readonly value: unknown;
  /** The line of the entry at this path, or of its nearest existing parent. */
  line(path: readonly PropertyKey[]): number | undefined;
}

/** A job file, read but not checked. */
export interface RawJob extends YamlFile {
  readonly settings: RawSettings;
  /** The name of a setting as the file has it. */
  nameOf(setting: string): string | undefined;
}

/** The place of a setting by its path in the schema: file, line and key, or the flag. */
export type SettingLocator = (path: readonly PropertyKey[]) => string;

/**
 * Reads a YAML file. `what` names its kind. Throws UsageError with file and line if it can't be read or is not YAML.
 */
export function readYaml(path: string, what: string, code: 'account' | 'job' | 'score'): YamlFile {
  let text: string;
  try {
    text = readFileText(path, code === 'job');
  } catch (error) {
    const why =
      systemCode(error) === 'ENOENT'
        ? `The ${what} ${path} does not exist (looked for in ${process.cwd()}).`
        : `The ${what} ${path} can't be read: ${systemReason(error)}.`;
    throw new UsageError(`${code}_file`, why);
  }
  if (text.includes('\0'))
    throw new UsageError(`${code}_syntax`, `${path}: it is UTF-16 or binary. Save it as UTF-8.`);
  const counter = new (loadYaml().LineCounter)();
  const guarded = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      // The YAML library throws if aliases expand to too much data, and `parseYamlDocument` if the nesting is too deep.
      const why = error instanceof Error ? withoutQuote(error) : String(error);
      const at = error instanceof TooDeepError ? `${path}:${error.line}` : path;
      throw new UsageError(`${code}_syntax`, `${at}: it can't be read as settings (${why}).`, {cause: error});
    }
  };
  const document = guarded(() => parseYamlDocument(text, counter));
  const problem = findYamlFault(document);
  if (problem !== undefined)
    throw new UsageError(
      `${code}_syntax`,
      `${path}:${counter.linePos(problem.pos[0]).line}: this is not valid YAML (${withoutQuote(problem)}).${adviceOn(problem, code)}`,
    );
  const line = (keys: readonly PropertyKey[]): number | undefined => {
    const node = keys.length === 0 ? document.contents : document.getIn(keys, true);
    const offset = loadYaml().isNode(node) ? node.range?.[0] : undefined;
    if (offset !== undefined) return counter.linePos(offset).line;
    return keys.length === 0 ? undefined : line(keys.slice(0, -1));
  };
  return {path, value: guarded(() => document.toJS() as unknown), line};
}

/** The message without what it quotes after a colon: the file may be another one, such as a file of secrets. */
function withoutQuote({message}: Error): string {
  const [said = ''] = message.split(': ', 1);
  return said;
}

function adviceOn(problem: YAMLError, code: 'account' | 'job' | 'score'): string {
  if (LACKS_QUOTES.has(problem.code))
    return ` Put a text that begins with !, or a condition with brackets, into single quotes: when: '!phone.is_valid'.`;
  return code === 'job' ? ' Write one setting a line, such as "input: signups.csv".' : '';
}

/** YAML faults that a condition without quotes causes: a tag, brackets after a text, a colon in braces. */
const LACKS_QUOTES: ReadonlySet<string> = new Set([
  'TAG_RESOLVE_FAILED',
  'UNEXPECTED_TOKEN',
  'BLOCK_IN_FLOW',
]);

/** @throws {UsageError} if the file can't be read or is not a YAML mapping; the message has file and line. */
export function readJobFile(path: string): RawJob {
  const file = readYaml(path, 'job file', 'job');
  const {value} = file;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UsageError(
      'job_syntax',
      `${path}: expected settings such as "input: signups.csv", one a line.`,
    );
  }
  const written = new Map(Object.keys(value).map(key => [camelCase(key), key]));
  const settings = camelKeys(value);
  const line: YamlFile['line'] = ([name = '', ...inner]) =>
    written.has(String(name)) ? file.line([written.get(String(name)) ?? '', ...inner]) : undefined;
  return {path, value, settings, line, nameOf: name => written.get(name)};
}

function camelKeys(value: object): RawSettings {
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [camelCase(key), inner as unknown]));
}

/** Reads what is certain of a job file with a mistake: settings on one line. Empty if it can't be read at all. */
export function salvageJobFile(path: string): RawSettings {
  try {
    const lines = readFileText(path).split(/\r?\n/);
    const documents = lines.filter(line => /^[\w-]+:\s+\S/.test(line)).map(line => parseYamlDocument(line));
    const sound = documents.filter(({errors}) => errors.length === 0);
    return camelKeys(Object.assign({}, ...sound.map(document => document.toJS() as unknown)));
  } catch {
    return {};
  }
}

/** How messages to users of the library name a setting: as a property of an object. */
export const formatPropertyPath: SettingLocator = path => path.map(String).join('.');

/**
 * Checks settings from a job file and flags; flags take precedence. Throws UsageError with the flag (or file, line
 * and key), the expected value, and the nearest known name.
 */
export function checkSettings(
  file: RawJob | undefined,
  flags: RawSettings,
  placeOf = createSettingLocator(file, flags),
): JobSettings {
  const merged = {...file?.settings, ...flags};
  const result = jobSchema.safeParse({input: [], ...merged});
  if (result.success) return result.data;
  throw new UsageError('settings', describeIssue(firstIssue(result.error), merged, placeOf));
}

/** The first issue of a failed check, which always has one. */
function firstIssue({issues}: z.ZodError): z.core.$ZodIssue {
  return issues[0] as z.core.$ZodIssue;
}

function describeIssue(issue: z.core.$ZodIssue, merged: RawSettings, placeOf: SettingLocator): string {
  const [unknown] = issue.code === 'unrecognized_keys' && issue.path.length === 0 ? issue.keys : [];
  if (unknown !== undefined) {
    const spell = (name: string) => (placeOf === formatPropertyPath ? name : spellName(name, '_'));
    const known = Object.keys(jobSchema.shape).map(spell);
    return `${placeOf([unknown])}: this setting does not exist.${didYouMean(spell(unknown), known)}`;
  }
  const {path, message} = faultIn(issue);
  const [name, ...inner] = issue.path;
  const setting = describeSettings().find(known => known.name === name);
  const value = valueAt(merged, issue.path);
  const near =
    typeof value === 'string' && setting !== undefined ? closestName(value, setting.choices) : undefined;
  // Suggests only a word with the same first letter: many short words are similar, and that letter is rarely wrong.
  const hint =
    near !== undefined && inner.length === 0 && near[0] === String(value)[0]
      ? ` Did you mean "${near}"?`
      : '';
  // A URL may hold a secret.
  const isHidden =
    path.length > 0 || message.includes('received') || setting?.value?.includes('URL') === true;
  const quotes = lacksQuotes([...issue.path, ...path], merged) ? ' Put it into quotes.' : '';
  return `${placeOf([...issue.path, ...path])}: ${message}${isHidden ? '' : quoteValue(value)}.${hint}${quotes}`;
}

/** True if YAML does not take the value for a text, such as +47, and as a text it would be right. */
function lacksQuotes(path: readonly PropertyKey[], merged: RawSettings): boolean {
  const [name = ''] = path;
  const isRight = (quoted: unknown) => {
    const {error} = jobSchema.safeParse({input: [], ...(quoted as RawSettings)});
    return error?.issues.some(issue => issue.path[0] === name) !== true;
  };
  const value = valueAt(merged, path);
  return (
    typeof value === 'number' &&
    [`${value}`, `+${value}`].some(text => isRight(withValueAt(merged, path, text)))
  );
}

function valueAt(within: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
    within,
  );
}

function withValueAt(within: unknown, [key, ...inner]: readonly PropertyKey[], text: string): unknown {
  if (key === undefined) return text;
  const copy = Array.isArray(within) ? [...within] : {...(within as object)};
  Reflect.set(copy, key, withValueAt(Reflect.get(copy, key), inner, text));
  return copy;
}

const LONGEST_GIVEN = 40;

/** The end of a message: the value that was given, if it is a short text or number. */
function quoteValue(value: unknown): string {
  const text = typeof value === 'object' ? '' : String(value ?? '').trim();
  if (text === '' || text.length > LONGEST_GIVEN) return '';
  return `, not ${typeof value === 'string' ? `"${text}"` : text}`;
}

/** @throws {UsageError} with file, line, key and the expected value, if the content does not fit. */
export function checkAccountFile<T extends z.ZodType>(file: YamlFile, schema: T): z.output<T> {
  const result = schema.safeParse(file.value);
  if (result.success) return result.data;
  const issue = firstIssue(result.error);
  const {path, message} = faultIn(issue);
  const keys = [...issue.path, ...path];
  const place = [withLine(file, keys), keys.map(String).join('.')].filter(Boolean).join(': ');
  throw new UsageError('account_settings', `${place}: ${message}.`);
}

/** The file with the line of the entry at this path: `job.yaml:7`. */
function withLine({path, line}: YamlFile, keys: readonly PropertyKey[]): string {
  const number = line(keys);
  return number === undefined ? path : `${path}:${number}`;
}

interface Fault {
  /** Path of the faulty value, relative to the issue's own path. */
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** The message of an issue. If a value may have several forms, the message is about the form that fits best. */
function faultIn(issue: z.core.$ZodIssue): Fault {
  const {code, message} = issue;
  if (code === 'unrecognized_keys')
    // Replaces zod's own message, which does not name the allowed keys.
    return {
      path: issue.keys.slice(0, 1),
      message: message.startsWith('Unrecognized') ? 'this key does not exist' : message,
    };
  if (code === 'invalid_type' && issue.expected === 'boolean')
    return {path: [], message: 'expected true or false'};
  if (code !== 'invalid_union')
    return {path: [], message: message.replace(/^Invalid (input|option): /, '').replaceAll('"|"', '", "')};
  const all = issue.errors.flat();
  const inside =
    all.find(({code}) => code === 'unrecognized_keys') ??
    all.find(({code, path}) => path.length > 0 || code !== 'invalid_type');
  if (inside === undefined || inside.code === 'invalid_value' || inside.code === 'invalid_format')
    return {path: [], message};
  const found = faultIn(inside);
  return {path: [...inside.path, ...found.path], message: found.message};
}

/** Returns a function that gives the place of a setting: its flag, or file, line and key in the job file. */
export function createSettingLocator(file: RawJob | undefined, flags: RawSettings): SettingLocator {
  return ([name = '', ...inner]) => {
    const setting = String(name);
    if (file === undefined || setting in flags)
      return `--${spellName(setting, '-')}${numberOf(flags[setting], inner)}`;
    const written = isSetting(setting) ? spellName(setting, '_') : (file.nameOf(setting) ?? setting);
    return `${withLine(file, [setting, ...inner])}: ${[written, ...inner.map(String)].join('.')}`;
  };
}

function isSetting(name: string): boolean {
  return Object.hasOwn(jobSchema.shape, name);
}

/** Says which of several values of one flag is meant, such as ` (number 2)`. */
function numberOf(given: unknown, path: readonly PropertyKey[]): string {
  const [index] = path;
  if (path.length !== 1 || typeof index !== 'number')
    return path.length === 0 ? '' : ` (${path.map(String).join('.')})`;
  return Array.isArray(given) && given.length > 1 ? ` (number ${index + 1})` : '';
}
