import {z} from 'zod';
import type {CanonicalCell, CellRules} from './cell.ts';

/**
 * One operation of the service's interface, version 1.0.0, in a file of its own. All else is derived from their
 * table: flags and settings, detection, calls, columns, expressions, reports, types, docs, and the embedded service.
 * The interface does not say which response fields are always present, so all are optional here.
 */
export interface OperationSpec<
  Name extends string = string,
  Request extends z.ZodObject = z.ZodObject,
  Data extends z.ZodObject = z.ZodObject,
> {
  readonly name: Name;
  /** Path relative to the base URL. Calls are POST with JSON bodies. */
  readonly path: `/${string}`;
  /** Purpose, in the interface's words. */
  readonly summary: string;
  readonly request: Request;
  /** The answer's fields, each with its type and one sentence. */
  readonly data: Data;
  readonly response: z.ZodObject;
  /** Names in messages and reports: `session token`, `session tokens`, and `Bot verdicts` for the results. */
  readonly singular: string;
  readonly plural: string;
  readonly title: string;
  /** The word that messages put beside a column that is looked up: `IP` in `signup_ip (IP)`. */
  readonly label: string;
  /** Name of the setting by which a user names the operation's columns, and the sentence that describes it. */
  readonly setting: string;
  readonly about: string;
  readonly prefix: `${string}_`;
  /** Default age up to which an answer is used again. */
  readonly storedFor: `${number}${'h' | 'd'}`;
  /** Default number of credits that one call costs. Set here, since the service's answers don't contain it. */
  readonly cost: number;
  /** Faults of texts that are not valid values: each code with one sentence. */
  readonly codes: Readonly<Record<string, CodeText>>;
  /** Codes of faults that say something about the person. All other faults say something about the list only. */
  readonly personFaults: readonly string[];
  /** Reads a cell's text: equal values get the same spelling. `country`: for phone numbers in national form. */
  canonical(text: string, country?: string, rules?: CellRules): CanonicalCell;
  /** Name of the request's field that holds the value. Other fields only add to that value. */
  readonly field: string;
  /** The answer in a response; undefined or not an object if the response has no answer. */
  dataOf(response: AnswerObject): unknown;
  /** Everything in a request that may change its answer, as one text. */
  keyText(params: Readonly<Record<string, string>>): string;
  /** True if a call with these parameters is free despite the operation's price. */
  isFree(params: Readonly<Record<string, string>>): boolean;
  /**
   * True if a call redeems the value, a token, which changes the next answer: each row has a call of its own, and answers are
   * kept for one output only.
   */
  readonly isRedeeming: boolean;
  /** True if an answer shows that the same call was made before. */
  isReplay(answer: AnswerObject): boolean;
  /** The fields without one of which an answer says nothing; any known field if left out. */
  readonly core?: readonly string[];
  /** The answer's fields that repeat the request. Of each repeated part, the first one that came counts. */
  readonly echoes: readonly Echo[];
  /** Kinds of values that the summary counts in answers, each with the path of the answer's field. */
  readonly top: readonly (readonly [TopKind, readonly string[]])[];
  /** The operation's default rules of the risk score; `docs/scoring.md` gives the reason for each weight. */
  readonly rules: readonly {readonly when: string; readonly add: number; readonly reason: string}[];
}

/** The text of a code in src/codes.json. `advice` says what to do; without it, fixing the list is enough. */
export interface CodeText {
  readonly meaning: string;
  readonly advice?: string;
  /** Advice by setting. It replaces the usual advice if the user uses that setting already; the first one in use counts. */
  readonly ifSet?: Readonly<Record<string, string>>;
}

/** A field of an answer that repeats a field of the request, and what it repeats. */
export interface Echo {
  readonly path: readonly string[];
  readonly param: string;
  readonly as: 'digits' | 'address' | 'domain' | 'text';
}

export type AnswerObject = Readonly<Record<string, unknown>>;

/** An operation that looks one value up: it can be detected in a list, and called for a single value. */
export interface IntelligenceSpec<Name extends string = string, Data extends z.ZodObject = z.ZodObject>
  extends OperationSpec<Name, z.ZodObject<{api_key: typeof apiKey} & Record<Name, z.ZodType<string>>>, Data> {
  /** Finds rules that single cells don't show, such as lost plus signs. Reads the first cells and countries. */
  readonly habits?: (
    cells: readonly (readonly [text: string, country: string | undefined])[],
    isInHeader?: boolean,
  ) => CellRules;
  /**
   * True if a run finds the operation's columns by itself. False for operations of a later version: a job that names
   * no columns would pay for them after an upgrade.
   */
  readonly isDetected: boolean;
  /** True if a value shows its kind without a header, as `+49…` does. Left out if all values of the kind do. */
  readonly isTelling?: (text: string) => boolean;
  /** True if a value that does not show its kind is probably of this kind, in its row's country. */
  readonly isLikely?: (text: string, country: string | undefined) => boolean;
  /** True if a column with these different texts, whose header does not name the kind, may have other data. */
  readonly mayBeOthers?: (texts: readonly string[]) => boolean;
  /** True if these values were made unrecognizable, such as IP addresses that all end in .0. */
  readonly areMasked?: (values: readonly string[]) => boolean;
  readonly others?: string;
}

/** For each of these, the summary has the most frequent names in answers. None of them identifies a person. */
export const topKinds = ['countries', 'networks', 'domains', 'phone_countries'] as const;
export type TopKind = (typeof topKinds)[number];

/** An object with a value for each of these names. */
export const recordOf = <Name extends string, T>(names: readonly Name[], make: (name: Name) => T) =>
  Object.fromEntries(names.map(name => [name, make(name)])) as Record<Name, T>;

export const text = z.string();
export const flag = z.boolean();

export const locationFields = {
  city: text.describe('City of the address.'),
  postal_code: text.describe('Postal code of the address.'),
  country: text.describe('Country of the address.'),
  continent: text.describe('Continent of the address.'),
  latitude: z.number().describe('Latitude of the address.'),
  longitude: z.number().describe('Longitude of the address.'),
};

/** The schema of an answer, or of an object in it. A service may send further fields. */
export const answerSchema = <Shape extends z.ZodRawShape>(shape: Shape) => z.looseObject(shape).partial();

export const apiKey = z.string().min(1).describe("The client's API key.");

type Own =
  | ('name' | 'path' | 'request' | 'response' | 'setting' | 'field' | 'dataOf')
  | ('keyText' | 'isFree' | 'isRedeeming' | 'isReplay');

/** Makes an intelligence operation from the parts in which it differs from the others. */
export function defineIntelligence<const Name extends string, Data extends z.ZodObject>(
  name: Name,
  {value, ...entry}: Omit<IntelligenceSpec<Name, Data>, Own> & {readonly value: z.ZodType<string>},
): IntelligenceSpec<Name, Data> {
  const asked = {[name]: value} as Record<Name, typeof value>;
  return {
    ...entry,
    name,
    path: `/intelligence/${name}`,
    request: z.object({api_key: apiKey, ...asked}),
    response: z.object({success: z.literal(true), data: entry.data}),
    setting: name,
    field: name,
    dataOf: ({data}) => data,
    keyText: params => params[name] ?? '',
    isFree: () => false,
    isRedeeming: false,
    isReplay: () => false,
  };
}

/** The only error body that the interface defines. */
export const errorBodySchema = z.object({
  success: z.literal(false),
  message: z.string().describe('A short error code; `invalid_token` is the only one the interface names.'),
});

/** Statuses by which a service asks to slow down. A 503 alone means that the service is broken. */
export const throttlingStatuses: Readonly<Record<number, 'always' | 'with Retry-After'>> = {
  429: 'always',
  503: 'with Retry-After',
};

/** The interface's only error code: an invalid credential. */
export const INVALID_TOKEN_CODE = 'invalid_token';
