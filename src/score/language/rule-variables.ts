import {getSystemErrorMap} from 'node:util';
import {z} from 'zod';
import codes from '../../codes.json' with {type: 'json'};
import type {CellResult} from '../../ledger/lookup-outcome.ts';
import {isOperation, type Operation, operationNames, operations} from '../../operations/table.ts';
import {closestName} from '../../sentence.ts';

export type ExpressionType =
  | {readonly kind: 'dyn' | 'timestamp' | 'bool' | 'double'}
  /** With `codes` if the text can only be one of these. */
  | {readonly kind: 'string'; readonly codes?: AllowedTexts}
  | {readonly kind: 'list'; readonly of: ExpressionType}
  | {readonly kind: 'object'; readonly fields: Readonly<Record<string, ExpressionType>>}
  /** Values by name: only these `names`, or any name if `names` is undefined. */
  | {
      readonly kind: 'map';
      readonly of: ExpressionType;
      readonly what: 'column' | 'count' | 'entry';
      readonly names?: readonly string[];
    };

export type RuleVocabulary = Readonly<Record<string, ExpressionType>>;

const text: ExpressionType = {kind: 'string'};

/** CEL type of data with this schema. All numbers are doubles, so that any two can be compared or added. */
export function typeOfSchema(schema: z.ZodType): ExpressionType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return typeOfSchema(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodBoolean) return {kind: 'bool'};
  if (schema instanceof z.ZodNumber) return {kind: 'double'};
  if (schema instanceof z.ZodRecord) {
    if (!(schema.valueType instanceof z.ZodNumber)) return {kind: 'dyn'};
    const {keyType} = schema;
    const counts = {kind: 'map', of: {kind: 'double'}, what: 'count'} as const;
    return {...counts, ...(keyType instanceof z.ZodEnum ? {names: keyType.options.map(String)} : {})};
  }
  if (schema instanceof z.ZodArray) return {kind: 'list', of: typeOfSchema(schema.element as z.ZodType)};
  if (!(schema instanceof z.ZodObject)) return text;
  const fields = Object.entries(schema.shape as Record<string, z.ZodType>);
  return {
    kind: 'object',
    fields: Object.fromEntries(fields.map(([name, type]) => [name, typeOfSchema(type)])),
  };
}

export type RiskLevel = 'low' | 'medium' | 'high' | 'unknown';

export const riskLevels: readonly RiskLevel[] = ['low', 'medium', 'high', 'unknown'];

/** Facts of the whole list, by the operation whose columns have them. Rules read them as `shared.mailbox`. */
export const sharedCountNames = {
  ip: ['ip', 'network'],
  phone: ['phone'],
  email: ['mailbox'],
  verify: [],
} as const satisfies Readonly<Record<Operation, readonly string[]>>;
export type SharedCountName = (typeof sharedCountNames)[Operation][number];
/** For each target of a row: how many in the list have its value, by fact. */
export type SharedCounts = readonly (Readonly<Partial<Record<SharedCountName, number>>> | undefined)[];

/** The lookup that a path is about: its root, but `ip` for `status.ip`, `error.ip`, `shared.ip` and `shared.network`. */
export function subjectOfPath([root = '', name = '']: readonly string[]): string {
  if (root !== 'shared') return root === 'status' || root === 'error' ? name : root;
  return operationNames.find(operation => sharedCountNames[operation].some(fact => fact === name)) ?? name;
}

/** `shared.network` for an operation's columns, `shared.signup_ip.network` for one with a name of its own. */
function sharedType(subjects: readonly (readonly [name: string, operation: Operation])[]): ExpressionType {
  const fields: Record<string, ExpressionType> = {};
  for (const [name, operation] of [...subjects].reverse()) {
    const counts = Object.fromEntries(
      sharedCountNames[operation].map(fact => [fact, {kind: 'double'} as const]),
    );
    Object.assign(fields, isOperation(name) ? counts : {[name]: {kind: 'object', fields: counts}});
  }
  return {kind: 'object', fields};
}

/** Names for rules and conditions: answers, each lookup's status and error code, the row's columns. */
export function createAnswerVocabulary(
  subjects: Readonly<Record<string, Operation>>,
  columns: readonly string[] | undefined,
): RuleVocabulary {
  const names = Object.entries(subjects);
  const each = (typeFor: (operation: Operation) => ExpressionType) =>
    Object.fromEntries(names.map(([name, operation]) => [name, typeFor(operation)]));
  return {
    ...each(operation => typeOfSchema(operations[operation].data)),
    ...(names.length > 0 && {
      status: {kind: 'object', fields: each(() => ({kind: 'string', codes: statusCodes}))},
      error: {
        kind: 'object',
        fields: each(operation => ({kind: 'string', codes: listErrorCodes(operation)})),
      },
      shared: sharedType(names),
    }),
    // In NDJSON, any name is possible.
    row: columns === undefined ? {kind: 'dyn'} : {kind: 'map', of: text, what: 'column', names: columns},
  };
}

/** The score and level of earlier lookups' answers, for the conditions of lookups. */
export const riskVocabulary: RuleVocabulary = {
  risk: {
    kind: 'object',
    fields: {score: {kind: 'double'}, level: {kind: 'string', codes: {what: 'level', known: riskLevels}}},
  },
};

export class UnknownNameError extends Error {}

/**
 * The type of the value at `path`; undefined if only the data shows it.
 *
 * @throws {UnknownNameError} if a name in the path does not exist.
 */
export function typeAtPath(vocabulary: RuleVocabulary, path: readonly string[]): ExpressionType | undefined {
  let type: ExpressionType | undefined = {kind: 'object', fields: vocabulary};
  for (const [index, name] of path.entries()) {
    const prefix = path
      .slice(0, index)
      .map(part => `${part}.`)
      .join('');
    if (type?.kind === 'map') {
      const {what, names}: Extract<ExpressionType, {kind: 'map'}> = type;
      const shown = what === 'column' ? '' : prefix;
      if (names?.includes(name) === false) throw unknown(`${what} "${shown}${name}"`, name, names, shown);
      type = type.of;
    } else if (type?.kind === 'object') {
      const {fields}: {fields: RuleVocabulary} = type;
      if (!Object.hasOwn(fields, name))
        throw prefix === '' ? unknownRoot(name, fields) : unknownField(name, fields, prefix);
      type = fields[name];
    } else return undefined;
  }
  return type;
}

/** The error for an unknown single name, which is mostly a column, or a field without its lookup's name. */
function unknownRoot(name: string, vocabulary: RuleVocabulary): UnknownNameError {
  const paths = Object.entries(vocabulary).flatMap(([root, type]) => {
    const names = type.kind === 'object' ? Object.keys(type.fields) : type.kind === 'map' ? type.names : [];
    return names?.includes(name) ? [`${root}.${name}`] : [];
  });
  const known = Object.keys(vocabulary);
  if (paths.length === 0 && vocabulary['row']?.kind === 'dyn' && closestName(name, known) === undefined)
    paths.push(`row.${name}`);
  if (paths.length === 0) return unknown(`"${name}" to read`, name, known, '');
  const quoted = paths.slice(0, 3).map(path => `"${path}"`);
  return new UnknownNameError(`there is no "${name}" to read. Did you mean ${quoted.join(' or ')}?`);
}

/** The error for an unknown field. Suggests `verdict.can_pass` for `can_pass`, the name of the column. */
function unknownField(name: string, fields: RuleVocabulary, prefix: string): UnknownNameError {
  const deeper = Object.entries(fields).flatMap(([part, type]) =>
    type.kind === 'object' && Object.hasOwn(type.fields, name) ? [`${part}.${name}`] : [],
  );
  return unknown(`field "${prefix}${name}"`, name, Object.keys(fields), prefix, deeper[0]);
}

/** The error for an unknown name. Suggests the path `near`, else a similar name. */
function unknown(
  what: string,
  name: string,
  known: readonly string[],
  prefix: string,
  near = closestName(name, known),
): UnknownNameError {
  const hint =
    near === undefined
      ? `Known: ${known.map(other => prefix + other).join(', ') || 'none'}.`
      : `Did you mean "${prefix}${near}"?`;
  return new UnknownNameError(`there is no ${what}. ${hint}`);
}

/** The possible texts of a value: a comparison with any other text is a mistake. */
export interface AllowedTexts {
  readonly what: string;
  readonly known: readonly string[];
  /** Matches further possible texts that `known` can't list, such as `http_503`. */
  readonly like?: RegExp;
  readonly otherwise?: string;
}

const statuses: Readonly<Record<CellResult['status'], true>> = {
  ok: true,
  empty: true,
  invalid: true,
  failed: true,
  unknown: true,
  skipped: true,
};

export const statusCodes: AllowedTexts = {what: 'status', known: Object.keys(statuses)};

/** All codes of calls but `other_codes`, which only the summary has. */
const {other_codes: _, ...rowCodes} = codes.calls;

/** Node's names of network errors, in small letters as in outputs: `etimedout`. */
const networkCodes = [...getSystemErrorMap().values()].map(([name]) => name.toLowerCase());
/** Codes of failures: an HTTP status (`http_503`), an error of Node (`err_…`), or a network error. */
const SHAPED = new RegExp(`^(?:http_\\d{3}|err_[a-z\\d_]+|${networkCodes.join('|')})$`);

function listErrorCodes(operation: Operation): AllowedTexts {
  return {
    what: 'error code',
    known: [
      '',
      ...Object.keys(operations[operation].codes),
      ...Object.keys(codes.skipped),
      ...Object.keys(rowCodes),
    ],
    like: SHAPED,
    otherwise: 'A code of the service itself can be read by startsWith("…").',
  };
}
