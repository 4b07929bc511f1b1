import {z} from 'zod';
import {defaultRejectedAge, type Operation, operationNames} from '../operations/table.ts';

/**
 * Adds a conversion to a schema. `read` returns an error for a value out of bounds, undefined if it is not `expected`.
 */
export function withConversion<Schema extends z.ZodType, Value>(
  schema: Schema,
  expected: string,
  read: (given: z.output<Schema>) => Value | Error | undefined,
) {
  return schema.transform((given, context): Value => {
    const value = read(given);
    if (value !== undefined && !(value instanceof Error)) return value;
    context.addIssue(value instanceof Error ? value.message : expected);
    return z.NEVER;
  });
}

/** A value that is text in a flag, and perhaps a number in a job file. */
export const textOrNumber = (error: string) => z.union([z.string(), z.number()], {error});

const textBy = <Value>(expected: string, read: (text: string) => Value | Error | undefined) =>
  withConversion(z.string(expected), expected, text => read(text.trim()));

const SECOND = 1_000;
const durationUnits = {ms: 1, s: SECOND, m: 60 * SECOND, h: 3_600 * SECOND, d: 86_400 * SECOND} as const;

type Duration = `${number}${keyof typeof durationUnits}`;

/** A length of time from `least` to `most`: `90s`, `15m`, `7d`. The result is in milliseconds. */
export const durationBetween = (least: Duration, most: Duration) =>
  textBy('expected a duration such as 500ms, 30s, 15m, 2h or 7d', text => {
    const ms = parseDuration(text);
    if (ms === undefined) return undefined;
    const isWithin = ms >= (parseDuration(least) ?? 0) && ms <= (parseDuration(most) ?? 0);
    return isWithin ? ms : new Error(`expected a duration from ${least} to ${most}`);
  });

/** Milliseconds of a length of time such as `1d`; undefined if the text is not one. */
export function parseDuration(text: string): number | undefined {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  return unit === undefined ? undefined : Number(number) * durationUnits[unit as keyof typeof durationUnits];
}

/** At most `count` calls in `perMs` milliseconds. */
export interface Rate {
  readonly count: number;
  readonly perMs: number;
}

/** One call a day to a million in the unit (s, m or h): the pacer keeps the times of as many calls, 8 MB. */
const SLOWEST_MS = 86_400 * SECOND;
const MOST_IN_A_UNIT = 1_000_000;

function parseRate(text: string): Rate | Error | undefined {
  const [, number, unit] = /^(\d+(?:\.\d+)?)\/(s|m|h)$/.exec(text) ?? [];
  const given = Number(number);
  if (unit === undefined || given <= 0) return undefined;
  const perMs = durationUnits[unit as 's' | 'm' | 'h'];
  if (perMs / given > SLOWEST_MS || given > MOST_IN_A_UNIT)
    return new Error(`expected a rate from one call a day to ${MOST_IN_A_UNIT} in the unit`);
  // `count` must be whole: 1.9 calls a second are 2 calls in 1,053 ms.
  const count = Math.ceil(given);
  return {count, perMs: (perMs * count) / given};
}

/** A single rate, not one for each operation. */
export const rateSetting = textBy('expected a rate such as 20/s, 300/m or 1000/h', parseRate);

/** `ip=50/s,email=10/s` → [['ip', '50/s'], ['email', '10/s']]. A text without `=` belongs to `defaultName`. */
export function parsePairs(text: string, defaultName: string): [string, string][] {
  if (!text.includes('=')) return [[defaultName, text]];
  return text.split(',').map(part => {
    const at = part.indexOf('=');
    return [part.slice(0, at).trim(), part.slice(at + 1).trim()];
  });
}

/** Values given for operations by name; `all`: the value for operations that are not named. */
export type PerOperation<T, Other extends string = never> = Partial<Record<Operation | 'all' | Other, T>>;

/** The value given for an operation, by its name or for all. */
export function valueForOperation<T>(given: PerOperation<T>, name: Operation, otherwise: T): T {
  return given[name] ?? given.all ?? otherwise;
}

/** One value for all operations (`7d`, as `all`), or one each: `ip=1d,email=30d`, or a map in a job file. */
function perOperation<T, Other extends string = never>(
  read: (text: string) => T | Error | undefined,
  expected: string,
  others: readonly Other[] = [],
) {
  const names = [...operationNames, ...others];
  const error = `expected ${expected}, for all operations or as ${names.map(name => `${name}=…`).join()}`;
  const each = z.string({error});
  const given = z.union([each, z.partialRecord(z.enum(names), each)], {error});
  return withConversion(given, error, (given): PerOperation<T, Other> | Error | undefined => {
    const pairs = typeof given === 'object' ? Object.entries(given) : parsePairs(given, 'all');
    const values: Record<string, T> = {};
    for (const [name, text] of pairs) {
      const isKnown = name === 'all' || names.some(known => known === name);
      const value = isKnown ? read(String(text).trim()) : undefined;
      if (value === undefined || value instanceof Error) return value as Error | undefined;
      values[name] = value;
    }
    return values as PerOperation<T, Other>;
  });
}

export const ratesSetting = perOperation<Rate | 'unlimited'>(
  text => (text === 'unlimited' ? text : parseRate(text)),
  'a rate such as 20/s, 300/m, 1000/h or unlimited',
);

const OLDEST = '36500d';

/** Maximum ages of answers by operation. `rejected` is the maximum age of rejections. */
export const agesSetting = perOperation<number, 'rejected'>(
  text => {
    const ms = parseDuration(text);
    const isTooOld = ms !== undefined && ms > (parseDuration(OLDEST) ?? 0);
    return isTooOld ? new Error(`expected an age up to ${OLDEST}`) : ms;
  },
  'a duration such as 1d or 12h',
  ['rejected'],
);

/** Milliseconds for which a rejection is valid: `rejected`, else the default, or a shorter age of all answers. */
export function rejectionAgeMs({all = REJECTED_MS, rejected = Math.min(all, REJECTED_MS)}: Ages): number {
  return rejected;
}

export type Ages = z.output<typeof agesSetting>;

const REJECTED_MS = parseDuration(defaultRejectedAge) as number;

const COUNT_OR_SHARE = 'expected a number such as 100, or a share such as 1%, at most 100%';

/** A count or a share: `100`, `1%`. */
export const countOrShare = withConversion(textOrNumber(COUNT_OR_SHARE), COUNT_OR_SHARE, given => {
  const text = String(given).trim();
  if (/^\d+(\.\d+)?$/.test(text)) return {count: Number(text)};
  const share = text.endsWith('%') ? parseShare(text) : undefined;
  return share === undefined ? undefined : {share};
});

const SHARE = 'expected a share such as 10% or 0.1';

/** A share, `10%` or `0.1`. The result is a number from 0 to 1. */
export const shareSetting = withConversion(textOrNumber(SHARE), SHARE, given => parseShare(String(given)));

/** The share, from 0 to 1, that a text such as `10%` or `0.1` gives; undefined for any other text. */
export function parseShare(text: string): number | undefined {
  const [, number, percent] = /^(\d+(?:\.\d+)?)(%?)$/.exec(text.trim()) ?? [];
  const value = Number(number) / (percent === '%' ? 100 : 1);
  return value <= 1 ? value : undefined;
}

/** A whole number, also when written as text. */
export const wholeNumber = (minimum: number, maximum = Number.MAX_SAFE_INTEGER) => {
  const error = `expected a whole number, ${minimum} or more`;
  return withConversion(textOrNumber(error), error, given => {
    const value = Number(given);
    if (!/^\d+(e\+?\d+)?$/i.test(String(given).trim()) || value < minimum) return undefined;
    return value <= maximum ? value : new Error(`expected a whole number, ${maximum} or less`);
  });
};

/** One text or several. With the `separator` `,` the text `a,b` is two. */
export const textList = (separator?: string) =>
  z
    .union([z.string(), z.array(z.string())], {error: 'expected a text or a list of texts'})
    .transform(given => {
      const texts = [given].flat();
      return separator === undefined
        ? texts
        : texts.flatMap(text => text.split(separator).map(part => part.trim()));
    });

/** A column to look up, the prefix of its output columns (if not the default), and the condition of its lookups. */
export interface ColumnChoice {
  readonly column: string;
  readonly prefix?: string | undefined;
  readonly when?: string | undefined;
}

const COLUMN = 'expected a column such as signup_ip or {column: signup_ip, prefix: ip_}, or a list of them';
const columnText = z.string().transform((text): ColumnChoice => {
  const at = text.lastIndexOf('=');
  return at > 0 ? {column: text.slice(0, at), prefix: text.slice(at + 1)} : {column: text};
});

/** The schema of an object that may have only the keys of `shape`. Its error names these keys. */
export function strictShape<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: ({code}) =>
      code === 'unrecognized_keys' ? `this key does not exist (known: ${known})` : undefined,
  });
}

const columnObject = strictShape({
  column: z.string(),
  prefix: z.string().optional(),
  when: z.string().optional(),
});

/** `COL`, `COL=PREFIX`, `{column, prefix, when}`, or several of them. */
export const columnChoices = z
  .union(
    [columnText, columnObject, z.array(z.union([columnText, columnObject], {error: COLUMN})).min(1, COLUMN)],
    {
      error: COLUMN,
    },
  )
  .transform((given): ColumnChoice[] => [given].flat());

/** Commands and library calls that take a setting. Job files take all settings. */
export type SettingUse =
  /** `run` and `plan`, as a flag. */
  | 'run'
  /** The library's `enrich`: a program gives the rows, and gets them back. (`runJob` takes the settings of a job file.) */
  | 'library'
  /** Commands that open the input: a run, a plan, `init`. */
  | 'reading'
  /** As a flag of one command: each of these four words is a command's name. */
  | 'lookup'
  | 'verify'
  | 'worker'
  | 'doctor';

/** The description of a setting. Its type and its default are in its schema. */
export interface SettingMeta {
  readonly description: string;
  /** Default: `run` and `library`. */
  readonly uses?: readonly SettingUse[];
  /** False if a complete run is complete with any value of it, and for addresses that may hold secrets. */
  readonly changesResult?: false;
  /** Name of the flag's value in `--help`. Undefined for a switch. */
  readonly value?: string;
  /** It only changes what the command shows, so the library's types lack it. */
  readonly ofTerminal?: true;
  /** The flag may be given several times. */
  readonly repeatable?: true;
  /** The flag is written `--no-…` and turns the setting off. */
  readonly negated?: true;
  /** Another name for a part of a setting, which help and docs leave out. */
  readonly isUnlisted?: true;
  /** The default in words, if it is not a plain value. */
  readonly defaultText?: string;
}

export interface DeclaredSetting extends SettingMeta {
  readonly uses: readonly SettingUse[];
  readonly schema: z.ZodType;
  readonly group: string;
}

const USUAL = ['run', 'library'] as const;

type UsesOf<M extends SettingMeta> = M['uses'] extends readonly SettingUse[] ? M['uses'] : typeof USUAL;

/** Declares the settings of one group. Help and docs have a heading for each group. */
export function declareGroup(group: string) {
  return <T extends z.ZodType, const M extends SettingMeta>(schema: T, meta: M) => ({
    ...meta,
    uses: (meta.uses ?? USUAL) as UsesOf<M>,
    group,
    schema: schema.meta({description: meta.description, defaultText: meta.defaultText}),
  });
}
