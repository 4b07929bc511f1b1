import fc from 'fast-check';
// Loaded by runs as they need it; loading takes real time, which there is none of in a simulation.
import '../../src/fleet/fleet.ts';
import '../../src/fleet/seal.ts';
import './world/fleet-packages.ts';
import {priceOf} from './checks/scene.ts';
import type {Sequence} from './model/commands.ts';
import type {Ended} from './model/ended.ts';
import {accountOf, endpointOf} from './model/places.ts';
import {sequence} from './model/sequences.ts';
import {Simulation} from './model/simulation.ts';
import {tried, violationOf, violationOfHealed} from './model/violations.ts';
import type {Call} from './world/service.ts';

/** A promise that was broken, and how it came to that. */
export class Violation extends Error {
  readonly history: readonly string[];

  constructor(message: string, {world, service}: Simulation) {
    super(message);
    this.history = [
      ...world.history,
      'What the service took (call, for whom, what, what was said of it):',
      ...service.calls.map(takenBy),
    ];
  }
}

/** A line of the service's own books. */
function takenBy(call: Call): string {
  const {number, process, spec, operation, value, charged, told, recorded} = call;
  const credits = charged ? `${priceOf(call)} credits` : 'nothing';
  const heard = `${told ?? 'no answer'}${recorded ? ', in the ledger' : ''}`;
  return `#${number} ${process.name} ${endpointOf(spec)} ${accountOf(spec)}: ${operation} ${value}, ${credits} (${heard})`;
}

/** Carries a sequence out, and holds everything against the promises after each command. */
export async function play({commands, ...world}: Sequence, seed: number): Promise<Simulation> {
  const simulation = new Simulation(seed, world);
  const check = (ended: readonly Ended[], more?: string) => {
    const violation = violationOf(simulation, ended) ?? more;
    if (violation !== undefined) throw new Violation(violation, simulation);
  };
  try {
    for (const command of commands) check(await simulation.execute(command));
    const healed = await simulation.heal();
    const last = healed.at(-1);
    if (last !== undefined) check(healed, violationOfHealed(last));
    return simulation;
  } catch (error) {
    if (error instanceof Violation) throw error;
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    throw new Violation(`Something broke: ${text}`, simulation);
  } finally {
    simulation.close();
  }
}

/** How often each promise was tried, and each step of a task taken, since this was loaded. */
export function reached(): Readonly<Record<string, number>> {
  const {methodsCalled = {}} = globalThis as {methodsCalled?: Record<string, number>};
  return {...Object.fromEntries(tried), ...methodsCalled};
}

/** The result of a seed: nothing, or the shortest sequence that breaks the same promise. */
export async function playSeed(seed: number): Promise<Failure | undefined> {
  const property = fc.asyncProperty(sequence, async generated => {
    await play(generated, seed);
  });
  const {failed, counterexample, errorInstance, numShrinks} = await fc.check(property, {
    seed,
    numRuns: 1,
    unbiased: true,
    endOnFailure: false,
  });
  if (!failed) return undefined;
  const history = errorInstance instanceof Violation ? errorInstance.history : [];
  const message = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
  return {seed, message, sequence: counterexample?.[0], history, shrinks: numShrinks};
}

/** The same without shrinking, which is enough to know whether there is something; with the number of its runs. */
export async function playOnce(seed: number): Promise<{readonly failure?: Failure; readonly runs: number}> {
  const [generated] = fc.sample(sequence, {seed, numRuns: 1, unbiased: true});
  if (generated === undefined) return {runs: 0};
  try {
    return {runs: (await play(generated, seed)).runs.length};
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    const {message, history} = error;
    return {failure: {seed, message, sequence: generated, history, shrinks: 0}, runs: 0};
  }
}

export interface Failure {
  readonly seed: number;
  readonly message: string;
  readonly sequence: Sequence | undefined;
  readonly history: readonly string[];
  readonly shrinks: number;
}

function limitsOf(sequence: Sequence | undefined): string[] {
  const {accountPerDay, accountPerMonth, accountRate} = sequence ?? {};
  const limits = {'a day': accountPerDay, 'a month': accountPerMonth, 'calls a second': accountRate};
  return Object.entries(limits).flatMap(([of, limit]) =>
    limit === undefined ? [] : [`the account has ${limit} ${of}`],
  );
}

/** A failure as a reader wants it: the promise, how to see it again, and what happened. */
export function described({seed, message, sequence, history, shrinks}: Failure): string {
  const inputs = (sequence?.inputs ?? []).map((rows, index) => `list${index}.csv: ${JSON.stringify(rows)}`);
  return [
    message,
    '',
    `Shrunk ${shrinks} times from seed ${seed}; alone: SIM_SEED=${seed} npx vitest run test/sim/seeds.test.ts`,
    ...inputs,
    ...limitsOf(sequence),
    'What happened (milliseconds, who, what):',
    ...history,
  ].join('\n');
}
