import {spawn} from 'node:child_process';
import {rmSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {expect} from 'vitest';
import {compile} from './compile.mjs';

/** A seed that is to be played alone, as a failure says. */
const ALONE = process.env.SIM_SEED;

const script = fileURLToPath(new URL('play.mjs', import.meta.url));

/** Plays `count` seeds from each of `firsts` on, each part in a process of its own. */
export async function expectNoViolation(firsts: readonly number[], count: number): Promise<void> {
  const parts = ALONE === undefined ? firsts.map(first => `${first}+${count}`) : [`${ALONE}+1`];
  const said = await Promise.all(parts.map(part => played('first', part)));
  if (ALONE === undefined) expectReached(said);
}

/** Plays all of these seeds, and says meanwhile how far it is and which break a promise. */
export async function expectNoViolationOf(first: number, count: number): Promise<void> {
  const said = await played('all', `${first}+${count}`, text => process.stdout.write(text));
  if (count >= ENOUGH) expectReached([said]);
}

/** Fewer sequences may miss a rare promise by chance. */
const ENOUGH = 2_000;

/** Each promise was tried: one that never comes up would never be found broken. */
function expectReached(said: readonly string[]): void {
  const reached = said.map(text => {
    const last = JSON.parse(text.trim().split('\n').at(-1) ?? '');
    return (last as {readonly reached: Readonly<Record<string, number>>}).reached;
  });
  const names = Object.keys(Object.assign({}, ...reached));
  expect(names.filter(name => reached.every(counts => (counts[name] ?? 0) === 0))).toEqual([]);
}

/**
 * Runs in its own process, since it replaces parts of Node, with this one's flags of V8: they take a sixth of its time
 * away. Fails with what it says if a promise is broken.
 */
async function played(
  how: 'first' | 'all',
  part: string,
  heard: (text: string) => void = () => {},
): Promise<string> {
  const {directory, file} = await compile(`${part}-${process.pid}`);
  const child = spawn(process.execPath, [...process.execArgv, script, file, how, part]);
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', data => {
      said.push(String(data));
      heard(String(data));
    });
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  rmSync(directory, {recursive: true, force: true});
  if (code !== 0) expect.fail(said.join(''));
  return said.join('');
}
