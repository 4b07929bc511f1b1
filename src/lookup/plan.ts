import type {Row} from '../input/row.ts';
import {
  intelligenceLookup,
  type Lookup,
  type Settled,
  type SkipCode,
  verdictLookup,
} from '../ledger/lookup.ts';
import {canonicalEmail} from '../operations/email.ts';
import {canonicalIp} from '../operations/ip.ts';
import type {Canonical} from '../operations/operation.ts';
import {canonicalPhone} from '../operations/phone.ts';
import type {Operation} from '../operations/table.ts';
import {canonicalToken} from '../operations/verify.ts';
import type {Cell, Target} from './targets.ts';

/** What the plan says of one mapped column in one row: something to ask, or a verdict that needs no call. */
export type Planned =
  | {readonly status: 'ask'; readonly lookup: Lookup}
  | {readonly status: 'empty'}
  | {readonly status: 'invalid'; readonly error: string}
  | {readonly status: 'skipped'; readonly error: SkipCode};

/** What a row's columns say of one lookup. */
export type Result = Settled | Exclude<Planned, {status: 'ask'}>;

/** The cells beside a target's own that its lookup depends on. */
export interface PlanCells {
  readonly country?: Cell | undefined;
  readonly defaultCountry?: string | undefined;
  readonly verdict?: VerdictCells | undefined;
}

export interface VerdictCells {
  readonly actionId: string;
  readonly id?: Cell | undefined;
  readonly email?: Cell | undefined;
  readonly phone?: Cell | undefined;
}

/** A row → what to ask for each target, in the order of `targets`. Pure: it depends on the row alone. */
export type PlanRow = (row: Row) => Planned[];

export function createPlan(targets: readonly Target[], cells: PlanCells): PlanRow {
  return row => targets.map(target => planTarget(target, row, cells));
}

function planTarget(target: Target, row: Row, cells: PlanCells): Planned {
  const text = target.cell(row);
  if (text === undefined) return {status: 'empty'};
  const canonical = canonicalOf(target.operation, text, row, cells);
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

function canonicalOf(operation: Operation, text: string, row: Row, cells: PlanCells): Canonical {
  switch (operation) {
    case 'ip':
      return canonicalIp(text);
    case 'phone':
      return canonicalPhone(text, country(row, cells));
    case 'email':
      return canonicalEmail(text);
    case 'verify':
      return canonicalToken(text);
    default:
      return operation satisfies never;
  }
}

function country(row: Row, cells: PlanCells): string | undefined {
  return cells.country?.(row)?.trim() || cells.defaultCountry;
}

/** A token with what is sent beside it; an e-mail or phone that can't be one is left out, as the token still counts. */
function verdict(token: string, row: Row, cells: PlanCells) {
  const beside = cells.verdict;
  const id = beside?.id?.(row)?.trim();
  const email = canonicalEmail(beside?.email?.(row) ?? '');
  const phone = canonicalPhone(beside?.phone?.(row) ?? '', country(row, cells));
  return verdictLookup({
    action_id: beside?.actionId ?? '',
    token,
    ...(id === undefined || id === '' ? {} : {id}),
    ...(email.state === 'value' ? {email: email.value} : {}),
    ...(phone.state === 'value' ? {phone_number: phone.value} : {}),
  });
}
