import {gunzipSync} from 'node:zlib';
import {lookupOf} from '../../../src/ledger/lookup.ts';
import type {Operation} from '../../../src/operations/table.ts';
import type {RunRecord} from '../../../src/report/run-record.ts';
import {scopeKey} from '../../../src/store/store-file.ts';
import {costOf, type RunSpec} from '../model/commands.ts';
import type {Ended} from '../model/ended.ts';
import {accountOf, endpointOf} from '../model/places.ts';
import type {Upkeep} from '../model/stored-answers.ts';
import type {Call, Service} from '../world/service.ts';
import {operationsOf} from './output.ts';

/** The material of a check: the run that just ended, the service's knowledge, and the runs before it. */
export interface Scene {
  readonly run: Ended;
  readonly service: Service;
  /** All runs so far, this one and those beside it included. */
  readonly runs: readonly Ended[];
  /** When answers were stored, by key and scope, as it was before this run began. */
  readonly storedBefore: ReadonlyMap<string, number>;
  readonly storedNow: ReadonlyMap<string, number>;
  /** How the run's store was kept from growing. */
  readonly upkeep: Upkeep;
  /** True if an earlier run's calls may have become unreadable. */
  readonly lostState: boolean;
  /** True if Redis was away, or refused writes, at any time. */
  readonly hadTrouble: boolean;
  /** Most credits a day of the first account at the first endpoint. */
  readonly accountPerDay: number | undefined;
  readonly accountPerMonth: number | undefined;
  /** Most calls a second of it. */
  readonly accountRate: number | undefined;
  /** The inputs as their owner left them, by path. */
  readonly inputs: ReadonlyMap<string, Buffer>;
  /** Where a key stands that others can see. */
  readonly keyIn: string | undefined;
  /** The history of all runs by session, waiting lines included. */
  readonly history: ReadonlyMap<string, RunRecord>;
}

/** The result of a check without material: the promise was not tried. */
export const UNTRIED = Symbol('untried');

/** One promise: its sentence, and what speaks against it; undefined if it was tried and is kept. */
export interface Check {
  readonly promise: string;
  /** The fields of the summary that it derives, each with all below it; a star for any name. */
  readonly fields?: readonly string[];
  readonly broken: (scene: Scene) => string | undefined | typeof UNTRIED;
}

/** The text of an output, compressed or not; what is cut off is as good as none. */
export function textOf(output: Buffer): string {
  if (!output.subarray(0, GZIP.length).equals(GZIP)) return output.toString();
  try {
    return gunzipSync(output).toString();
  } catch {
    return '\0';
  }
}

const GZIP = Buffer.from('1f8b', 'hex');

/** How many rows an output has: below a header, unless they are objects, of which there may be none. */
export function rowsIn(output: Buffer): number {
  const text = textOf(output);
  return text.split('\n').length - (text === '' || text.startsWith('{') ? 1 : 2);
}

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
/** How far past their age answers serve if no call can be made. */
export const STALE_MS = 30 * DAY_MS;

export function ageOf({maxAge}: RunSpec): number {
  return {'1h': HOUR_MS, '1d': DAY_MS, '30d': 30 * DAY_MS}[maxAge];
}

/** Endpoint and account: whose answers and whose money it is. Not as the program has it, which may be wrong. */
export function scopeOfSpec({endpoint, account}: RunSpec): string {
  return `${endpoint} ${account}`;
}

/** How the store knows an answer of this value for a run; verdicts are not stored. */
export function storedAs(operation: Operation, value: string, spec: RunSpec): string {
  const scope = scopeKey({endpoint: endpointOf(spec), label: accountOf(spec)});
  return `${lookupOf(operation, {[operation]: value}).key} ${scope}`;
}

/** Over the last fifth of their term answers fall due, each at its own moment. */
export const SURELY_FRESH = 0.8;

/** A process sees what it was told within its turn. */
export const TURN_MS = 1_000;

/** True if this call may have bought an answer with this date. */
export function isTimeOf({toldAt}: Call, at: number): boolean {
  return Math.abs(at - toldAt) <= TURN_MS;
}

/** How it knows that this value is rejected: beside its answer, if there is one. */
export function rejectedAs(operation: Operation, value: string, spec: RunSpec): string {
  return `${storedAs(operation, value, spec)} rejected`;
}

export const scopeOfCall = ({spec}: Call) => scopeOfSpec(spec);

/** All calls that are in the run's ledger when it ends, whichever run made them. */
export function callsInLedger({run, service}: Scene): readonly Call[] {
  return run.ledger === undefined
    ? []
    : service.calls.slice(0, run.callsByThen).filter(({ledger}) => ledger === run.ledger);
}

export const priceOf = ({spec, operation}: Call) => costOf(spec, operation);

/** Cost of a run's most expensive call. */
export function mostOf(spec: RunSpec): number {
  return Math.max(...operationsOf(spec).map(name => costOf(spec, name)));
}

/** Credits without the tails of binary fractions. */
export function credits(calls: readonly Call[]): number {
  return calls.reduce((sum, call) => sum + (call.charged ? Math.round(priceOf(call) * 1_000) : 0), 0) / 1_000;
}

export const isMore = (a: number, b: number) => a > b + 1e-6;

/** The runs that worked with the same ledger. */
export function runsOfLedger({run, runs}: Scene): readonly Ended[] {
  return runs.filter(({ledger}) => ledger !== undefined && ledger === run.ledger);
}

/** True if the program can't tell what this call cost. */
export function isDoubtful({told, code, spec}: Call): boolean {
  if (told === 'rejected') return spec.rejectedCharge === 'maybe';
  return told === undefined || told === 'ambiguous' || (told === 'fatal' && code.startsWith('http_'));
}

/** True if what a call came to is in the books: in the ledger, or counted in memory by the run itself that heard of it. */
export function isBooked({recorded, told, process}: Call, {run}: Scene): boolean {
  return told !== undefined && (recorded || process === run.process);
}

/** True for a run that says that the history lacks it. */
export function lacksHistory({warnings}: Ended): boolean {
  return warnings.some(sentence => sentence.includes('could not be added to the history'));
}

/** True if a run says that it begins anew, since no written row binds it to its input. */
export function isBegunAnew({warnings}: Ended): boolean {
  return warnings.some(sentence => sentence.includes('a new run begins'));
}

/** Clocks of several machines may differ by this. */
export const CLOCKS_APART_MS = 5 * 60_000;

/** So many refusals at the beginning end a run. */
const CANARY = 10;

/** True for a call whose value was refused, or answered in a way that can't be read: the same as nothing answered. */
export function isRefusal({told}: Call): boolean {
  return told === 'rejected' || told === 'unreadable';
}

/**
 * True for a run that was refused, so that the next one starts over; it may have been killed after it noted that. The
 * refusals of its earlier sessions count.
 */
export function mayLeaveToStartOver({process, ledger, nth, stop}: Ended, {runs}: Scene): boolean {
  if (stop === 'refused' || stop === 'credentials') return true;
  const sessions = runs.filter(one => one.ledger === ledger && one.nth <= nth);
  const calls = sessions.flatMap(({calls}) => calls).sort((a, b) => a.toldOrder - b.toldOrder);
  return process.killed && grouped(calls, ({operation}) => operation).some(areRefused);
}

/** True if so many calls in a row were refused that a run ends. */
function areRefused(calls: readonly Call[]): boolean {
  let streak = 0;
  return calls.some(call => {
    if (call.told === 'answered') streak = 0;
    if (isRefusal(call)) streak += 1;
    return streak >= CANARY;
  });
}

/** The calls in groups of one key each. */
export function grouped(calls: readonly Call[], keyOf: (call: Call) => string): Call[][] {
  const groups = new Map<string, Call[]>();
  for (const call of calls) {
    const key = keyOf(call);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [call]);
    else group.push(call);
  }
  return [...groups.values()];
}
