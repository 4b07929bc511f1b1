import {z} from 'zod';
import {closest} from '../job/closest.ts';
import {type Operation, operations} from '../operations/table.ts';

/** What an expression may read, by name: the interface's fields with their types, a row's columns, and the like. */
export type Type =
  | {readonly kind: 'bool' | 'string' | 'double' | 'dyn'}
  | {readonly kind: 'list'; readonly of: Type}
  | {readonly kind: 'object'; readonly fields: Readonly<Record<string, Type>>}
  /** Texts by any name, of which these are the ones that are there. */
  | {readonly kind: 'columns'; readonly names: readonly string[]}
  /** Numbers by any name. */
  | {readonly kind: 'counts'};

/** Every name at the root of an expression. */
export type Vocabulary = Readonly<Record<string, Type>>;

const text: Type = {kind: 'string'};

/** What stands in data of this schema. All numbers are doubles, so that they compare and add up with one another. */
export function typeOf(schema: z.ZodType): Type {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return typeOf(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodBoolean) return {kind: 'bool'};
  if (schema instanceof z.ZodNumber) return {kind: 'double'};
  if (schema instanceof z.ZodRecord)
    return schema.valueType instanceof z.ZodNumber ? {kind: 'counts'} : {kind: 'dyn'};
  if (schema instanceof z.ZodArray) return {kind: 'list', of: typeOf(schema.element as z.ZodType)};
  if (!(schema instanceof z.ZodObject)) return text;
  const fields = Object.entries(schema.shape as Record<string, z.ZodType>);
  return {kind: 'object', fields: Object.fromEntries(fields.map(([name, type]) => [name, typeOf(type)]))};
}

/** What rules and conditions read: answers, what became of each lookup, the row's columns. */
export function answerVocabulary(
  subjects: Readonly<Record<string, Operation>>,
  columns: readonly string[] | undefined,
): Vocabulary {
  const names = Object.entries(subjects);
  const perSubject: Type = {kind: 'object', fields: Object.fromEntries(names.map(([name]) => [name, text]))};
  return {
    ...Object.fromEntries(names.map(([name, operation]) => [name, typeOf(operations[operation].data)])),
    status: perSubject,
    error: perSubject,
    ...rowVocabulary(columns),
  };
}

/** A row's columns; undefined where any name may be there, as in NDJSON. */
export function rowVocabulary(columns: readonly string[] | undefined): Vocabulary {
  return {row: columns === undefined ? {kind: 'dyn'} : {kind: 'columns', names: columns}};
}

/** The score so far, as the conditions of lookups see it. */
export const riskVocabulary: Vocabulary = {
  risk: {kind: 'object', fields: {score: {kind: 'double'}, level: text}},
};

/** A name that is not there, and the nearest one that is. */
export class UnknownName extends Error {}

/**
 * The type of what stands at `path`; undefined where it can't be told before the data is there.
 *
 * @throws {UnknownName} when there is nothing of that name.
 */
export function typeAt(vocabulary: Vocabulary, path: readonly string[]): Type | undefined {
  let type: Type | undefined = {kind: 'object', fields: vocabulary};
  for (const [index, name] of path.entries()) {
    if (type?.kind === 'columns') {
      if (!type.names.includes(name)) throw unknown(`column "${name}"`, name, type.names, '');
      type = text;
    } else if (type?.kind === 'counts') {
      type = {kind: 'double'};
    } else if (type?.kind === 'object') {
      const fields: Readonly<Record<string, Type>> = type.fields;
      const owner = path.slice(0, index).join('.');
      if (!Object.hasOwn(fields, name))
        throw unknown(
          owner === '' ? `"${name}" to read` : `field "${owner}.${name}"`,
          name,
          Object.keys(fields),
          owner === '' ? '' : `${owner}.`,
        );
      type = fields[name];
    } else return undefined;
  }
  return type;
}

function unknown(what: string, name: string, known: readonly string[], prefix: string): UnknownName {
  const near = closest(name, known);
  const hint =
    near === undefined
      ? `Known: ${known.map(other => prefix + other).join(', ')}.`
      : `Did you mean "${prefix}${near}"?`;
  return new UnknownName(`there is no ${what}. ${hint}`);
}
