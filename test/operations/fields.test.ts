import {expect, test} from 'vitest';
import {z} from 'zod';
import {type FieldType, fieldTypes} from '../../src/operations/fields.ts';
import {operationNames, operations} from '../../src/operations/table.ts';

const VALUES = [
  ...['', 'text', '2026-01-01T00:00:00Z', '2026-01-01t00:00:00z', '17', 'true'],
  ...[0, 1.5, -1, 2 ** 60, Number.POSITIVE_INFINITY, true],
];

/** Differences between reading a field and its schema: a fitting value is kept as it is, and a kept value fits. */
function disagreements(schema: z.ZodType, type: FieldType | undefined, path: string): string[] {
  if (schema instanceof z.ZodObject)
    return type instanceof Map
      ? Object.entries(schema.shape).flatMap(([name, optional]) =>
          disagreements((optional as z.ZodOptional<z.ZodType>).unwrap(), type.get(name), `${path}.${name}`),
        )
      : [`${path}: no part`];
  if (schema instanceof z.ZodArray)
    return type !== undefined && 'items' in type
      ? disagreements(schema.element as z.ZodType, type.items, `${path}[]`)
      : [`${path}: no list`];
  if (type === undefined || !('read' in type)) return [`${path}: no value`];
  return VALUES.filter(value => {
    const read = type.read(value);
    return schema.safeParse(value).success
      ? read !== value
      : read !== undefined && !schema.safeParse(read).success;
  }).map(value => `${path}: ${JSON.stringify(value)}`);
}

test.each(operationNames)('fields read from an answer to %s are those of its schema', name => {
  expect(disagreements(operations[name].data, fieldTypes[name], name)).toEqual([]);
});
