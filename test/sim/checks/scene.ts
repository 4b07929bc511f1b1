import {costOf} from '../model/places.ts';
import type {RunSpec} from '../model/sequences.ts';
import type {Ended, Simulation} from '../model/simulation.ts';
import type {Inode} from '../world/disk.ts';
import type {Call} from '../world/service.ts';

/** The material of a check: the session that just ended, and what the simulation knows. */
export interface Scene {
  readonly run: Ended;
  readonly simulation: Simulation;
  /** All calls until now, of all sessions. */
  readonly calls: readonly Call[];
  /** The sessions until now; this one and those beside it included. */
  readonly sessions: readonly Ended[];
}

/** The result of a check without material: the promise was not tried. */
export const UNTRIED = Symbol('untried');

/** One promise: its sentence, and what speaks against it; undefined if it was tried and is kept. */
export interface Check {
  readonly promise: string;
  readonly broken: (scene: Scene) => string | undefined | typeof UNTRIED;
}

const HOUR_MS = 3_600_000;
/** So long an unfinished run's own answers hold from its first start. */
export const WEEK_MS = 168 * HOUR_MS;

export function ageOf({maxAge}: RunSpec): number {
  return {'1h': HOUR_MS, '1d': 24 * HOUR_MS, '30d': 720 * HOUR_MS}[maxAge];
}

/** An answer expires between this share of its age and the whole. */
export const SURELY_FRESH = 0.8;

/** An answer of a later time than this after a session's is of a wrong clock, and its age unknown. */
export const CLOCK_SKEW_MS = 5 * 60_000;

/** A process sees what it was told within its turn. */
export const TURN_MS = 1_000;

export const show = ({number, operation, value, told}: Call) =>
  `#${number} (${operation} ${value}, ${told ?? 'no answer'})`;

/** Credits without the tails of binary fractions. */
export function charged(calls: readonly Call[]): number {
  const thousandths = (call: Call) =>
    call.charged ? Math.round(costOf(call.spec, call.operation) * 1_000) : 0;
  return calls.reduce((sum, call) => sum + thousandths(call), 0) / 1_000;
}

export const isMore = (a: number, b: number) => a > b + 1e-6;

/** The calls of one account that a ledger must know. */
export function callsOf(
  ledger: Inode | undefined,
  {account}: RunSpec,
  calls: readonly Call[],
): readonly Call[] {
  if (ledger === undefined) return [];
  return calls.filter(call => call.ledger === ledger && call.spec.account === account);
}

/**
 * True if the run surely has what this call came to: its process ended in good order, or sent another call later,
 * which it never does before it has written what it knows.
 */
export function isKnown(call: Call, calls: readonly Call[]): boolean {
  const {process, told, heardOrder, chunk} = call;
  if (told === undefined || process.refused === 'EIO') return false;
  // Redis keeps what workers were told.
  if (chunk !== undefined) return true;
  return !process.killed || calls.some(other => other.process === process && other.sentOrder > heardOrder);
}

/** Earlier calls for the same value of the same account. */
export function earlier(call: Call, calls: readonly Call[]): readonly Call[] {
  return calls.filter(
    one =>
      one.number < call.number &&
      one.operation === call.operation &&
      one.value === call.value &&
      one.spec.account === call.spec.account,
  );
}
