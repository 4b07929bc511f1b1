import {isObject} from '../../client/answer-fields.ts';
import {type Operation, operationNames, operations} from '../../operations/table.ts';
import {
  addedNames,
  fieldsOfOperation,
  listResultColumns,
  type PrefixedColumns,
  REPAIRS_COLUMN,
  type RiskColumn,
  riskColumns,
  statusColumns,
} from '../columns.ts';

/** One lookup's columns in an output. */
export interface LookupColumns extends PrefixedColumns {
  /** Undefined if the columns fit several operations, or none. */
  readonly operation: Operation | undefined;
  /** Name of the lookup's member under `enrichment`, if answers are nested. */
  readonly key: string;
}

/** Columns that a run added to its rows. */
export interface ResultColumns {
  /** Number of the input's own columns, which come first. */
  readonly own: number;
  readonly lookups: readonly LookupColumns[];
  readonly risk: readonly RiskColumn[];
  readonly repairs: boolean;
  /** True if one member of a row, `enrichment`, holds all results. */
  readonly isNested: boolean;
  /** The columns' names in CSV, in the order in which a row has them. */
  readonly names: readonly string[];
  /** Index of the first column of the risk, or of the first one that would follow. */
  readonly riskAt: number;
}

function resultColumns(columns: Omit<ResultColumns, 'names' | 'riskAt'>): ResultColumns {
  const {lookups, risk, repairs} = columns;
  const names = addedNames(lookups, columns);
  return {...columns, names, riskAt: names.length - risk.length - Number(repairs)};
}

/** Finds the columns that a run added at the end of a header; undefined if there are none. */
export function findResultColumns(names: readonly string[]): ResultColumns | undefined {
  for (const [own, name] of names.entries()) {
    const found = name.endsWith('status') ? resultsFrom(names, own) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Reads all names from index `own` on as result columns; undefined if one of them names no result column. */
function resultsFrom(names: readonly string[], own: number): ResultColumns | undefined {
  const lookups: LookupColumns[] = [];
  let at = own;
  for (let found = lookupAt(names, at); found !== undefined; found = lookupAt(names, at)) {
    lookups.push(found);
    at += listResultColumns(found).length;
  }
  const risk = riskColumns.filter(name => names[at] === `risk_${name}` && ++at > 0);
  const repairs = names[at] === REPAIRS_COLUMN;
  const isAll = lookups.length > 0 && at + Number(repairs) === names.length;
  return isAll ? resultColumns({own, lookups, risk, repairs, isNested: false}) : undefined;
}

function lookupAt(names: readonly string[], at: number): LookupColumns | undefined {
  const name = names[at] ?? '';
  const prefix = name.slice(0, -'status'.length);
  if (name !== `${prefix}status` || names[at + 1] !== `${prefix}error`) return undefined;
  const said = statusColumns(names[at + 2] === `${prefix}stale`);
  const from = at + said.length;
  const candidates = operationNames.map(operation => {
    let next = from;
    const fields = fieldsOfOperation(operation).filter(
      field => names[next] === prefix + field.name && ++next > 0,
    );
    return {operation, fields};
  });
  const most = Math.max(...candidates.map(({fields}) => fields.length));
  const fitting = candidates.filter(({fields}) => fields.length === most);
  const operation = onlyOne(
    fitting.map(one => one.operation),
    prefix,
  );
  const fields = fitting.find(one => operation === undefined || one.operation === operation)?.fields ?? [];
  return {operation, target: {prefix}, key: prefix.replace(/_$/, ''), said, fields};
}

/**
 * The only fitting operation. If several fit, the operation that the prefix names, such as `ip_` or `signup_ip_`.
 */
function onlyOne(fitting: readonly Operation[], prefix: string): Operation | undefined {
  const named = fitting.filter(name => `_${prefix}`.endsWith(`_${operations[name].prefix}`));
  return fitting.length === 1 ? fitting[0] : named[0];
}

/** The result columns in an NDJSON row's `enrichment` member; undefined if that member is something else. */
export function findResultMembers(enrichment: unknown): ResultColumns | undefined {
  if (!isObject(enrichment)) return undefined;
  const {risk: judged, ...members} = enrichment;
  const lookups = Object.entries(members).map(([key, member]): LookupColumns | undefined => {
    if (!isObject(member) || !('status' in member)) return undefined;
    const operation = operationNames.find(name => name === key) ?? onlyOne(operationNames, `${key}_`);
    const prefix = operation === key ? operations[operation].prefix : `${key}_`;
    const fields = operation === undefined ? [] : fieldsOfOperation(operation);
    return {operation, target: {prefix}, key, said: statusColumns('stale' in member), fields};
  });
  const known = lookups.filter(lookup => lookup !== undefined);
  if (known.length === 0 || known.length < lookups.length) return undefined;
  const risk = riskColumns.filter(name => name in Object(judged));
  return resultColumns({own: 0, lookups: known, risk, repairs: false, isNested: true});
}
