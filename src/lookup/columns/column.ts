import type {InputFormat} from '../../input/row.ts';
import {isInList} from '../field-paths.ts';
import {type CellReader, cellReader} from '../targets.ts';
import {type HeaderSays, namesAnother, readHeader} from './header.ts';
import type {ColumnKind} from './header-words.ts';

/** A column whose kind is to be found out. */
export interface Column {
  readonly name: string;
  /** What the header says: the name, behind the one of its group. Empty for a column without a header. */
  readonly heading: string;
  readonly cell: CellReader;
  /** What its header says of each kind of value. */
  readonly says: ReadonlyMap<ColumnKind, HeaderSays>;
  /** True if its header names another party than the row's person. */
  readonly isAnothers: boolean;
  /** True if rows have a list there, of which this is the first entry. */
  readonly isInList: boolean;
}

/** What a list has for headers. */
export interface Headers {
  /** True if columns have numbers for names, which say nothing. */
  readonly headless?: boolean | undefined;
  /** Each given column's group, by a line above the header. */
  readonly groups?: readonly string[] | undefined;
}

export function headersOf(format: InputFormat): Headers {
  return format.kind === 'csv' ? {headless: format.header === undefined, groups: format.groups} : {};
}

/** The columns of a list. */
export function columnsOf(
  names: readonly string[],
  given: readonly string[] = names,
  {headless = false, groups = []}: Headers = {},
): Column[] {
  return names.map(name => {
    const group = groups[given.indexOf(name)] ?? '';
    const heading = headless ? '' : `${group} ${name}`.trim();
    return {
      name,
      heading,
      cell: cellReader(name, names),
      says: readHeader(heading),
      isAnothers: namesAnother(heading),
      isInList: !given.includes(name) && isInList(name),
    };
  });
}
