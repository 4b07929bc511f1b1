import {InputError} from './input-error.ts';
import type {InputFormat} from './row.ts';

export interface NamedFormatOf {
  readonly name: string;
  readonly format: InputFormat;
}

/**
 * @throws {InputError} `input_headers_differ` if two inputs can't go into one output. The message names both
 * and the difference.
 */
export function demandAgreement(first: NamedFormatOf, other: NamedFormatOf): void {
  const difference = findDifference(first, other);
  if (difference === undefined) return;
  throw new InputError(
    'input_headers_differ',
    `${first.name} and ${other.name} don't have the same columns: ${difference}. Run them one by one, or give them the same header.`,
  );
}

function findDifference(first: NamedFormatOf, other: NamedFormatOf): string | undefined {
  const [a, b] = [first.format, other.format];
  if (a.kind !== b.kind)
    return `${first.name} is ${a.kind.toUpperCase()}, ${other.name} is ${b.kind.toUpperCase()}`;
  if (a.kind === 'ndjson') return undefined;
  const index = a.columns.findIndex((name, i) => name !== b.columns[i]);
  if (index !== -1 && index < b.columns.length) {
    return `column ${index + 1} is ${JSON.stringify(a.columns[index])} in ${first.name} and ${JSON.stringify(b.columns[index])} in ${other.name}`;
  }
  if (a.columns.length === b.columns.length) return undefined;
  return `${first.name} has ${a.columns.length} columns, ${other.name} has ${b.columns.length}`;
}
