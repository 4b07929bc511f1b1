import {z} from 'zod';
import type {Canonical} from './canonical.ts';
import type {CellRules} from './cell.ts';

/**
 * The service's interface, version 1.0.0: one file an operation, and what they have in common. From the table of them
 * come flags and settings, detection, plan, calls, columns, expressions, summary, reports, the library's types, the
 * docs' tables, and the embedded service with its OpenAPI description.
 *
 * The interface does not say which response fields are always present, so every one of them is optional here.
 */
export interface OperationSpec<
  Name extends string = string,
  Request extends z.ZodObject = z.ZodObject,
  Data extends z.ZodObject = z.ZodObject,
> {
  readonly name: Name;
  /** POST with JSON bodies, relative to the base URL. */
  readonly path: `/${string}`;
  /** Purpose, in the interface's words. */
  readonly summary: string;
  readonly request: Request;
  /** The answer's fields, each with its type and one sentence. */
  readonly data: Data;
  readonly response: z.ZodObject;
  /** Names for people: of one value, of several, and of the result in reports. */
  readonly singular: string;
  readonly plural: string;
  readonly title: string;
  /** The word beside a column that is looked up: `signup_ip (IP)`. */
  readonly label: string;
  /** The setting that names its columns, and its sentence. */
  readonly setting: string;
  readonly about: string;
  /** Prefix of its output columns. */
  readonly prefix: `${string}_`;
  /** Default age up to which an answer is used again; `never`: it is not kept for other runs. */
  readonly storedFor: `${number}${'h' | 'd'}` | 'never';
  /** Credits of one call unless told otherwise: the interface does not show them. */
  readonly cost: number;
  /** Why a text can't be such a value: each code with one sentence. */
  readonly codes: Readonly<Record<string, string>>;
  /** The faults that tell something about the person. The others are faults of the list. */
  readonly personFaults: readonly string[];
  /** One spelling per value. `country` is where numbers in national form belong. */
  canonical(text: string, country?: string, rules?: CellRules): Canonical;
  /** The request's field with the one value that it is about; what is sent beside it only says more of that. */
  readonly field: string;
  /** The answer in a response; undefined or not an object if it is missing. */
  dataOf(response: AnswerFields): unknown;
  /** True if `invalid_token` may mean the value that was sent, which is that row's own fault, and not the key. */
  readonly isTokenItself: boolean;
  /** All of a request that may change its answer, as one text. */
  keyText(params: Readonly<Record<string, string>>): string;
  /** True if this call is free, whatever the operation's price. */
  isFree(params: Readonly<Record<string, string>>): boolean;
  /** Makes the answer to the same call once more from its first answer; undefined if no call changes anything. */
  readonly again:
    | ((first: AnswerFields, params: Readonly<Record<string, string>>) => AnswerFields)
    | undefined;
  /** True if an answer shows that the same call was made before. */
  isReplay(answer: AnswerFields): boolean;
  /** Kinds of counts over answers, with each field's path in the answer. */
  readonly top: readonly (readonly [TopKind, readonly string[]])[];
  /** Its rules of the risk score where a job brings none; `docs/scoring.md` gives the reason for each weight. */
  readonly rules: readonly {readonly when: string; readonly add: number; readonly reason: string}[];
}

/** An answer's fields by their names, as they came. */
export type AnswerFields = Readonly<Record<string, unknown>>;

/** An operation that looks one value up: it can be detected in a list, and asked by hand. */
export interface IntelligenceSpec<Name extends string = string, Data extends z.ZodObject = z.ZodObject>
  extends OperationSpec<Name, z.ZodObject<{api_key: typeof apiKey} & Record<Name, z.ZodType<string>>>, Data> {
  /** Habits of a column that single cells can't show, read from its first cells and their countries. */
  readonly habits?: (cells: readonly (readonly [text: string, country: string | undefined])[]) => CellRules;
  /**
   * True if its columns are found without being named. False for an operation that is newer than jobs which name no column:
   * after an upgrade they would pay for it unasked.
   */
  readonly isDetected: boolean;
  /** True if a value shows its kind by itself, without a header. Left out if every value does. */
  readonly isTelling?: (text: string) => boolean;
  /**
   * True if a value that does not show its kind is likely of it, in its row's country. Left out together with
   * `isTelling`.
   */
  readonly isLikely?: (text: string, country: string | undefined) => boolean;
  /** True if the values of a column without such a header may well be something else that is written alike. */
  readonly mayBeOthers?: (texts: readonly string[]) => boolean;
  /** True if these values were made unrecognizable, such as IP addresses that all end in .0. */
  readonly areMasked?: (values: readonly string[]) => boolean;
  /** The other things that `mayBeOthers` finds, in words. */
  readonly others?: string;
}

/** Kinds of counts over answers. None of them identifies a person. */
export const topKinds = ['countries', 'networks', 'domains', 'phone_countries'] as const;
export type TopKind = (typeof topKinds)[number];

export const text = z.string();
export const flag = z.boolean();

/** Fields of an address's location. */
export const geography = {
  city: text.describe('City of the address.'),
  postal_code: text.describe('Postal code of the address.'),
  country: text.describe('Country of the address.'),
  continent: text.describe('Continent of the address.'),
  latitude: z.number().describe('Latitude of the address.'),
  longitude: z.number().describe('Longitude of the address.'),
};

/** The fields of an answer, or of a part of it; a service may send others too. */
export const fields = <Shape extends z.ZodRawShape>(shape: Shape) => z.looseObject(shape).partial();

export const apiKey = z.string().min(1).describe("The client's API key.");

type Own =
  | ('name' | 'path' | 'request' | 'response' | 'setting' | 'field' | 'dataOf' | 'isTokenItself')
  | ('keyText' | 'isFree' | 'again' | 'isReplay');

/** An intelligence operation from what is particular to it. */
export function intelligence<const Name extends string, Data extends z.ZodObject>(
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
    isTokenItself: false,
    keyText: params => params[name] ?? '',
    isFree: () => false,
    again: undefined,
    isReplay: () => false,
  };
}

/** The only error payload that the interface gives. */
export const errorBody = z.object({
  success: z.literal(false),
  message: z.string().describe('A short error code; `invalid_token` is the only one the interface names.'),
});

/**
 * The statuses by which a service asks to slow down. A 503 alone says that it is broken: it needs the time to come
 * back.
 */
export const throttlingStatuses: Readonly<Record<number, 'always' | 'with Retry-After'>> = {
  429: 'always',
  503: 'with Retry-After',
};

/** The same in words, as docs and settings have them: `429, or 503 with Retry-After`. */
export const throttledBy = Object.entries(throttlingStatuses)
  .map(([status, when]) => (when === 'always' ? status : `${status} ${when}`))
  .join(', or ');

/** The one error code that the interface names: an invalid credential. */
export const INVALID_TOKEN = 'invalid_token';
