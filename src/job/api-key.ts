import {spawnSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import {dirname, isAbsolute} from 'node:path';
import {readFirstBytes} from '../disk/path.ts';
import {systemReason, toOneLine, UsageError} from '../errors.ts';

type Environment = Readonly<NodeJS.ProcessEnv>;

const KEY = 'BULK_ENRICH_API_KEY';
const KEY_FILE = 'BULK_ENRICH_API_KEY_FILE';
const KEY_COMMAND = 'BULK_ENRICH_API_KEY_COMMAND';

/** Variables for the API key. Only one of them may be set. */
export const keyVariables = [KEY, KEY_FILE, KEY_COMMAND] as const;
type KeyVariable = (typeof keyVariables)[number];

/** Maximum time of the command that prints the key: a vault needs seconds, a question must not hold up a night. */
const COMMAND_TIMEOUT_MS = 60_000;
const LARGEST_OUTPUT_BYTES = 65_536;
/** Maximum number of characters of the command's stderr that the user sees. */
const LONGEST_REMARK = 500;

/**
 * Returns the API key: from a variable, a file or a command; undefined if none is set. `warn` receives the command's
 * stderr. Throws UsageError if several are set, or the file or the command gives no key.
 */
export function readKey(env: Environment, warn: (sentence: string) => void = () => {}): string | undefined {
  const variable = keyVariable(env);
  if (variable === undefined) return undefined;
  const given = env[variable] ?? '';
  const refuse = (what: string): never => {
    throw keyError(variable, given, what);
  };
  const text =
    variable === KEY
      ? given
      : variable === KEY_FILE
        ? readBeginning(given, refuse)
        : runCommand(given, env, refuse, warn);
  const fault =
    text.length > LARGEST_OUTPUT_BYTES ? 'is too large to be a key' : faultOf(text.trim(), variable);
  return fault === undefined ? text.trim() : refuse(fault);
}

/** The variable that gives the key. */
export function keyVariable(env: Environment): KeyVariable | undefined {
  const set = keyVariables.filter(name => env[name] !== undefined);
  if (set.length > 1) throw new UsageError('two_keys', `${set.join(' and ')} are both set: unset one.`);
  return set[0];
}

/** Tells why a text is not a key alone; undefined if it may be one. The service would refuse such a text. */
function faultOf(text: string, variable: KeyVariable): string | undefined {
  if (text === '') return variable === KEY_FILE ? 'is empty' : 'printed nothing';
  if (/[\0\uFFFD]/.test(text)) return 'is not UTF-8 text, perhaps UTF-16: save it as UTF-8';
  if (/[\r\n]/.test(text)) return 'has more than one line';
  if (/^(["'`]).*\1$/.test(text)) return 'has quotes around the key: remove them';
  // A key in Base64 may end in `=`, but has none inside.
  if (/^(?:export\s+)?[A-Za-z_]\w*\s*=\s*[^=\s]/.test(text))
    return 'has a name before the key (NAME=KEY): remove the name and the =';
  return undefined;
}

/** The beginning of the key's file: a byte more than a key may have. */
function readBeginning(path: string, refuse: (what: string) => never): string {
  try {
    return readFirstBytes(path, LARGEST_OUTPUT_BYTES + 1).toString();
  } catch (error) {
    return refuse(`can't be read: ${systemReason(error)}`);
  }
}

function runCommand(
  command: string,
  env: Environment,
  refuse: (what: string) => never,
  warn: (sentence: string) => void,
): string {
  const {stdout, stderr, error, status, signal} = spawnSync(command, {
    env: {...env},
    encoding: 'utf8',
    timeout: COMMAND_TIMEOUT_MS,
    maxBuffer: LARGEST_OUTPUT_BYTES,
    windowsHide: true,
    shell: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed = stdout?.trim() ?? '';
  const remark = toOneLine(withoutLines(stderr ?? '', printed));
  // A command that succeeds without an output may have printed the key to stderr.
  if (remark !== '' && (printed !== '' || status !== 0))
    warn(`The command in ${KEY_COMMAND} says: ${remark.slice(0, LONGEST_REMARK)}`);
  if (error === undefined && status === 0) return printed;
  const cause = (error as NodeJS.ErrnoException | undefined)?.code ?? signal;
  return refuse(
    cause === null ? `failed (exit code ${status})` : `failed (${cause}), or took longer than a minute`,
  );
}

/** A text without what the command printed, as a whole or by its lines. */
function withoutLines(text: string, printed: string): string {
  const lines = [printed, ...printed.split('\n').map(line => line.trim())].filter(line => line.length > 3);
  return lines.reduce((rest, line) => rest.replaceAll(line, '******'), text);
}

/** True for a text that is a path for sure. Another may be the key, given in the wrong variable. */
function isPath(text: string): boolean {
  const directory = dirname(text);
  return (
    text.length < 16 || isAbsolute(text) || (directory !== '.' && existsSync(directory)) || existsSync(text)
  );
}

/** The error for a text that is no key. Its message has neither the command nor its output, which is the key. */
function keyError(variable: KeyVariable, given: string, what: string): UsageError {
  if (variable === KEY) return new UsageError('key_variable', `The text in ${variable} ${what}.`);
  if (variable === KEY_FILE)
    return new UsageError(
      'key_file',
      isPath(given)
        ? `The key file ${given} (${variable}) ${what}.`
        : `The key file in ${variable} ${what}. If it is the key itself, set ${KEY} instead.`,
    );
  return new UsageError(
    'key_command',
    `The command in ${variable} ${what}; it must print the API key and nothing else.`,
  );
}
