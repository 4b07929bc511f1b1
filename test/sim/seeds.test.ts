import {spawn} from 'node:child_process';
import {rmSync} from 'node:fs';
import {expect, test} from 'vitest';
import {compile, v8Flags} from './compile.ts';

/** From this seed on, a fleet makes the calls. */
const FLEETS = 1_000_000_000;
/** Fewer sequences may miss a rare promise by chance. */
const ENOUGH = 2_000;

/** SIM_SEED is to be played alone, as a failure says. 200,000 take an hour or two of one core. */
const {SOAK, SIM_SEED, SIM_FIRST = 10_001, SIM_SEQUENCES = 200_000} = process.env;
const isSoak = SOAK !== undefined;
const [FIRST, COUNT] = isSoak ? [Number(SIM_FIRST), Number(SIM_SEQUENCES)] : [1, 150];
const fleets = isSoak ? `${FLEETS + FIRST}+${Math.ceil(COUNT / 4)}` : `${FLEETS}+20`;
const all = [`${FIRST}+${COUNT}`, ...(FIRST < FLEETS ? [fleets] : [])];

test(`${COUNT} sequences of commands, and others with a fleet, break no promise`, {
  timeout: isSoak ? 12 * 3_600_000 : 600_000,
}, async () => {
  const said = await played(SIM_SEED === undefined ? all : [`${SIM_SEED}+1`]);
  if (SIM_SEED !== undefined || (isSoak && COUNT < ENOUGH)) return;
  // Each promise was tried: one that never comes up would never be found broken.
  const {reached} = JSON.parse(said.trim().split('\n').at(-1) ?? '');
  expect(Object.keys(reached).filter(name => reached[name] === 0)).toEqual([]);
});

/**
 * Plays parts, such as `1+150`: from which seed on, and how many. Runs in its own process, since it replaces parts of Node.
 * Fails with what it says if a promise is broken: the first one, or in the soak all, which it tells meanwhile.
 */
async function played(parts: readonly string[]): Promise<string> {
  const {directory, file} = await compile(`${parts[0]}-${process.pid}`);
  const child = spawn(process.execPath, [...v8Flags, file, isSoak ? 'all' : 'first', ...parts]);
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', data => {
      said += String(data);
      if (isSoak) process.stdout.write(data);
    });
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  rmSync(directory, {recursive: true, force: true});
  expect(code === 0 ? '' : said).toBe('');
  return said;
}
