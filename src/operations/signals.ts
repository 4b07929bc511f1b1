import {type Fields, type FieldType, fieldTypes} from './field-types.ts';
import type {OperationSpec} from './operation.ts';
import {type Operation, operations, perOperation} from './table.ts';

/** Paths of the answer's fields that the operation's default rules read. */
export const signals: Readonly<Record<Operation, readonly (readonly string[])[]>> = perOperation(name => {
  const paths = operations[name].rules.flatMap(({when}) =>
    [...when.matchAll(new RegExp(`(?<![\\w.])${name}\\.([\\w.]+)`, 'g'))].map(([, path = '']) => path),
  );
  return [...new Set(paths)].map(path => path.split('.'));
});

export function getAtPath(data: unknown, path: readonly string[]): unknown {
  let value = data;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/**
 * True if an answer has no field that the default rules read. It then says nothing about the risk, whatever else is in
 * it. `data`: the answer without fields of a wrong type.
 */
export function lacksSignals(operation: Operation, data: unknown): boolean {
  return signals[operation].every(path => (getAtPath(data, path) ?? undefined) === undefined);
}

/**
 * True if an answer has at least one field that the interface knows, in its type and not empty, apart from those that
 * repeat the request. A verdict must have the verdict itself or its score.
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
