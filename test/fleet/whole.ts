import {expect} from 'vitest';
import {chooseChunkSize} from '../../src/fleet/protocol.ts';
import {type Books, booksOf, listOf} from '../support/crash.ts';
import {held} from '../support/main.ts';
import {until} from '../support/until.ts';
import {type FleetArena, type FleetArenaOptions, localOutput, openFleetArena} from './fleet-arena.ts';

/** Milliseconds until each answer, to leave time for a kill. */
export const LATENCY = 60;
/** Calls that a worker has in flight at most. */
const IN_FLIGHT = 16;
/** Values that such a worker has in hand at most: two chunks of its pace. */
export const IN_HAND = 2 * chooseChunkSize(IN_FLIGHT / LATENCY, 1);
/** Values that are out at most with two such workers. */
export const OUT = 2 * IN_HAND;
/** Calls that a held run has answered. */
const HELD_FROM = 150;
const NAMES = ['list.csv', 'out.csv', 'out.summary.json'];

/** So many rows and distinct values of each operation: in `npm test` what the held run needs, else twice that. */
const [ROWS, VALUES] = process.env.SOAK === undefined ? [400, 150] : [800, 300];

export async function openWithList(options: FleetArenaOptions = {}): Promise<FleetArena> {
  const arena = await openFleetArena({latencyMs: LATENCY, ...options});
  arena.sandbox.write('list.csv', listOf(ROWS, VALUES));
  return arena;
}

/** Waits until the service has been asked so often. */
export function calls(arena: FleetArena, count: number): Promise<void> {
  return until(() => arena.api.ledger.calls >= count);
}

/**
 * Starts a run. The service stops answering once this many workers have calls in flight, in the middle of the list: a
 * worker killed then always has work in hand.
 *
 * @returns the run, and a function that lets the service answer again
 */
export async function heldRun<Run>(arena: FleetArena, workers: number, start: () => Run) {
  const {gate, letGo} = held();
  arena.api.setScript(({call}) => (call > HELD_FROM ? gate : undefined));
  const run = start();
  await calls(arena, HELD_FROM + IN_FLIGHT * (workers - 1) + 1);
  const answerAgain = () => {
    arena.api.setScript(undefined);
    letGo();
  };
  return {run, letGo: answerAgain};
}

/** The output is a local run's, and at most so many values were asked for once more. */
export async function expectWhole(arena: FleetArena, extra: number): Promise<Books> {
  const {ledger} = arena.api;
  const {calls: made, credits} = ledger;
  const distinct = ledger.distinct();
  arena.api.setLatency(0);
  expect(arena.sandbox.read('out.csv')).toBe(await localOutput(arena));
  expect(arena.sandbox.files()).toEqual(NAMES);
  expect(made - distinct).toBeLessThanOrEqual(extra);
  const books = booksOf(arena.sandbox, 'out.summary.json');
  const {calls: sent} = arena.sandbox.summary('out.summary.json');
  expect([sent.total <= made, made <= sent.total + sent.unconfirmed]).toEqual([true, true]);
  expect(books.spent).toBeLessThanOrEqual(credits);
  expect(books.spent + books.maybe).toBeGreaterThanOrEqual(credits);
  return books;
}
