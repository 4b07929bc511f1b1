import {spawn} from 'node:child_process';
import {rmSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {expect} from 'vitest';
import {compile} from './compile.mjs';

/** A seed that is to be played alone, as a failure says. */
const ALONE = process.env.SIM_SEED;

const script = fileURLToPath(new URL('play.mjs', import.meta.url));

/** Plays these seeds and a few fresh ones; the first that breaks a promise is shrunk and told. */
export async function expectNoViolation(first: number, count: number, fresh: number): Promise<void> {
  const untried = Math.floor(Math.random() * 2 ** 31);
  const parts = [`${first}+${count}`, `${untried}+${fresh}`];
  const said = await expectPlayed(`seeds-${first}`, 'shrink', ALONE === undefined ? parts : [`${ALONE}+1`]);
  if (ALONE === undefined) expectReached(said);
}

/** Plays all of these seeds, and says meanwhile how far it is and which break a promise. */
export async function expectNoViolationOf(first: number, count: number): Promise<void> {
  const said = await expectPlayed('soak', 'soak', [`${first}+${count}`], text => process.stdout.write(text));
  if (count >= ENOUGH) expectReached(said);
}

/** Fewer sequences may miss a rare promise by chance. */
const ENOUGH = 2_000;

async function expectPlayed(
  name: string,
  how: 'shrink' | 'soak',
  parts: readonly string[],
  heard: (text: string) => void = () => {},
): Promise<string> {
  const {directory, file} = await compile(`${name}-${process.pid}`);
  try {
    const {code, said} = await played([file, how, ...parts], heard);
    if (code !== 0) expect.fail(said);
    return said;
  } finally {
    rmSync(directory, {recursive: true, force: true});
  }
}

/** A part that nothing here reaches: a program whose requests wait while a list has all slots. */
const NOT_REACHED: readonly string[] = ['queue-executor #makeRoom'];

/** Each promise was tried, and each step of a task taken: what never comes up would never be found broken. */
function expectReached(said: string): void {
  const {reached} = JSON.parse(said.trim().split('\n').at(-1) ?? '') as {
    reached: Readonly<Record<string, number>>;
  };
  const never = Object.keys(reached).filter(name => reached[name] === 0 && !NOT_REACHED.includes(name));
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
