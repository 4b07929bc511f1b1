import {asksOf} from '../model/fleet.ts';
import {canBeLookedUp, HEADER, type Operation} from '../model/places.ts';
import type {RunSpec} from '../model/sequences.ts';
import type {Ended} from '../model/simulation.ts';
import {type Call, serialColumns, serialOf} from '../world/service.ts';
import {ageOf, CLOCK_SKEW_MS, type Scene, TURN_MS} from './scene.ts';

/** Rows as their reader sees them, and what speaks against them. */

const targets = {
  ip: {operation: 'ip', column: 1, prefix: 'ip_'},
  last: {operation: 'ip', column: 4, prefix: 'last_ip_'},
  email: {operation: 'email', column: 2, prefix: 'email_'},
  token: {operation: 'verify', column: 3, prefix: 'verdict_'},
} as const;
type Target = keyof typeof targets;

function targetsOf({columns}: RunSpec): Target[] {
  const words = columns.replace('?', '').split(' ');
  return (Object.keys(targets) as Target[]).filter(name => words.includes(name));
}

/** A row's cells by their names. */
export type OutputRow = (name: string) => string | undefined;

/** Undefined for a text that is no whole output. */
export function readRows(text: string): OutputRow[] | undefined {
  const [header = '', ...lines] = text.split('\n');
  const names = header.split(',');
  if (names.slice(0, HEADER.length).join() !== HEADER.join() || lines.pop() !== '') return undefined;
  return lines.map(line => {
    const cells = line.split(',');
    return name => cells[names.indexOf(name)];
  });
}

/** The rows that a program got back, with results named as columns of a file are; without those that are no rows. */
export function givenBack(rows: readonly object[]): OutputRow[] {
  const own = rows as readonly {enrichment: Record<string, {data?: object}>}[];
  return own.flatMap(({enrichment, ...cells}) => {
    if ('rejected' in enrichment) return [];
    const columns: Record<string, unknown> = {...cells};
    for (const [key, {data, ...rest}] of Object.entries(enrichment))
      addFields(columns, {...rest, ...data}, key === 'verify' ? 'verdict_' : `${key}_`);
    return [(name: string) => (columns[name] == null ? '' : String(columns[name]))];
  });
}

/** Adds the fields of an object; those of a verdict have no name of their own for it. */
function addFields(columns: Record<string, unknown>, fields: object, prefix: string): void {
  for (const [name, value] of Object.entries(fields))
    if (typeof value === 'object' && value !== null)
      addFields(columns, value, name === 'verdict' ? prefix : `${prefix}${name}_`);
    else columns[prefix + name] = value;
}

export interface LookedUp {
  readonly target: Target;
  readonly operation: Operation;
  readonly value: string;
  readonly status: string;
  readonly error: string;
  readonly serial: string;
  readonly redeemed: string | undefined;
}

/** The results in a row, by the columns that its output has. */
export function allLookedUp(row: OutputRow): LookedUp[] {
  const isThere = (target: Target) => row(`${targets[target].prefix}status`) !== undefined;
  return resultsOf(row, (Object.keys(targets) as Target[]).filter(isThere));
}

function resultsOf(row: OutputRow, wanted: readonly Target[]): LookedUp[] {
  return wanted.map(target => {
    const {operation, column, prefix} = targets[target];
    return {
      ...{target, operation},
      value: row(HEADER[column] ?? '') ?? '',
      status: row(`${prefix}status`) ?? '',
      error: row(`${prefix}error`) ?? '',
      serial: row(prefix + serialColumns[operation]) ?? '',
      redeemed: row(`${prefix}redeemed`),
    };
  });
}

/** What speaks against these rows as those of a run's input, one for one and in its order. */
export function faultOfRows(
  lines: readonly OutputRow[],
  rows: readonly string[],
  run: Ended,
  scene: Scene,
): string | undefined {
  const serials = new Map<string, string>();
  for (const [index, line] of lines.entries()) {
    const row = rows[index];
    const own = HEADER.map(line).join();
    if (own !== row) return `session ${run.nth}: "${own}" is not "${row}"`;
    for (const result of resultsOf(line, targetsOf(run.spec))) {
      const {operation, value, status, serial} = result;
      const fault = faultOf(result, run, scene);
      if (fault !== undefined) return `session ${run.nth}: ${JSON.stringify(result)} of "${row}": ${fault}`;
      if (status !== 'ok') continue;
      const other = serials.get(`${operation} ${value}`) ?? serial;
      if (other !== serial) return `session ${run.nth}: ${value} has two answers, ${other} and ${serial}`;
      serials.set(`${operation} ${value}`, serial);
    }
  }
  return undefined;
}

function faultOf(result: LookedUp, run: Ended, scene: Scene): string | undefined {
  const {operation, value, status, error} = result;
  if (!canBeLookedUp(value)) {
    const expected = value === '' ? 'empty' : 'invalid';
    return status === expected ? undefined : `it can be nothing but ${expected}`;
  }
  const ours = scene.calls.filter(
    call => call.operation === operation && call.value === value && call.spec.account === run.spec.account,
  );
  switch (status) {
    case 'ok':
      return faultOfAnswer(result, ours, run);
    case 'failed':
    case 'unknown':
      return ours.some(call => call.told !== 'answered' && call.code === error) ||
        isInterrupted(result, ours, run, scene)
        ? undefined
        : 'no call ended so';
    case 'skipped':
      return faultOfSkip(error, run, scene);
    default:
      return 'there is no such status';
  }
}

/** True if a worker was lost that had this value, sent or not. */
function wasLost(value: string, {fleet}: Scene['simulation']): boolean {
  const asks = [...(fleet?.lost ?? [])].flatMap(asksOf);
  return asks.some(({params}) => Object.values(params).includes(value));
}

/** True if a kill, or a disk that took no writes, may have left this value in doubt, sent or not. */
function isInterrupted(
  {error, value}: LookedUp,
  ours: readonly Call[],
  run: Ended,
  {sessions, simulation}: Scene,
): boolean {
  if (error === 'verdict_replay_uncertain' && ours.length > 0) return true;
  if (error === 'worker_lost') return wasLost(value, simulation);
  return (
    (error === 'interrupted' || error === 'verdict_replay_uncertain') &&
    sessions.some(
      ({process, ledger, spec, end}) =>
        (process.killed || process.refused !== false || (spec.fleet && end === 'stopped')) &&
        (ledger === run.ledger || run.ledger === undefined),
    )
  );
}

function faultOfAnswer(
  {operation, serial, redeemed}: LookedUp,
  ours: readonly Call[],
  run: Ended,
): string | undefined {
  const call = ours.find(one => serialOf(one) === serial && one.told === 'answered');
  if (call === undefined) return 'no such answer was given for this value to this account';
  if (operation === 'verify') {
    if (call.spec.output !== run.spec.output) return 'it is the verdict for another output';
    if (redeemed !== String(call.redeemed)) return 'the service said otherwise';
    const own = ours.find(one => one.ledger === call.ledger && one.number < call.number && one.carriedOut);
    return call.redeemed && own !== undefined ? `#${own.number}, our own, had redeemed it` : undefined;
  }
  const startedAt = Math.min(run.startedAt, Date.parse(run.said?.summary?.started_at ?? '') || run.startedAt);
  const isOwn = call.ledger === run.ledger && run.ledger !== undefined;
  const endedAt = run.startedAt + run.endedMs - run.startedMs + 2 * CLOCK_SKEW_MS;
  if (!isOwn && call.toldAt > endedAt) return 'it is from the future';
  return !isOwn && call.toldAt < startedAt - ageOf(run.spec) - TURN_MS ? 'it is too old' : undefined;
}

function faultOfSkip(error: string, run: Ended, {sessions, simulation, calls}: Scene): string | undefined {
  if (error === 'condition') return run.spec.columns === 'ip email?' ? undefined : 'there is no condition';
  // An earlier session, with other settings, may have written the row.
  const all = sessions.filter(one => one.nth <= run.nth && one.spec.output === run.spec.output);
  const isFailing = ({told}: Call) => told !== 'answered' && told !== 'rejected';
  const reasons: Readonly<Record<string, (one: Ended) => boolean>> = {
    budget: ({spec}) => (spec.maxCredits ?? simulation.accountPerDay) !== undefined,
    deadline: ({spec}) => spec.until !== undefined,
    outage: ({process}) => calls.some(call => call.process === process && isFailing(call)),
  };
  return all.some(one => one.spec.publishesAtLimit && reasons[error]?.(one))
    ? undefined
    : 'there is no reason to';
}
