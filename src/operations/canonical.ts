/**
 * One spelling per value, so that it is paid for once, and a local verdict on what can't be a value at all.
 * Codes are stable: they stand in the output's `…_error` column.
 */
export type Canonical<Code extends string = string> =
  | {readonly state: 'value'; readonly value: string}
  | {readonly state: 'empty'}
  | {readonly state: 'invalid'; readonly code: Code};

export const empty = {state: 'empty'} as const;
export const valid = (value: string) => ({state: 'value', value}) as const;
export const invalid = <const Code extends string>(code: Code) => ({state: 'invalid', code}) as const;

/** What exports write where they have nothing. */
const PLACEHOLDER = /^(?:|-{1,3}|\(?null\)?|\\N|#?n\/?a|nan|none|nil|undefined)$/i;

export const isPlaceholder = (given: string) => PLACEHOLDER.test(given);

/** Faults that spreadsheets leave in any column. */
export const spreadsheetCodes = {
  leading_apostrophe: 'It begins with an apostrophe, as a spreadsheet marks texts.',
  scientific_notation: 'A spreadsheet made a rounded number of it.',
} as const;

export function spreadsheetFault(given: string): keyof typeof spreadsheetCodes | undefined {
  if (given.startsWith("'")) return 'leading_apostrophe';
  return /^[+-]?\d+([.,]\d+)?E[+-]?\d+$/i.test(given) ? 'scientific_notation' : undefined;
}
