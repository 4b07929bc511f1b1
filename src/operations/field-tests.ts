import {z} from 'zod';
import {operations, perOperation} from './table.ts';

/** What the interface says of each field of an answer: whether a value is of its type, or the fields of a part. */
export type FieldTests = ReadonlyMap<string, FieldTests | ((value: unknown) => boolean)>;

export const fieldTests = perOperation(name => testsOf(operations[name].data));

function testsOf(schema: z.ZodObject): FieldTests {
  return new Map(
    Object.entries(schema.shape).map(([name, optional]) => {
      const field = (optional as z.ZodOptional<z.ZodType>).unwrap();
      return [name, field instanceof z.ZodObject ? testsOf(field) : testOf(field)] as const;
    }),
  );
}

/** Most fields are of a plain type, which takes a hundredth of the time that zod takes to say so. */
function testOf(field: z.ZodType): (value: unknown) => boolean {
  if (isPlain(field, z.ZodString)) return value => typeof value === 'string';
  if (isPlain(field, z.ZodBoolean)) return value => typeof value === 'boolean';
  if (isPlain(field, z.ZodNumber)) return value => Number.isFinite(value);
  return value => field.safeParse(value).success;
}

/** Whether it asks for nothing but the type, such as a format or a range. */
function isPlain(field: z.ZodType, type: new (...given: never[]) => z.ZodType): boolean {
  const {checks = [], format} = field.def as {readonly checks?: readonly unknown[]; readonly format?: string};
  return field instanceof type && checks.length === 0 && format === undefined;
}
