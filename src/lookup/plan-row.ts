import type {Row} from '../input/row.ts';
import {intelligenceLookup, type Lookup, lookupOf, type Outcome, type SkipCode} from '../ledger/lookup.ts';
import {operations} from '../operations/table.ts';
import {type Beside, besideNames, besideToken} from '../operations/verify.ts';
import type {CellReader, Target} from './targets.ts';

/** What the plan says of one mapped column in one row: something to ask, or a verdict that needs no call. */
export type PlannedCell =
  | {readonly status: 'ask'; readonly lookup: Lookup}
  | {readonly status: 'empty'}
  | {readonly status: 'invalid'; readonly error: string}
  | {readonly status: 'skipped'; readonly error: SkipCode};

/** What a row's columns say of one lookup. */
export type Result = Outcome | Exclude<PlannedCell, {status: 'ask'}>;

/** The cells beside a target's own that its lookup depends on. */
export interface PlanCells {
  readonly country?: CellReader | undefined;
  readonly defaultCountry?: string | undefined;
  readonly verdict?: VerdictCells | undefined;
}

export type VerdictCells = {readonly actionId: string} & {readonly [Name in Beside]?: CellReader | undefined};

/** A row → what to ask for each target, in the order of `targets`. Pure: it depends on the row alone. */
export type PlanRow = (row: Row) => PlannedCell[];

export function createPlan(targets: readonly Target[], cells: PlanCells): PlanRow {
  return row => targets.map(target => planTarget(target, row, cells));
}

function planTarget(target: Target, row: Row, cells: PlanCells): PlannedCell {
  const text = target.cell(row);
  if (text === undefined) return {status: 'empty'};
  const canonical = operations[target.operation].canonical(text, countryOf(row, cells));
  switch (canonical.state) {
    case 'empty':
      return {status: 'empty'};
    case 'invalid':
      return {status: 'invalid', error: canonical.code};
    case 'value':
      return {
        status: 'ask',
        lookup:
          target.operation === 'verify'
            ? verdict(canonical.value, row, cells)
            : intelligenceLookup(target.operation, canonical.value),
      };
    default:
      return canonical satisfies never;
  }
}

function countryOf(row: Row, cells: PlanCells): string | undefined {
  return cells.country?.(row)?.trim() || cells.defaultCountry;
}

/** A token with what is sent beside it; what can't be such a value is left out, as the token still counts. */
function verdict(token: string, row: Row, cells: PlanCells): Lookup {
  const params: Record<string, string> = {action_id: cells.verdict?.actionId ?? '', token};
  for (const name of besideNames) {
    const {param, canonical} = besideToken[name];
    const read = canonical(cells.verdict?.[name]?.(row) ?? '', countryOf(row, cells));
    if (read.state === 'value') params[param] = read.value;
  }
  return lookupOf('verify', params);
}
