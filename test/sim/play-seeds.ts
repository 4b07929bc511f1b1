import {spawn} from 'node:child_process';
import {rmSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {expect} from 'vitest';
import {compile, v8Flags} from './compile.mjs';

/** A seed that is to be played alone, as a failure says. */
const ALONE = process.env.SIM_SEED;

const script = fileURLToPath(new URL('play.mjs', import.meta.url));

/** From this seed on, a fleet makes the calls. */
export const FLEETS = 1_000_000_000;

/** Plays parts, such as `1+150`: from which seed on, and how many. */
export async function expectNoViolation(parts: readonly string[]): Promise<void> {
  const said = await played('first', ALONE === undefined ? parts : [`${ALONE}+1`]);
  if (ALONE === undefined) expectReached(said);
}

/** Plays all of these seeds, and says meanwhile how far it is and which break a promise. */
export async function expectNoViolationOf(parts: readonly string[], count: number): Promise<void> {
  const said = await played('all', parts, text => process.stdout.write(text));
  if (count >= ENOUGH) expectReached(said);
}

/** Fewer sequences may miss a rare promise by chance. */
const ENOUGH = 2_000;

/** Each promise was tried: one that never comes up would never be found broken. */
function expectReached(said: string): void {
  const last = JSON.parse(said.trim().split('\n').at(-1) ?? '');
  const {reached} = last as {readonly reached: Readonly<Record<string, number>>};
  expect(Object.keys(reached).filter(name => reached[name] === 0)).toEqual([]);
}

/** Runs in its own process, since it replaces parts of Node. Fails with what it says if a promise is broken. */
async function played(
  how: 'first' | 'all',
  parts: readonly string[],
  heard: (text: string) => void = () => {},
): Promise<string> {
  const {directory, file} = await compile(`${parts[0]}-${process.pid}`);
  const child = spawn(process.execPath, [...v8Flags, script, file, how, ...parts]);
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
  expect(code === 0 ? '' : said.join('')).toBe('');
  return said.join('');
}
