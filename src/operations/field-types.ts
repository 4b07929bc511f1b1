import {z} from 'zod';
import {type Operation, operations, perOperation} from './table.ts';

/** The type of an answer's field: the reader of its values, the fields of a part, or the type of list items. */
export type FieldType = ReadValue | Fields | {readonly items: FieldType};
export type Fields = ReadonlyMap<string, FieldType>;

/** The value in the field's type; undefined if the conversion would lose something. */
type ReadValue = (value: unknown) => unknown;

export const fieldTypes: Readonly<Record<Operation, Fields>> = perOperation(name =>
  typesOf(operations[name].data),
);

/** A number as JSON spells it. */
export const NUMBER = '-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][+-]?\\d+)?';
const IS_NUMBER = new RegExp(`^${NUMBER}$`);

/** RFC 3339, 5.6: allows lower-case `t` and `z`, and a blank between date and time. */
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
  const [fits, convert] = [testOf(field), conversionOf(field)];
  return value => {
    if (fits(value)) return value;
    const converted = convert(value);
    return fits(converted) ? converted : undefined;
  };
}

/** Plain types are checked directly, in a hundredth of zod's time. */
function testOf(field: z.ZodType): (value: unknown) => boolean {
  if (isPlain(field, z.ZodString)) return value => typeof value === 'string';
  if (isPlain(field, z.ZodBoolean)) return value => typeof value === 'boolean';
  if (isPlain(field, z.ZodNumber)) return value => Number.isFinite(value);
  if (field instanceof z.ZodISODateTime)
    return value =>
      field.safeParse(typeof value === 'string' ? value.replace(LEAP_SECOND, ':59') : value).success;
  return value => field.safeParse(value).success;
}

/** True if the field requires only its type, without a format or a range. */
function isPlain(field: z.ZodType, type: new (...given: never[]) => z.ZodType): boolean {
  const {checks = [], format} = field.def as {readonly checks?: readonly unknown[]; readonly format?: string};
  return field instanceof type && checks.length === 0 && format === undefined;
}

/** Lossless conversion from another type. The field's own check judges the result. */
function conversionOf(field: z.ZodType): ReadValue {
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
