import {hash} from 'node:crypto';
import {z} from 'zod';
import {readFileText} from '../disk/path.ts';
import {UsageError} from '../errors.ts';
import {
  checkOptions,
  isFunction,
  isText,
  milliseconds,
  numberWithin,
  type OptionChecks,
} from '../job/check-options.ts';
import {parseYaml} from '../job/yaml.ts';
import {
  type AnswerData,
  type Intelligence,
  type Operation,
  operations,
  perIntelligence,
} from '../operations/table.ts';
import type {PracticeOptions} from './http/practice.ts';

/** Options of the embedded service. */
export interface ServiceOptions extends PracticeOptions {
  /** The port to listen on. 0, the default, takes any free port. */
  port?: number | undefined;
  /** The address to listen on; by default only this machine. */
  host?: string | undefined;
  /** The accepted key; generated if left out. */
  apiKey?: string | undefined;
  /** Credits at the start; unlimited if left out. */
  credits?: number | undefined;
  /** Credits per call; 1 each if left out. */
  costs?: Partial<Record<Operation, number>> | undefined;
  /** Answer fields, by operation and value. They are added to the fields from open data, or replace them. */
  answers?: GivenAnswers | undefined;
  /** NDJSON file of the sessions that `/verify` knows. */
  sessionsFile?: string | undefined;
  /** YAML or JSON file of rules for verdicts, instead of the built-in ones. */
  rulesFile?: string | undefined;
  /** Maximum connections at a time, 4,096 if left out. Further connections are closed immediately. */
  maxConnections?: number | undefined;
  /**
   * True, the default, to serve the pages: `/openapi.json`, `/_ledger`, `/_sources`, `/_schemas`. They need no key.
   */
  pages?: boolean | undefined;
  /** Milliseconds within which a whole request must arrive; 30,000 by default. */
  requestTimeoutMs?: number | undefined;
  /** Receives the service's events. They never hold a key or a value of a call. */
  log?: ((event: string, fields: Record<string, unknown>) => void) | undefined;
}

const credits = numberWithin(0, Number.MAX_SAFE_INTEGER);
const isCost = ([name, cost]: [string, unknown]) => Object.hasOwn(operations, name) && credits[1](cost);

const optionChecks: OptionChecks<ServiceOptions> = {
  port: [
    'a whole number from 0 to 65535',
    port => Number.isInteger(port) && numberWithin(0, 65_535)[1](port),
  ],
  host: ['a host name or an address', isText],
  apiKey: ['a text that is not empty', key => isText(key) && key !== ''],
  credits,
  costs: [
    'an object with credits, such as {ip: 2}',
    costs => typeof costs === 'object' && Object.entries(Object(costs)).every(isCost),
  ],
  // Checked with their values.
  answers: ['an object', () => true],
  sessionsFile: ['a path', isText],
  rulesFile: ['a path', isText],
  latencyMs: milliseconds(0, 600_000),
  rateLimit: numberWithin(0.001, 1_000_000),
  errorRate: numberWithin(0, 1),
  seed: ['a number', Number.isFinite],
  requestTimeoutMs: milliseconds(1, 3_600_000),
  maxConnections: numberWithin(1, 1_000_000),
  pages: ['true or false', pages => typeof pages === 'boolean'],
  log: ['a function', isFunction],
};

/** @throws ServiceSetupError for an unknown option, or an invalid one */
export function checkServiceOptions(options: ServiceOptions): void {
  checkOptions(options, optionChecks, message => new ServiceSetupError(message));
}

/** The message names the wrong file, line or setting. A second start without a change fails the same way. */
export class ServiceSetupError extends UsageError {
  constructor(message: string) {
    super('service_setup', message);
  }
}

/** The content of a YAML or JSON file. @throws ServiceSetupError if the file can't be read */
export function readServiceYaml(kind: 'answers' | 'rules', path: string): unknown {
  try {
    return parseYaml(readFileText(path, true));
  } catch (error) {
    throw new ServiceSetupError(`The ${kind} file ${path} can't be read: ${(error as Error).message}`);
  }
}

/**
 * @throws ServiceSetupError with the first fault: its `place`, and its field (`whole` if the value itself is wrong)
 */
export function checkWithSchema<T>(schema: z.ZodType<T>, value: unknown, place: string, whole: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new ServiceSetupError(`${place}: ${issue?.path.join('.') || whole}: ${issue?.message}`);
}

/** By operation and value. All other fields of an answer come from open data. */
export type GivenAnswers = {
  readonly [Name in Intelligence]?: Readonly<Record<string, AnswerData<Name>>>;
};

const answersSchema = z.strictObject(
  perIntelligence(name => z.record(z.string(), operations[name].data).optional()),
);

/** @throws {ServiceSetupError} if the file can't be read. Its content is checked when the service starts. */
export function readGivenAnswers(path: string): GivenAnswers {
  return readServiceYaml('answers', path) as GivenAnswers;
}

/**
 * Returns a function that finds the fields that the user set for a value, in any spelling.
 * @throws {ServiceSetupError} for an unknown operation, an invalid value, or a field of a wrong type
 */
export function createGivenAnswers(
  given: GivenAnswers,
): (name: Intelligence, value: string) => object | undefined {
  checkWithSchema(answersSchema, given, 'answers', 'the whole');
  const byValue = perIntelligence(
    name => new Map(Object.entries(given[name] ?? {}).map(([text, data]) => [canonicalOf(name, text), data])),
  );
  return (name, value) => {
    const canonical = operations[name].canonical(value);
    return byValue[name].get(canonical.state === 'value' ? canonical.value : value);
  };
}

function canonicalOf(name: Intelligence, text: string): string {
  const canonical = operations[name].canonical(text);
  if (canonical.state === 'value') return canonical.value;
  throw new ServiceSetupError(
    `answers: "${text}" is not a valid ${operations[name].singular}${name === 'phone' ? ', such as +442079460018' : ''}`,
  );
}

/** Each set of given answers has its own path, as clients store answers by URL. */
export function answersUrlPath(given: GivenAnswers | undefined): string {
  return given === undefined ? '' : `/answers-${hash('sha256', JSON.stringify(given)).slice(0, 12)}`;
}
