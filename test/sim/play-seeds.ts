import {expect} from 'vitest';
import {loadMachine} from './load-machine.ts';
import type {Failure} from './machine.ts';

/** A seed that is to be played alone, as a failure says. */
const ALONE = process.env.SIM_SEED;

/** Seeds that nobody has tried, beside those that are always the same. */
function freshSeeds(count: number): number[] {
  const first = Math.floor(Math.random() * 2 ** 31);
  return Array.from({length: count}, (_, index) => first + index);
}

/** Plays these seeds and a few fresh ones; the first that breaks a promise is shrunk and told. */
export async function expectNoViolation(first: number, count: number, fresh: number): Promise<void> {
  const {playSeed} = await loadMachine();
  const fixed = Array.from({length: count}, (_, index) => first + index);
  const seeds = ALONE === undefined ? [...fixed, ...freshSeeds(fresh)] : [Number(ALONE)];
  for (const seed of seeds) {
    const failure = await playSeed(seed);
    if (failure !== undefined) expect.fail(described(failure));
  }
}

function described({seed, message, sequence, history, shrinks}: Failure): string {
  const inputs = (sequence?.inputs ?? []).map((rows, index) => `list${index}.csv: ${JSON.stringify(rows)}`);
  return [
    message,
    '',
    `Shrunk ${shrinks} times from seed ${seed}; alone: SIM_SEED=${seed} npx vitest run test/sim/seeds-1`,
    ...inputs,
    'What happened (milliseconds, who, what):',
    ...history,
  ].join('\n');
}
