import {setTimeout as sleep} from 'node:timers/promises';
import {expect} from 'vitest';
import {type Books, booksOf, listOf} from '../support/crash.ts';
import {type FleetArena, type FleetArenaOptions, localOutput, openFleetArena} from './fleet-arena.ts';

/** Values that a worker with 16 calls in flight has in hand at most: three chunks of eight. */
export const IN_HAND = 24;
/** Calls that such a worker has in flight at most. */
const IN_FLIGHT = 16;
/** Values that are out at most with two such workers. */
export const OUT = 64;
/** How long each answer takes, in milliseconds: time to kill somebody meanwhile. */
export const LATENCY = 60;
const NAMES = ['list.csv', 'out.csv', 'out.summary.json'];

/** So many rows and distinct values of each operation: in `npm test` what the held run needs, else twice that. */
const [ROWS, VALUES] = process.env.SOAK === undefined ? [400, 150] : [800, 300];

export async function openWithList(options: FleetArenaOptions = {}): Promise<FleetArena> {
  const arena = await openFleetArena({latency: LATENCY, ...options});
  arena.sandbox.write('list.csv', listOf(ROWS, VALUES));
  return arena;
}

/** Waits until the service has been asked so often. */
export async function calls(arena: FleetArena, count: number): Promise<void> {
  while ((await arena.api.ledger()).calls < count) await sleep(20);
}

/**
 * Starts a run, and has the service answer no more once so many workers have calls in flight, in the middle of the list:
 * however slow the machine is, who is killed then has something in hand.
 * @returns the run, and what lets the service go on
 */
export async function heldRun<Run>(arena: FleetArena, workers: number, start: () => Run) {
  await arena.api.set({hold: 150});
  const run = start();
  await calls(arena, 150 + IN_FLIGHT * (workers - 1) + 1);
  return {run, letGo: () => arena.api.set({hold: null})};
}

/** The output is a local run's, and at most so many values were asked for once more. */
export async function expectWhole(arena: FleetArena, extra: number): Promise<Books> {
  const {calls: made, distinct, credits} = await arena.api.ledger();
  await arena.api.set({latency: 0});
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
