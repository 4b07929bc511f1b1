import {z} from 'zod';
import type {OperationSpec} from './operation.ts';
import {type Operation, operations, perOperation} from './table.ts';

/** The type of an answer's field: of a single value, of an object with fields of its own, or of a list's items. */
export type FieldType = ValueType | Fields | {readonly items: FieldType};
export type Fields = ReadonlyMap<string, FieldType>;

export interface ValueType {
  /** The `typeof` of values that fit unchanged (numbers: if finite). Undefined if the field requires more. */
  readonly plain: 'string' | 'boolean' | 'number' | undefined;
  /** The value in the field's type; undefined if the conversion would lose something. */
  readonly read: (value: unknown) => unknown;
}

export const fieldTypes: Readonly<Record<Operation, Fields>> = perOperation(name =>
  typesOf(operations[name].data),
);

/** Regular expression for a number as JSON spells it. */
export const JSON_NUMBER_PATTERN = '-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][+-]?\\d+)?';
const IS_NUMBER = new RegExp(`^${JSON_NUMBER_PATTERN}$`);

/** RFC 3339, section 5.6: `t` and `z` may be in lower case, and a space may replace the `T`. */
const DATE_TIME = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:\d{2}(?:\.\d+)?)([Zz]|[+-]\d{2}:\d{2})$/;
const LEAP_SECOND = /:60(?=[.Z+-])/;

function typesOf(schema: z.ZodObject): Fields {
  return new Map(
    Object.entries(schema.shape).map(
      ([name, optional]) => [name, typeOf((optional as z.ZodOptional<z.ZodType>).unwrap())] as const,
    ),
  );
}

function typeOf(field: z.ZodType): FieldType {
  if (field instanceof z.ZodObject) return typesOf(field);
  if (field instanceof z.ZodArray) return {items: typeOf(field.element as z.ZodType)};
  const plain = plainOf(field);
  const fits = testOf(field, plain);
  const convert = conversionOf(field);
  return {
    plain,
    read(value) {
      if (fits(value)) return value;
      const converted = convert(value);
      return fits(converted) ? converted : undefined;
    },
  };
}

/** The plain type of a field; undefined if the field also requires a format, a range or the like. */
function plainOf(field: z.ZodType): ValueType['plain'] {
  const {checks = [], format} = field.def as {readonly checks?: readonly unknown[]; readonly format?: string};
  if (checks.length > 0 || format !== undefined) return undefined;
  if (field instanceof z.ZodString) return 'string';
  if (field instanceof z.ZodBoolean) return 'boolean';
  return field instanceof z.ZodNumber ? 'number' : undefined;
}

/** Makes the check of a field. Plain types are checked without zod: this takes a hundredth of the time. */
function testOf(field: z.ZodType, plain: ValueType['plain']): (value: unknown) => boolean {
  if (plain === 'number') return value => Number.isFinite(value);
  if (plain !== undefined) return value => typeof value === plain;
  if (field instanceof z.ZodISODateTime)
    return value =>
      field.safeParse(typeof value === 'string' ? value.replace(LEAP_SECOND, ':59') : value).success;
  return value => field.safeParse(value).success;
}

/** Makes a lossless conversion from another type, such as `"1.5"` → 1.5. The result must still pass the check. */
function conversionOf(field: z.ZodType): ValueType['read'] {
  if (field instanceof z.ZodISODateTime)
    return value => {
      const [, date, time, zone] = DATE_TIME.exec(String(value)) ?? [];
      return zone && `${date}T${time}${zone.toUpperCase()}`;
    };
  if (field instanceof z.ZodNumber)
    return value => (typeof value === 'string' && IS_NUMBER.test(value) ? Number(value) : undefined);
  if (field instanceof z.ZodBoolean)
    return value => (value === 'true' || value === 'false' ? value === 'true' : undefined);
  return value => (typeof value === 'number' ? String(value) : undefined);
}

/** Paths of the answer's fields that the operation's default rules read. */
export const signals: Readonly<Record<Operation, readonly (readonly string[])[]>> = perOperation(name => {
  const paths = operations[name].rules.flatMap(({when}) =>
    [...when.matchAll(new RegExp(`(?<![\\w.])${name}\\.([\\w.]+)`, 'g'))].map(([, path = '']) => path),
  );
  return [...new Set(paths)].map(path => path.split('.'));
});

/** True if an object has this key, or its class has a getter for it. Keys that all objects inherit don't count. */
export function hasKey(value: object, name: string): boolean {
  return Object.hasOwn(value, name) || (name in value && !(name in Object.prototype));
}

export function getAtPath(data: unknown, path: readonly string[]): unknown {
  let value = data;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !hasKey(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/** True if an answer has none of the fields that the default rules read: it says nothing of the risk. */
export function lacksSignals(operation: Operation, data: unknown): boolean {
  return signals[operation].every(path => (getAtPath(data, path) ?? undefined) === undefined);
}

/**
 * True if an answer has a field that the interface knows, apart from those that repeat the request. A verdict must
 * have the verdict itself or its score.
 */
export function saysSomething(operation: Operation, data: unknown): boolean {
  return [...telling[operation]].some(([name, type]) => hasValue(type, getAtPath(data, [name])));
}

const telling: Readonly<Record<Operation, Fields>> = perOperation(name => {
  const {echoes, core}: OperationSpec = operations[name];
  const isTelling = (field: string) => core?.includes(field) ?? echoes.every(({path}) => path[0] !== field);
  return new Map([...fieldTypes[name]].filter(([field]) => isTelling(field)));
});

function hasValue(type: FieldType, value: unknown): boolean {
  if (value === undefined || value === null) return false;
  if ('read' in type) return typeof value !== 'string' || value.trim() !== '';
  if ('items' in type) return Array.isArray(value) && value.some(item => hasValue(type.items, item));
  return [...type].some(([name, inner]) => hasValue(inner, getAtPath(value, [name])));
}
