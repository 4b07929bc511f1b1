import type {Operation} from '../../../src/operations/table.ts';
import type {RunSpec} from '../model/commands.ts';
import {asPlain} from '../model/dialects.ts';
import {HEADER, phones} from '../model/places.ts';
import {serialField} from '../world/service.ts';

/** An output as its reader sees it: rows, and what they say of each lookup. */

export const targets = {
  ip: {operation: 'ip', column: 1, prefix: 'ip_'},
  email: {operation: 'email', column: 2, prefix: 'email_'},
  verify: {operation: 'verify', column: 3, prefix: 'verdict_'},
  last: {operation: 'ip', column: 4, prefix: 'last_ip_'},
  phone: {operation: 'phone', column: 5, prefix: 'phone_'},
} as const;
type Target = keyof typeof targets;

/** The operations that a run's columns are looked up by, each once. */
export function operationsOf(spec: RunSpec): Operation[] {
  return [...new Set(targetsOf(spec).map(name => targets[name].operation))];
}

export function targetsOf({columns}: RunSpec): Target[] {
  const words = columns.replace('?', '').split(' ');
  return (Object.keys(targets) as Target[]).filter(name =>
    words.includes(name === 'verify' ? 'token' : name),
  );
}

/** An input's rows, and what can't be read as one. */
export function recordsOf(input: string): {
  readonly rows: readonly string[];
  readonly broken: readonly string[];
} {
  const lines = input.split('\n').slice(1, -1);
  const isRow = (line: string) => line.split(',').length === HEADER.length;
  return {rows: lines.filter(isRow), broken: lines.filter(line => !isRow(line))};
}

/** A row's cells by their names, however the output is written. */
export type OutputRow = (name: string) => string | undefined;

export function readRows(text: string, {ndjson}: RunSpec): OutputRow[] {
  if (ndjson) return text.split('\n').slice(0, -1).map(objectOf);
  const lines = asPlain(text).split('\n').slice(0, -1);
  const [header = '', ...others] = lines;
  const names = header.split(',');
  if (names.slice(0, HEADER.length).join() !== HEADER.join()) return [];
  return others.map(line => {
    const cells = line.split(',');
    return name => cells[names.indexOf(name)];
  });
}

function objectOf(line: string): OutputRow {
  try {
    const row = JSON.parse(line) as Record<string, unknown>;
    return name => (row[name] === null || row[name] === undefined ? undefined : String(row[name]));
  } catch {
    return () => undefined;
  }
}

/** A row's result of a lookup. */
export interface LookedUp {
  readonly status: string;
  readonly error: string;
  readonly serial: string;
  readonly isStale: boolean;
}

export function lookedUp(row: OutputRow, name: Target): LookedUp {
  const {prefix} = targets[name];
  return {
    status: row(`${prefix}status`) ?? '',
    error: row(`${prefix}error`) ?? '',
    serial: row(prefix + serialField[targets[name].operation]) ?? '',
    isStale: row(`${prefix}stale`) === 'true',
  };
}

/** The value of an input's row that a lookup is of, as the service is asked for it. */
export function valueIn(row: string, name: Target): string {
  const cells = row.split(',');
  const cell = cells[targets[name].column] ?? '';
  if (name !== 'phone') return cell;
  const country = cells[HEADER.indexOf('country')];
  return phones.find(phone => phone.cell === cell && phone.country === country)?.number ?? cell;
}
