import {spawn} from 'node:child_process';
import {rmSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {expect} from 'vitest';
import {compile} from './compile.mjs';

/** A seed that is to be played alone, as a failure says. */
const ALONE = process.env.SIM_SEED;

const script = fileURLToPath(new URL('play.mjs', import.meta.url));

/**
 * Plays `count` seeds from each of `firsts` on, and `fresh` ones that were never played, each part in a process of its
 * own. The first that breaks a promise is shrunk and told.
 */
export async function expectNoViolation(
  firsts: readonly number[],
  count: number,
  fresh: number,
): Promise<void> {
  const untried = () => Math.floor(Math.random() * 2 ** 31);
  const parts = firsts.map(first => [`${first}+${count}`, `${untried()}+${fresh}`]);
  const said = await expectPlayed('seeds', 'shrink', ALONE === undefined ? parts : [[`${ALONE}+1`]]);
  if (ALONE === undefined) expectReached(said);
}

/** Plays all of these seeds, and says meanwhile how far it is and which break a promise. */
export async function expectNoViolationOf(first: number, count: number): Promise<void> {
  const said = await expectPlayed('soak', 'soak', [[`${first}+${count}`]], text =>
    process.stdout.write(text),
  );
  if (count >= ENOUGH) expectReached(said);
}

/** Fewer sequences may miss a rare promise by chance. */
const ENOUGH = 2_000;

async function expectPlayed(
  name: string,
  how: 'shrink' | 'soak',
  parts: readonly (readonly string[])[],
  heard: (text: string) => void = () => {},
): Promise<readonly string[]> {
  const {directory, file} = await compile(`${name}-${process.pid}`);
  try {
    const ends = await Promise.all(parts.map(part => played([file, how, ...part], heard)));
    for (const {code, said} of ends) if (code !== 0) expect.fail(said);
    return ends.map(({said}) => said);
  } finally {
    rmSync(directory, {recursive: true, force: true});
  }
}

/** Each promise was tried, and each step of a task taken: what never comes up would never be found broken. */
function expectReached(said: readonly string[]): void {
  const reached = said.map(text => {
    const last = JSON.parse(text.trim().split('\n').at(-1) ?? '');
    return (last as {readonly reached: Readonly<Record<string, number>>}).reached;
  });
  const names = Object.keys(Object.assign({}, ...reached));
  const never = names.filter(name => reached.every(counts => (counts[name] ?? 0) === 0));
  expect(never, 'aim a kind of night at these (sim/aimed/)').toEqual([]);
}

/** Runs in its own process, since it replaces parts of Node. */
function played(
  given: readonly string[],
  heard: (text: string) => void,
): Promise<{code: number | null; said: string}> {
  const child = spawn(process.execPath, [script, ...given]);
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', data => {
      said.push(String(data));
      heard(String(data));
    });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', code => resolve({code, said: said.join('')}));
  });
}
