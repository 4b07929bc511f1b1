import {text} from 'node:stream/consumers';
import {type Night, NightWorld, play} from './night.ts';

/** Twelve rows, two slots: a value is asked for again, others are refused, or get poor and empty answers; a row can't be read. */
const NIGHT: Night = {
  list: 'a b c e "h i f j k g g a',
  script: 'c: 500; e: 422 422 422; f: poor poor; j: poor poor; k: poor poor; g: empty empty empty',
  settings: {concurrency: 2},
};

/** The result of a list that is killed at one of its steps on disk and network, and run again. */
export interface Killed {
  readonly step: number;
  /** What is not as promised. */
  readonly faults: readonly string[];
}

/** Kills the list at each of its steps. The first result is that of a list that was not killed. */
async function killAtEachStep(): Promise<readonly Killed[]> {
  const whole = await killedAt(undefined, undefined);
  const results = [{step: 0, faults: whole.faults}];
  for (let step = 1; ; step++) {
    const {faults, isKilled} = await killedAt(step, whole.output);
    if (!isKilled) return results;
    results.push({step, faults});
  }
}

async function killedAt(step: number | undefined, expected: string | undefined) {
  const world = new NightWorld(NIGHT);
  try {
    const faults: string[] = [];
    const first = await world.play({}, step === undefined ? undefined : {how: 'kill', step, moment: 'after'});
    const isKilled = first.endsWith('killed');
    faults.push(...unpublished(world));
    const early = world.read('out.csv');
    const callsBefore = world.service.calls.length;
    const second = isKilled ? await world.play({}) : first;
    if (isKilled) faults.push(...unpublished(world));
    const output = world.read('out.csv');
    if (!second.endsWith(' | 3')) faults.push(`it ended so: ${second}`);
    if (expected !== undefined && output !== expected) faults.push(`the output is another: ${output}`);
    if (early !== undefined && early !== output) faults.push('the output was not whole');
    const again = paidAgain(world, callsBefore, early !== undefined);
    if (again.length > 2) faults.push(`paid again: ${again.join(' ')}`);
    return {output, faults, isKilled};
  } finally {
    world.close();
  }
}

/**
 * Values of the second session that the first was answered: at most those in flight. Once the output is in place, it is
 * another run, which asks anew for what is not kept.
 */
function paidAgain(
  {service: {calls}}: NightWorld,
  callsBefore: number,
  isPublished: boolean,
): readonly string[] {
  const counts = new Map<string, number>();
  for (const {value} of calls) counts.set(value, (counts.get(value) ?? 0) + 1);
  const allowed: Readonly<Record<string, number>> = {
    c: 2,
    ...(isPublished && {e: 2, f: 2, j: 2, k: 2, g: 2}),
  };
  const later = calls.slice(callsBefore).map(({value}) => value);
  return later.filter(value => (counts.get(value) ?? 0) > (allowed[value] ?? 1));
}

/** Whoever sees the output finds the summary and the rejects that belong to it. */
function unpublished(world: NightWorld): readonly string[] {
  const output = world.read('out.csv');
  if (output === undefined) return [];
  const summary = JSON.parse(world.read('out.summary.json') ?? '{}');
  const rejects = world.read('out.rejects.ndjson');
  return [
    ...(summary.output?.bytes === output.length ? [] : [`the summary has ${summary.output?.bytes} bytes`]),
    ...(rejects?.split('\n').length === 2 ? [] : [`the rejects are ${rejects}`]),
  ];
}

// What a killed process would still do fails, in promises that nobody waits for.
process.on('unhandledRejection', error => {
  if (!(error instanceof Error && error.name === 'Killed')) throw error;
});

// Plays the nights that come as JSON on stdin, and kills one at each of its steps.
const results: string[] = [];
for (const night of JSON.parse(await text(process.stdin)) as Night[])
  results.push(await play(night).catch(error => String(error.stack)));
console.log(JSON.stringify({results, killed: await killAtEachStep()}));
