import {expect, test} from 'vitest';
import {z} from 'zod';
import {type FieldTests, fieldTests} from '../../src/operations/field-tests.ts';
import {operationNames, operations} from '../../src/operations/table.ts';

const VALUES = [
  '',
  'text',
  '2026-01-01T00:00:00Z',
  0,
  1.5,
  -1,
  2 ** 60,
  Number.POSITIVE_INFINITY,
  true,
  [],
  ['a'],
  [1],
  {},
];

function disagreements(schema: z.ZodObject, tests: FieldTests, path: string): string[] {
  return Object.entries(schema.shape).flatMap(([name, optional]) => {
    const field = (optional as z.ZodOptional<z.ZodType>).unwrap();
    const own = tests.get(name);
    if (field instanceof z.ZodObject)
      return typeof own === 'object'
        ? disagreements(field, own, `${path}${name}.`)
        : [`${path}${name}: no part`];
    return VALUES.filter(
      value => own instanceof Function && own(value) !== field.safeParse(value).success,
    ).map(value => `${path}${name}: ${JSON.stringify(value)}`);
  });
}

test.each(operationNames)('what is read of an answer to %s is what its schema takes', name => {
  expect(disagreements(operations[name].data, fieldTests[name], '')).toEqual([]);
});
