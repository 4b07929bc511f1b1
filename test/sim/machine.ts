import fc from 'fast-check';
import {callChecks} from './checks/calls.ts';
import {endChecks, faultOfHealed} from './checks/ends.ts';
import {moneyChecks} from './checks/money.ts';
import {UNTRIED} from './checks/scene.ts';
import {costOf} from './model/places.ts';
import type {Sequence} from './model/sequences.ts';
import {fleetSequence, sequence} from './model/sequences.ts';
import {type Ended, Simulation} from './model/simulation.ts';
import type {Call} from './world/service.ts';

const checks = [...endChecks, ...moneyChecks, ...callChecks];

/** How often each promise was tried, by its sentence. */
const tried = new Map<string, number>(checks.map(({promise}) => [promise, 0]));

/** A promise that was broken, and how it came to that. */
class Violation extends Error {
  readonly history: readonly string[];

  constructor(message: string, {world, service}: Simulation) {
    super(message);
    this.history = [...world.history, 'The books of the service:', ...service.calls.map(inBooks)];
  }
}

function inBooks(call: Call): string {
  const {number, process, spec, operation, value, charged, told} = call;
  const credits = charged ? `${costOf(spec, operation)} credits` : 'free';
  return `#${number} ${process.name}, account ${spec.account}: ${operation} ${value}, ${credits} (${told ?? 'no answer'})`;
}

/** The first promise that a session broke, with what speaks against it. */
function violationOf(simulation: Simulation, run: Ended): string | undefined {
  const scene = {run, simulation, calls: simulation.service.calls, sessions: simulation.sessions};
  for (const {promise, broken} of checks) {
    const why = broken(scene);
    if (typeof why === 'string') return `${promise} Session ${run.nth}: ${why}`;
    if (why !== UNTRIED) tried.set(promise, (tried.get(promise) ?? 0) + 1);
  }
  return undefined;
}

/** Carries a sequence out, and holds everything against the promises after each command. */
async function play({commands, ...world}: Sequence, seed: number): Promise<Simulation> {
  const simulation = new Simulation(seed, world);
  const check = (ended: readonly Ended[]) => {
    for (const run of ended) {
      const violation = violationOf(simulation, run);
      if (violation !== undefined) throw new Violation(violation, simulation);
    }
  };
  try {
    for (const command of commands) check(await simulation.execute(command));
    const healed = await simulation.heal();
    check(healed);
    const fault = healed.map(faultOfHealed).find(why => why !== undefined);
    const promise = 'The same command ends once its troubles are over. It did not';
    if (fault !== undefined) throw new Violation(`${promise}: ${fault}`, simulation);
    return simulation;
  } catch (error) {
    if (error instanceof Violation) throw error;
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    throw new Violation(`Something broke: ${text}`, simulation);
  } finally {
    simulation.close();
  }
}

interface Failure {
  readonly seed: number;
  readonly message: string;
  readonly sequence: Sequence | undefined;
  readonly history: readonly string[];
}

/** From this seed on, a fleet makes the calls. */
const sequenceOf = (seed: number) => (seed < 1_000_000_000 ? sequence : fleetSequence);

/** Plays a seed once. Returns the number of sessions, or how it failed. */
async function playOnce(seed: number): Promise<Failure | number> {
  const [sequence] = fc.sample(sequenceOf(seed), {seed, numRuns: 1, unbiased: true});
  if (sequence === undefined) return 0;
  try {
    return (await play(sequence, seed)).sessions.length;
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    const {message, history} = error;
    return {seed, message, sequence, history};
  }
}

/** The shortest sequence that breaks a promise with this seed. */
async function shrunk(seed: number): Promise<Failure | undefined> {
  const property = fc.asyncProperty(sequenceOf(seed), async generated => {
    await play(generated, seed);
  });
  const options = {seed, numRuns: 1, unbiased: true, endOnFailure: false};
  const {failed, counterexample, errorInstance: error} = await fc.check(property, options);
  if (!failed) return undefined;
  const history = error instanceof Violation ? error.history : [];
  const message = error instanceof Error ? error.message : String(error);
  return {seed, message, sequence: counterexample?.[0], history};
}

/** A failure as a reader wants it: the promise, how to see it again, and what happened. */
function described({seed, message, sequence, history}: Failure): string {
  const lists = (sequence?.inputs ?? []).map((rows, index) => `list${index}.csv: ${JSON.stringify(rows)}`);
  return [
    message,
    '',
    `Shrunk from seed ${seed}; alone: SIM_SEED=${seed} npx vitest run test/sim/seeds.test.ts`,
    ...lists,
    ...(sequence?.accountPerDay === undefined ? [] : [`the account has ${sequence.accountPerDay} a day`]),
    'What happened (milliseconds, who, what):',
    ...history,
  ].join('\n');
}

const TELL_EVERY = 1_000;

function tell(what: object): void {
  console.log(JSON.stringify({...what, memoryMb: Math.round(process.memoryUsage().rss / 2 ** 20)}));
}

/** Plays parts, such as `1+150`: `first` until a seed breaks a promise, which is shrunk; `all`, and tells each that does. */
async function main(how: string, parts: readonly string[]): Promise<void> {
  const seeds = parts.flatMap(part => {
    const [first = 0, count = 0] = part.split('+').map(Number);
    return Array.from({length: count}, (_, index) => first + index);
  });
  const broken: number[] = [];
  let sessions = 0;
  for (const [index, seed] of seeds.entries()) {
    if (how === 'all' && index % TELL_EVERY === 0) tell({played: index, broken});
    const played = await playOnce(seed);
    if (typeof played === 'number') {
      sessions += played;
      continue;
    }
    broken.push(seed);
    if (how === 'first') {
      console.log(described((await shrunk(seed)) ?? played));
      process.exit(1);
    }
    tell({seed, message: played.message});
  }
  tell({played: seeds.length, sessions, broken, reached: Object.fromEntries(tried)});
  process.exitCode = broken.length === 0 ? 0 : 1;
}

// What a killed process would still do fails, in promises that nobody waits for.
process.on('unhandledRejection', error => {
  if (!(error instanceof Error && error.name === 'Killed')) throw error;
});
const [how = 'first', ...parts] = process.argv.slice(2);
await main(how, parts);
