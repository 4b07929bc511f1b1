import {spawnSync} from 'node:child_process';
import {closeSync, openSync, readSync} from 'node:fs';
import {oneLine, systemReason, UsageError} from '../../errors.ts';

type Environment = Readonly<NodeJS.ProcessEnv>;

const KEY = 'BULK_ENRICH_API_KEY';
const KEY_FILE = 'BULK_ENRICH_API_KEY_FILE';
const KEY_COMMAND = 'BULK_ENRICH_API_KEY_COMMAND';

/** Variables for the API key. Only one of them may be set. */
export const keyVariables = [KEY, KEY_FILE, KEY_COMMAND] as const;

/**
 * Maximum time of the command that prints the key. A vault on a network may need some seconds. But a command that
 * asks a person for something must not hold up a nightly run for longer.
 */
const COMMAND_TIMEOUT_MS = 60_000;
const LARGEST_OUTPUT_BYTES = 65_536;
/** Maximum number of characters of the command's stderr that the user sees. */
const LONGEST_REMARK = 500;

/**
 * Returns the API key. An environment variable gives the key itself, a file that holds it, or a command that
 * prints it. Undefined if no such variable is set. `warn` receives the command's stderr.
 *
 * @throws {UsageError} if several variables are set, or the file or the command gives no key.
 */
export function readKey(env: Environment, warn: (sentence: string) => void = () => {}): string | undefined {
  const source = keySource(env);
  if (source === undefined) return undefined;
  const [variable, given] = source;
  if (variable === KEY) return keyIn(given, source);
  try {
    if (variable === KEY_FILE) return keyIn(readBegin(given), source);
    return printedNow(given, source, env, warn);
  } catch (error) {
    throw unreadable(source, error);
  }
}

/** The variable that gives the key, for messages. */
export function keyVariable(env: Environment): (typeof keyVariables)[number] | undefined {
  return keySource(env)?.[0];
}

type KeySource = readonly [variable: (typeof keyVariables)[number], given: string];

function keySource(env: Environment): KeySource | undefined {
  const set = keyVariables.flatMap((name): KeySource[] => {
    const given = env[name];
    return given === undefined ? [] : [[name, given]];
  });
  if (set.length > 1)
    throw new UsageError('two_keys', `${set.map(([name]) => name).join(' and ')} are both set: unset one.`);
  return set[0];
}

function keyIn(text: string, source: KeySource): string {
  const key = text.trim();
  if (text.length > LARGEST_OUTPUT_BYTES) throw sourceError(source, 'is too large to be a key');
  if (key === '') throw sourceError(source, source[0] === KEY_FILE ? 'is empty' : 'printed nothing');
  const fault = faultOf(key);
  if (fault !== undefined) throw sourceError(source, fault);
  return key;
}

/** Tells why a text is not a key alone; undefined if it may be one. The service would refuse such a text. */
function faultOf(text: string): string | undefined {
  if (/[\0\uFFFD]/.test(text)) return 'is not UTF-8 text, perhaps UTF-16: save it as UTF-8';
  if (/[\r\n]/.test(text)) return 'has more than one line';
  if (/^(["'`]).*\1$/.test(text)) return 'has quotes around the key: remove them';
  // A key in Base64 may end in `=`, but has none inside.
  if (/^(?:export\s+)?[A-Za-z_]\w*\s*=\s*[^=\s]/.test(text))
    return 'has a name before the key (NAME=KEY): remove the name and the =';
  return undefined;
}

/**
 * The beginning of a file, at most one byte more than a key may have, since a device such as /dev/zero has no end.
 */
function readBegin(path: string): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(LARGEST_OUTPUT_BYTES + 1);
    return bytes.toString('utf8', 0, readSync(file, bytes));
  } finally {
    closeSync(file);
  }
}

function printedNow(
  command: string,
  source: KeySource,
  env: Environment,
  warn: (sentence: string) => void,
): string {
  const ended = spawnSync(command, {
    env: {...env},
    encoding: 'utf8',
    timeout: COMMAND_TIMEOUT_MS,
    maxBuffer: LARGEST_OUTPUT_BYTES,
    windowsHide: true,
    shell: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed = ended.stdout?.trim() ?? '';
  const remark = oneLine(printed === '' ? (ended.stderr ?? '') : ended.stderr.replaceAll(printed, '******'));
  if (remark !== '') warn(`The command in ${KEY_COMMAND} says: ${remark.slice(0, LONGEST_REMARK)}`);
  if (ended.error !== undefined) throw ended.error;
  if (ended.status !== 0) throw ended;
  return keyIn(printed, source);
}

/** The error for an unreadable key. Its message has neither the command nor its output, which is the key. */
function unreadable(source: KeySource, error: unknown): UsageError {
  if (error instanceof UsageError) return error;
  if (source[0] === KEY_FILE) return sourceError(source, `can't be read: ${systemReason(error)}`);
  const {status, code, signal} = error as {status?: number | null; code?: unknown; signal?: string | null};
  const exit = status ?? (typeof code === 'number' ? code : undefined);
  if (exit !== undefined) return sourceError(source, `failed (exit code ${exit})`);
  return sourceError(source, `failed (${signal ?? String(code)}), or took longer than a minute`);
}

function sourceError([variable, given]: KeySource, what: string): UsageError {
  if (variable === KEY) return new UsageError('key_variable', `The text in ${variable} ${what}.`);
  return variable === KEY_FILE
    ? new UsageError('key_file', `The key file ${given} (${variable}) ${what}.`)
    : new UsageError(
        'key_command',
        `The command in ${variable} ${what}; it must print the API key and nothing else.`,
      );
}
