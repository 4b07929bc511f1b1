import type {InputFormat, Row} from '../../input/row.ts';
import {type CellReader, createCellReader, readMongoValue} from '../targets.ts';
import {type HeaderMeaning, namesSomeoneElse, readHeaderKinds} from './header.ts';
import type {ColumnKind} from './vocabulary.ts';

/** A column of the input, and what its header says about its values. */
export interface Column {
  readonly name: string;
  readonly place: number;
  /** The header, with the name of its group before it. Empty without a header. */
  readonly heading: string;
  readonly cell: CellReader;
  readonly says: ReadonlyMap<ColumnKind, HeaderMeaning>;
  /** True if the header, or a label in a row, says that the values are of someone other than the row's person. */
  readonly isAnothers: boolean;
  /** True if the column has the first entry of a list in each row, such as `ips.0`. Further entries have no path. */
  readonly isInList: boolean;
}

export interface HeaderStructure {
  /** True if the input has no header. Column names then say nothing about the values. */
  readonly headless?: boolean | undefined;
  readonly groups?: readonly string[] | undefined;
}

export function readHeaderStructure(format: InputFormat): HeaderStructure {
  return format.kind === 'csv' ? {headless: format.header === undefined, groups: format.groups} : {};
}

export function listColumns(
  names: readonly string[],
  given: readonly string[] = names,
  {headless = false, groups = []}: HeaderStructure = {},
): Column[] {
  const places = new Map(given.map((name, place) => [name, place]));
  return names.map((name, index) => {
    const place = places.get(name);
    const group = place === undefined ? '' : (groups[place] ?? '');
    const heading = headless ? '' : `${group} ${name}`.trim();
    return {
      name,
      place: index,
      heading,
      cell: createCellReader(name, names, index),
      says: readHeaderKinds(heading),
      isAnothers: namesSomeoneElse(heading),
      isInList: place === undefined && /\.0(?:\.|$)/.test(name),
    };
  });
}

const MOST_LEVELS = 5;
const MOST_PATHS = 500;

/** The fields of NDJSON rows, and `names`, by path: `user.ip`; of a list only the first entry (`user.emails.0`). */
export function fieldPaths(names: readonly string[], rows: readonly Row[]): string[] {
  const paths = new Set(names);
  const objects = new Set<string>();
  const walk = (value: object, prefix: string, levels: number) => {
    for (const [key, inner] of Object.entries(value).slice(0, Array.isArray(value) ? 1 : undefined)) {
      if (paths.size >= MOST_PATHS) return;
      const path = `${prefix}${key}`;
      const opens = typeof inner === 'object' && inner !== null && readMongoValue(inner) === undefined;
      if (opens) objects.add(path);
      if (opens && levels > 1) walk(inner, `${path}.`, levels - 1);
      else if (!opens) paths.add(path);
    }
  };
  for (const row of rows) if (row.type === 'ndjson') walk(row.value, '', MOST_LEVELS);
  return [...paths].filter(path => !objects.has(path));
}
