import {didYouMean} from '../job/did-you-mean.ts';
import type {Operation} from '../operations/table.ts';
import type {PracticeOptions} from './http/practice.ts';
import type {GivenAnswers} from './intelligence/given-answers.ts';
import {ServiceSetupError} from './setup-error.ts';

/** Options of the embedded service. */
export interface ServiceOptions extends PracticeOptions {
  /** The port to listen on. 0, the default, takes any free port. */
  port?: number;
  /** The address to listen on; by default only this machine. */
  host?: string;
  /** The accepted key; generated if left out. */
  apiKey?: string;
  /** Credits at the start; unlimited if left out. */
  credits?: number;
  /** Credits per call; 1 each if left out. */
  costs?: Partial<Record<Operation, number>>;
  /** Answer fields, by operation and value. They are added to the fields from open data, or replace them. */
  answers?: GivenAnswers;
  /** NDJSON file of the sessions that `/verify` knows. */
  sessionsFile?: string;
  /** YAML or JSON file of rules for verdicts, instead of the built-in ones. */
  rulesFile?: string;
  /** Maximum connections at a time, 4,096 if left out. Further connections are closed immediately. */
  maxConnections?: number;
  /**
   * True to serve the pages that need no key: `/openapi.json`, `/_ledger`, `/_sources`, `/_schemas`.
   * True by default.
   */
  pages?: boolean;
  /** Milliseconds within which a whole request must arrive; 30,000 by default. */
  requestTimeoutMs?: number;
  /** Receives the service's events. They never hold a key or a value of a call. */
  log?: (event: string, fields: Record<string, unknown>) => void;
}

/** All options. Those that are numbers have a minimum and a maximum. */
const bounds: Readonly<Record<keyof ServiceOptions, readonly [least: number, most: number] | undefined>> = {
  port: [0, 65_535],
  host: undefined,
  apiKey: undefined,
  credits: [0, Number.MAX_SAFE_INTEGER],
  costs: undefined,
  answers: undefined,
  sessionsFile: undefined,
  rulesFile: undefined,
  latencyMs: [0, 600_000],
  rateLimit: [0.001, 1_000_000],
  errorRate: [0, 1],
  seed: undefined,
  requestTimeoutMs: [1, 3_600_000],
  maxConnections: [1, 1_000_000],
  pages: undefined,
  log: undefined,
};

/** @throws ServiceSetupError for an unknown option, a number out of bounds, or an empty key */
export function checkOptions(options: ServiceOptions): void {
  const known = new Map(Object.entries(bounds));
  for (const [name, value] of Object.entries(options)) {
    if (!known.has(name))
      throw new ServiceSetupError(
        `the service has no option "${name}".${didYouMean(name, [...known.keys()])}`,
      );
    const [least, most] = known.get(name) ?? [];
    const isFine =
      value === undefined || least === undefined || (Number(value) >= least && Number(value) <= Number(most));
    if (isFine) continue;
    throw new ServiceSetupError(`the service's ${name} is ${value}; expected ${least} to ${most}`);
  }
  if (options.apiKey === '') throw new ServiceSetupError("the service's API key is empty");
}
