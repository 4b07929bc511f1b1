import {existsSync} from 'node:fs';
import {expect, test} from 'vitest';
import {z} from 'zod';
import {summarySchema} from '../../src/report/summary.ts';
import {checks} from './model/violations.ts';

/** Fields that no sequence of commands derives, each with the test that has its promise. */
const elsewhere: Readonly<Record<string, string>> = {
  come_back_at: 'test/run/limits.test.ts',
  settings_sha256: 'test/run/places.test.ts',
  'credits.account.price': 'test/report/money.test.ts',
  drift: 'test/report/drift.test.ts',
  failed_if: 'test/score/runs.test.ts',
};

interface JsonSchema {
  readonly anyOf?: readonly JsonSchema[];
  readonly type?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
}

/** The paths of all fields, a star for any name; lists are fields as a whole. */
function pathsIn(schema: JsonSchema, path: readonly string[] = []): string[] {
  const {properties, additionalProperties} = schema.anyOf?.find(({type}) => type !== 'null') ?? schema;
  if (properties !== undefined)
    return Object.entries(properties).flatMap(([name, inner]) => pathsIn(inner, [...path, name]));
  if (typeof additionalProperties === 'object') return pathsIn(additionalProperties, [...path, '*']);
  return [path.join('.')];
}

const paths = pathsIn(z.toJSONSchema(summarySchema) as JsonSchema);

/** True if a name in one of the paths stands for the same as in the other. */
function covers(field: string, path: string): boolean {
  const [names, others] = [field.split('.'), path.split('.')];
  return names.every((name, index) => name === '*' || others[index] === '*' || name === others[index]);
}

test('each field of the summary has a promise', () => {
  const promised = [...checks.flatMap(({fields = []}) => fields), ...Object.keys(elsewhere)];
  const left = paths.filter(path => !promised.some(field => covers(field, path)));
  expect(left).toEqual([]);
});

test('each promise is of fields that the summary has', () => {
  const promised = [...checks.flatMap(({fields = []}) => fields), ...Object.keys(elsewhere)];
  expect(promised.filter(field => !paths.some(path => covers(field, path)))).toEqual([]);
  expect(
    Object.values(elsewhere).filter(file => !existsSync(new URL(`../../${file}`, import.meta.url))),
  ).toEqual([]);
});

test('each promise has a sentence of its own', () => {
  const sentences = checks.map(({promise}) => promise);
  expect(new Set(sentences).size).toBe(sentences.length);
});
