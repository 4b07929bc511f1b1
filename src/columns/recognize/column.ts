import type {InputFormat} from '../../input/row.ts';
import {isInList} from '../field-paths.ts';
import {type CellReader, cellReader} from '../targets.ts';
import {type HeaderSays, namesAnother, readHeader} from './header.ts';
import type {ColumnKind} from './vocabulary.ts';

/** A column of the input, and what its header says about its values. */
export interface Column {
  readonly name: string;
  /** The header, with the name of its group before it. Empty without a header. */
  readonly heading: string;
  readonly cell: CellReader;
  /** The kinds of values that the header names. */
  readonly says: ReadonlyMap<ColumnKind, HeaderSays>;
  /** True if the header, or a label in a row, says that the values are of someone other than the row's person. */
  readonly isAnothers: boolean;
  /** True if the column has the first entry of a list in each row, such as `ips.0`. */
  readonly isInList: boolean;
}

export interface Headers {
  /** True if the input has no header. Column names then say nothing about the values. */
  readonly headless?: boolean | undefined;
  /** Group of each column, from a line above the header. */
  readonly groups?: readonly string[] | undefined;
}

export function headersOf(format: InputFormat): Headers {
  return format.kind === 'csv' ? {headless: format.header === undefined, groups: format.groups} : {};
}

export function columnsOf(
  names: readonly string[],
  given: readonly string[] = names,
  {headless = false, groups = []}: Headers = {},
): Column[] {
  const places = new Map(given.map((name, place) => [name, place]));
  return names.map((name, index) => {
    const place = places.get(name);
    const group = place === undefined ? '' : (groups[place] ?? '');
    const heading = headless ? '' : `${group} ${name}`.trim();
    return {
      name,
      heading,
      cell: cellReader(name, names, index),
      says: readHeader(heading),
      isAnothers: namesAnother(heading),
      isInList: place === undefined && isInList(name),
    };
  });
}
