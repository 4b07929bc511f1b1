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

function findDifference(...inputs: readonly [NamedFormatOf, NamedFormatOf]): string | undefined {
  const [a, b] = inputs.map(({format}) => format) as [InputFormat, InputFormat];
  const both = (verb: string, what: (format: InputFormat) => string) =>
    inputs.map(({name, format}) => `${name} ${verb} ${what(format)}`).join(', ');
  if (a.kind !== b.kind) return both('is', ({kind}) => kind.toUpperCase());
  if (a.kind === 'ndjson') return undefined;
  const at = a.columns.findIndex((name, i) => name !== b.columns[i]);
  if (at >= 0 && at < b.columns.length)
    return `column ${at + 1} is ${inputs.map(({name, format}) => `${JSON.stringify(format.columns[at])} in ${name}`).join(' and ')}`;
  return a.columns.length === b.columns.length
    ? undefined
    : both('has', ({columns}) => `${columns.length} columns`);
}
