import type {CellReader} from '../targets.ts';
import type {HeaderSays} from './header.ts';
import type {Named} from './header-words.ts';

/** A column whose kind is to be found out. */
export interface Column {
  readonly name: string;
  readonly cell: CellReader;
  /** What its header says of each kind of value. */
  readonly says: ReadonlyMap<Named, HeaderSays>;
  /** True if its header names another party than the row's person. */
  readonly isAnothers: boolean;
  /** True if rows have a list there, of which this is the first entry. */
  readonly isInList: boolean;
}
