import type codes from '../codes.json';
import {type CellRules, normalizeCharacters, type RepairCode, readCell, trimPunctuation} from './cell.ts';

/**
 * A cell's value in its canonical spelling, so that equal values are paid for once. A cell without a valid
 * value is `empty`, or `invalid` with the code of its fault. Codes never change, since the output's `…_error`
 * columns have them.
 */
export type CanonicalCell<Code extends string = string> =
  | {readonly state: 'value'; readonly value: string; readonly repairs?: readonly RepairCode[]}
  | {readonly state: 'empty'}
  | {readonly state: 'invalid'; readonly code: Code}
  /** This program failed at the cell. Such a cell never ends the list. */
  | {readonly state: 'broken'; readonly thrown: unknown};

export const emptyCell = {state: 'empty'} as const;
export const makeInvalidCell = <const Code extends string>(code: Code) => ({state: 'invalid', code}) as const;

export function validCell(value: string, repairs: readonly RepairCode[] = []) {
  return repairs.length === 0
    ? ({state: 'value', value} as const)
    : ({state: 'value', value, repairs} as const);
}

export const isScientific = (text: string): boolean => /^[+-]?\d+([.,]\d+)?E[+-]?\d+$/i.test(text);

/** Maximum characters of a cell that is judged. Patterns would take minutes for some of the longer ones. */
const LONGEST = 10_000;

/** Removes a cell's wrapping, such as quotes. Then `judge` decides if the text is a valid value. */
export function judgeCell<Code extends string>(
  raw: string,
  rules: CellRules | undefined,
  judge: (text: string, repairs: readonly RepairCode[]) => CanonicalCell<Code>,
): CanonicalCell<Code | keyof typeof codes.any> {
  if (raw.length > LONGEST) return makeInvalidCell('cell_too_long');
  try {
    const cell = readCell(raw, rules);
    switch (cell.state) {
      case 'empty':
        return emptyCell;
      case 'unreadable':
        return makeInvalidCell('unreadable_characters');
      case 'text':
        return judge(cell.text, cell.repairs);
      default:
        return cell satisfies never;
    }
  } catch (thrown) {
    return {state: 'broken', thrown};
  }
}

/** Like {@link judgeCell}, in one spelling ({@link normalizeCharacters}). If the text is invalid, judges it again without the punctuation at its end, if any. */
export function judgeNormalizedCell<Code extends string>(
  raw: string,
  rules: CellRules | undefined,
  judge: (text: string, repairs: readonly RepairCode[]) => CanonicalCell<Code>,
): CanonicalCell<Code | keyof typeof codes.any> {
  return judgeCell(raw, rules, (given, found) => {
    const text = normalizeCharacters(given);
    const repairs = text === given ? found : [...found, 'folded' as const];
    const judged = judge(text, repairs);
    const entry = judged.state === 'invalid' ? trimPunctuation(text, repairs) : undefined;
    const rest = entry && judge(entry.text, entry.repairs);
    return rest?.state === 'value' ? rest : judged;
  });
}

/** Separators of several values in one cell, as programs and people write them: `a@x.com ::: b@x.com`. */
export const LIST_SEPARATOR = /\s*(?::::|[,;|\r\n]|\s\/\s)\s*/;

/** The entry of a list that a setting chooses. `only`: the entries must all be the same. */
export type ListChoice = 'first' | 'last' | 'only';

/**
 * The chosen entry of a cell with several values; undefined if there is no choice. If the chosen entry is empty, no other
 * is taken: it would be another person's, or another machine's.
 */
export function chooseEntry<Code extends string>(
  entries: readonly CanonicalCell<Code>[],
  which: ListChoice | undefined,
): CanonicalCell<Code> | undefined {
  const distinct = new Set(entries.map(entry => (entry.state === 'value' ? entry.value : '')));
  const isChosen = which === 'only' ? distinct.size === 1 : which !== undefined;
  const meant = which === 'last' ? entries.at(-1) : entries[0];
  if (!isChosen || meant === undefined || meant.state === 'empty') return undefined;
  return meant.state === 'value' ? validCell(meant.value, ['list_entry', ...(meant.repairs ?? [])]) : meant;
}
