import type {Intelligence} from '../../operations/table.ts';

/** What a column seems to hold, and why. */
export interface Guess {
  readonly operation: Intelligence | 'country';
  readonly column: string;
  /** `sure` is used without asking; `unsure` wants a flag. */
  readonly confidence: 'sure' | 'unsure';
  /** Why an unsure column is passed over where others are sure; undefined where the run asks about it first. */
  readonly aside?: Aside | undefined;
  /** Share of the sample's non-empty cells that can be such a value, 0 to 1; undefined where all were empty. */
  readonly share: number | undefined;
  /** Share of those cells that lack nothing but their country: phone numbers in national form. */
  readonly national: number;
  /** Share of those cells that hold several IP addresses. */
  readonly listed: number;
  /** Share of those cells that are of its kind in any way. */
  readonly ofKind: number;
  /** Number of cells in the sample that hold something, and of different texts in them. */
  readonly values: number;
  readonly distinct: number;
  readonly byHeader: boolean;
  /** What most of those cells are that are no such value, and the first row that shows it. */
  readonly fault?: Fault | undefined;
  /** The columns of phone numbers that a column of countries was chosen for, or may be. */
  readonly numbers?: readonly string[] | undefined;
  /** The first row that shows why a column of countries is unsure, where one does. */
  readonly row?: number | undefined;
}

/**
 * Its header names another party than the row's person, or a fax; nothing but its values speaks for it; it is the first entry of a
 * list; its values are addresses that the service knows nothing of; they may be something else that is written alike; none of
 * them is of its kind, where another column's are; or they are few and repeat, where another column's differ.
 */
export type Aside = 'another' | 'fax' | 'values' | 'list' | 'unknowable' | 'alike' | 'nothing' | 'shared';

export interface Fault {
  readonly code: string;
  readonly row: number | undefined;
}

/** From this share on the values confirm a kind. */
export const MOSTLY = 0.5;

/** True if a column is unsure for nothing but the country of its numbers. */
export function lacksCountry({confidence, share = 0, national}: Guess): boolean {
  return national > 0 && confidence === 'unsure' && share + national >= MOSTLY;
}

/** True if a column is unsure for nothing but which of several addresses in a cell is meant. */
export function lacksChoice({confidence, share = 0, listed}: Guess): boolean {
  return listed > 0 && confidence === 'unsure' && share + listed >= MOSTLY;
}
