import {isInList} from '../field-paths.ts';
import {type CellReader, cellReader} from '../targets.ts';
import {type HeaderSays, namesAnother, readHeader} from './header.ts';
import type {ColumnKind} from './header-words.ts';

/** A column whose kind is to be found out. */
export interface Column {
  readonly name: string;
  readonly cell: CellReader;
  /** What its header says of each kind of value. */
  readonly says: ReadonlyMap<ColumnKind, HeaderSays>;
  /** True if its header names another party than the row's person. */
  readonly isAnothers: boolean;
  /** True if rows have a list there, of which this is the first entry. */
  readonly isInList: boolean;
}

/** The columns of a list; those of a `headless` one have numbers for names, which say nothing. */
export function columnsOf(names: readonly string[], given = names, headless = false): Column[] {
  return names.map(name => ({
    name,
    cell: cellReader(name, names),
    says: headless ? new Map() : readHeader(name),
    isAnothers: !headless && namesAnother(name),
    isInList: !given.includes(name) && isInList(name),
  }));
}
