/** The cases in which not even a person can tell a value. */
export const undecidableCases = {
  elsewhere:
    'a national number of one country that is, as written, a valid one of the country that the list says',
  ownForm:
    'digits with a foreign calling code that are, as written, a usual national number of the row’s country',
  zero: 'digits that are valid numbers of their country with and without a zero in front',
} as const;
export type Undecidable = keyof typeof undecidableCases;

/** A list of which is known what each of its values means. Nothing of the reader's own code has a part in making it. */
export interface KnownList {
  readonly name: string;
  readonly kind: 'phone' | 'email' | 'ip';
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** What each row's value means; undefined for a placeholder, a note, or a cell that means no single value. */
  readonly meant: readonly (string | undefined)[];
  readonly defaultCountry?: string;
  /** The country that a person who knows the list would name, if asked for one. */
  readonly country: string;
  /** The reason why not even a person could tell a row's value; undefined where one could. */
  readonly undecidable: readonly (Undecidable | undefined)[];
}
