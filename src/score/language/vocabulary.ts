import {z} from 'zod';
import {closest} from '../../job/closest.ts';
import {isOperation, type Operation, operationNames, operations} from '../../operations/table.ts';
import type {RiskLevel} from '../risk.ts';
import {type Codes, errorCodesOf, statusCodes} from './codes.ts';

/** Type of a name in an expression, such as an answer's field or a row's column. */
export type Type =
  | {readonly kind: 'dyn' | 'timestamp'}
  /** With `value` if it is a constant. */
  | {readonly kind: 'bool' | 'double'; readonly value?: boolean | number}
  /** A text: with `value` if it is a constant, with `codes` if it can only be one of these codes. */
  | {readonly kind: 'string'; readonly value?: string; readonly codes?: Codes}
  /** A set of texts. `in` finds a text by its hash, and does not go through a list. */
  | {readonly kind: 'set'}
  | {readonly kind: 'list'; readonly of: Type}
  | {readonly kind: 'object'; readonly fields: Readonly<Record<string, Type>>}
  /** A row's columns. All are texts, and have these `names`. */
  | {readonly kind: 'columns'; readonly names: readonly string[]}
  /** Numbers by name: only these `names`, or any name if `names` is undefined. */
  | {readonly kind: 'counts'; readonly names?: readonly string[]};

/** The names with which a path may begin, and their types. */
export type RuleVocabulary = Readonly<Record<string, Type>>;

const text: Type = {kind: 'string'};

/** CEL type of data with this schema. All numbers are doubles, so that any two can be compared or added. */
export function typeOf(schema: z.ZodType): Type {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return typeOf(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodBoolean) return {kind: 'bool'};
  if (schema instanceof z.ZodNumber) return {kind: 'double'};
  if (schema instanceof z.ZodRecord) {
    if (!(schema.valueType instanceof z.ZodNumber)) return {kind: 'dyn'};
    const {keyType} = schema;
    return {kind: 'counts', ...(keyType instanceof z.ZodEnum ? {names: keyType.options.map(String)} : {})};
  }
  if (schema instanceof z.ZodArray) return {kind: 'list', of: typeOf(schema.element as z.ZodType)};
  if (!(schema instanceof z.ZodObject)) return text;
  const fields = Object.entries(schema.shape as Record<string, z.ZodType>);
  return {kind: 'object', fields: Object.fromEntries(fields.map(([name, type]) => [name, typeOf(type)]))};
}

export const riskLevels: readonly RiskLevel[] = ['low', 'medium', 'high', 'unknown'];

/** Facts of the whole list, by the operation whose columns have them. Rules read them as `shared.mailbox`. */
export const sharedFacts = {
  ip: ['ip', 'network'],
  phone: ['phone'],
  email: ['mailbox'],
  verify: [],
} as const satisfies Readonly<Record<Operation, readonly string[]>>;
export type SharedFact = (typeof sharedFacts)[Operation][number];
/** For each target of a row: how many in the list have its value, by fact. */
export type SharedBy = readonly (Readonly<Partial<Record<SharedFact, number>>> | undefined)[];

/** The lookup that a path is about: its root, but `ip` for `status.ip`, `error.ip`, `shared.ip` and `shared.network`. */
export function subjectOf([root = '', name = '']: readonly string[]): string {
  if (root !== 'shared') return root === 'status' || root === 'error' ? name : root;
  return operationNames.find(operation => sharedFacts[operation].some(fact => fact === name)) ?? name;
}

/** `shared.network` for an operation's columns, `shared.signup_ip.network` for one with a name of its own. */
function sharedType(subjects: readonly (readonly [name: string, operation: Operation])[]): Type {
  const fields: Record<string, Type> = {};
  for (const [name, operation] of [...subjects].reverse()) {
    const counts = Object.fromEntries(sharedFacts[operation].map(fact => [fact, {kind: 'double'} as const]));
    Object.assign(fields, isOperation(name) ? counts : {[name]: {kind: 'object', fields: counts}});
  }
  return {kind: 'object', fields};
}

/** Names for rules and conditions: answers, each lookup's status and error code, the row's columns. */
export function answerVocabulary(
  subjects: Readonly<Record<string, Operation>>,
  columns: readonly string[] | undefined,
): RuleVocabulary {
  const names = Object.entries(subjects);
  const perSubject = (codesOf: (operation: Operation) => Codes): Type => {
    const fields = names.map(
      ([name, operation]) => [name, {kind: 'string', codes: codesOf(operation)}] as const,
    );
    return {kind: 'object', fields: Object.fromEntries(fields)};
  };
  return {
    ...Object.fromEntries(names.map(([name, operation]) => [name, typeOf(operations[operation].data)])),
    status: perSubject(() => statusCodes),
    error: perSubject(errorCodesOf),
    shared: sharedType(names),
    ...rowVocabulary(columns),
  };
}

/** A row's columns; without names, as in NDJSON, any name is possible. */
export function rowVocabulary(columns: readonly string[] | undefined): RuleVocabulary {
  return {row: columns === undefined ? {kind: 'dyn'} : {kind: 'columns', names: columns}};
}

/** The score and level of earlier lookups' answers, for the conditions of lookups. */
export const riskVocabulary: RuleVocabulary = {
  risk: {
    kind: 'object',
    fields: {score: {kind: 'double'}, level: {kind: 'string', codes: {what: 'level', known: riskLevels}}},
  },
};

/** Thrown if an expression has an unknown name. The message suggests the nearest known name. */
export class UnknownName extends Error {}

/**
 * The type of the value at `path`; undefined if only the data shows it.
 *
 * @throws {UnknownName} if a name in the path does not exist.
 */
export function typeAt(vocabulary: RuleVocabulary, path: readonly string[]): Type | undefined {
  let type: Type | undefined = {kind: 'object', fields: vocabulary};
  for (const [index, name] of path.entries()) {
    if (type?.kind === 'columns') {
      if (!type.names.includes(name)) throw unknown(`column "${name}"`, name, type.names, '');
      type = text;
    } else if (type?.kind === 'counts') {
      const {names} = type;
      const of = path.slice(0, index).join('.');
      if (names?.includes(name) === false) throw unknown(`count "${of}.${name}"`, name, names, `${of}.`);
      type = {kind: 'double'};
    } else if (type?.kind === 'object') {
      const fields: Readonly<Record<string, Type>> = type.fields;
      const owner = path.slice(0, index).join('.');
      if (!Object.hasOwn(fields, name))
        throw owner === ''
          ? unknownRoot(name, vocabulary)
          : unknown(
              `field "${owner}.${name}"`,
              name,
              Object.keys(fields),
              `${owner}.`,
              partsWith(name, fields),
            );
      type = fields[name];
    } else return undefined;
  }
  return type;
}

/** Advice for an unknown single name, which is mostly a column, or a field without its lookup's name. */
function unknownRoot(name: string, vocabulary: RuleVocabulary): UnknownName {
  const paths = Object.entries(vocabulary).flatMap(([root, type]) => {
    if (type.kind === 'columns') return type.names.includes(name) ? [`row.${name}`] : [];
    return type.kind === 'object' && Object.hasOwn(type.fields, name) ? [`${root}.${name}`] : [];
  });
  const known = Object.keys(vocabulary);
  if (paths.length === 0 && vocabulary['row']?.kind === 'dyn' && closest(name, known) === undefined)
    paths.push(`row.${name}`);
  if (paths.length === 0) return unknown(`"${name}" to read`, name, known, '');
  const quoted = paths.slice(0, 3).map(path => `"${path}"`);
  return new UnknownName(`there is no "${name}" to read. Did you mean ${quoted.join(' or ')}?`);
}

/**
 * Paths to fields of this name inside the given fields: `verdict.can_pass` for `can_pass`. Users try the
 * short name, since the output's column has it.
 */
function partsWith(name: string, fields: Readonly<Record<string, Type>>): string[] {
  return Object.entries(fields).flatMap(([part, type]) =>
    type.kind === 'object' && Object.hasOwn(type.fields, name) ? [`${part}.${name}`] : [],
  );
}

/** The error for an unknown name. Suggests a path that ends in this name (`deeper`), else a similar name. */
function unknown(
  what: string,
  name: string,
  known: readonly string[],
  prefix: string,
  deeper: readonly string[] = [],
): UnknownName {
  const near = deeper[0] ?? closest(name, known);
  const hint =
    near === undefined
      ? `Known: ${known.map(other => prefix + other).join(', ') || 'none'}.`
      : `Did you mean "${prefix}${near}"?`;
  return new UnknownName(`there is no ${what}. ${hint}`);
}
